/** What a run has written before it stops, for its message. */
import type { Queryable } from '../../storage/queryable.ts';
import { countSent } from '../ledger/sent-counts.ts';

/** `Nothing was written.`, or how many rows were sent and what is known of them. */
export async function sentSoFar(db: Queryable, runId: string): Promise<string> {
  const counts = await countSent(db, runId);
  if (counts.length === 0) return 'Nothing was written.';
  const rows = counts.reduce((sum, { count }) => sum + count, 0);
  const decided = counts.map(({ verdict, count }) => `${count} ${verdict === 'unknown' ? 'not confirmed' : verdict}`);
  return `Before that, the run has sent ${rows} ${rows === 1 ? 'row' : 'rows'}: ${decided.join(', ')}.`;
}
