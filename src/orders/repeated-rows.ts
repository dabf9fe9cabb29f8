/** Rows whose order_id the file has twice: known only when all of it was read, and settled then, before anything is sent. */
import { type Repeat, repeatProblem } from '../csv/repeats.ts';
import type { Queryable, Run } from '../ledger/runs.ts';

const BATCH = 1_000;

/** Settles them; gives the first of those that differ, up to `shown`. */
export async function settleRepeats(
  db: Queryable,
  run: Run,
  repeats: AsyncIterable<Repeat>,
  shown: number,
): Promise<readonly Repeat[]> {
  const different: Repeat[] = [];
  let batch: Repeat[] = [];
  for await (const repeat of repeats) {
    if (!repeat.wasValid) continue; // it has problems of its own, and says so
    if (repeat.kind === 'different' && different.length < shown) different.push(repeat);
    batch.push(repeat);
    if (batch.length === BATCH) {
      await settle(db, run, batch);
      batch = [];
    }
  }
  if (batch.length > 0) await settle(db, run, batch);
  return different;
}

async function settle(db: Queryable, run: Run, repeats: readonly Repeat[]): Promise<void> {
  const problems = repeats.map(repeatProblem);
  await db.query(
    `update ledger.rows r set state = 'settled', verdict = t.verdict, reason = t.reason, detail = t.detail
     from unnest($2::text[], $3::text[], $4::text[], $5::text[]) as t(source_id, verdict, reason, detail)
     where r.run_id = $1 and r.source_id = t.source_id`,
    [
      run.id,
      repeats.map(({ line }) => String(line)),
      repeats.map(({ kind }) => (kind === 'same' ? 'existing' : 'invalid')),
      problems.map(({ code }) => code),
      problems.map(({ message }) => message),
    ],
  );
}
