/**
 * A record counts as absent only if a read that does not show it started at least this long after the outcome of the call
 * became unknown. The service may take `settle` to commit (assumption A1 in docs/protocol.md), and a read may take as long
 * again to show the commit (A2).
 */
export function absenceAfterMs(settleMs: number): number {
  return 2 * settleMs;
}
