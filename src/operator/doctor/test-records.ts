/** The records that a writing examination creates. A person recognises them by name, the doctor by their marker. */
import { isKeyRefused } from '../../client/call/retry-policy.ts';
import type { Look } from './caller.ts';
import type { Examination } from './probe.ts';

const SECOND = 1_000;
/** Longer than a read-back should take, and short enough to wait for. */
export const LONGEST_LAG_MS = 20 * SECOND;
const SHORTEST_WAIT_MS = 2 * SECOND;
const LONGEST_PAUSE_MS = 2 * SECOND;

export function testName(marker: string): string {
  return `Lockstep Doctor (safe to delete) ${marker}`;
}

const SCREENS = { contacts: 'Contacts', customers: 'Sales, Customers', tasks: 'Tasks' } as const;

/** Notes a test record that remains or may remain. Call it again when more is known about the record. */
export function leave(exam: Examination, kind: keyof typeof SCREENS, id?: string): void {
  const where = `on the service’s web or mobile platform, under ${SCREENS[kind]}: look for ${exam.marker}`;
  exam.leave({ kind, name: testName(exam.marker), where, id });
}

/** Whether the record may exist: true unless the call was refused or never sent. */
export function mayHaveWritten({ outcome }: Look): boolean {
  return outcome.status === 'applied' || outcome.status === 'unknown';
}

export function stopIfKeyRefused(exam: Examination, { outcome }: Look): void {
  if (outcome.status === 'refused' && isKeyRefused(outcome)) exam.stop('the key is refused');
}

/** How long to wait until a read shows a write, given the known lag. */
export function patienceMs({ written }: Examination): number {
  return Math.max(SHORTEST_WAIT_MS, 3 * (written.lagMs ?? LONGEST_LAG_MS / 3));
}

/** Calls `find` with growing pauses until it returns a value or the time is over. `afterMs` counts from the first call. */
export async function lookFor<T>(
  { calls }: Examination,
  withinMs: number,
  find: () => Promise<T | undefined>,
): Promise<{ readonly found: T; readonly afterMs: number } | undefined> {
  const startedAt = performance.now();
  for (let pauseMs = 100; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    const found = await find();
    const afterMs = performance.now() - startedAt;
    if (found !== undefined) return { found, afterMs };
    if (afterMs + pauseMs > withinMs) return undefined;
    await calls.pause(pauseMs);
  }
}
