/** Rows whose order_id the file has twice: known only when all of it was read, and settled then, before anything is sent. */
import { type Repeat, repeatProblem } from '../csv/repeats.ts';
import type { Queryable, Run } from '../engine/ledger/runs.ts';
import { sentenceFor } from '../reasons/reasons.ts';

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
      problems.map(({ code, facts }) => sentenceFor(code, facts)),
    ],
  );
}

/** A row that the file has twice shares the fate of the one that was decided: what failed is not there under its copy either. */
export async function settleCopies(db: Queryable, runId: string): Promise<void> {
  await db.query(
    `update ledger.rows copy set verdict = coalesce(case when first.verdict in ('created', 'updated', 'unchanged') then 'existing'
         else first.verdict end, 'unknown'),
       detail = regexp_replace(copy.detail, ' That row was not loaded: .*$', '') || case
         when first.verdict in ('created', 'updated', 'unchanged', 'existing') then ''
         else format(' That row was not loaded: %s %s', first.reason, first.detail) end
     from ledger.rows first
     where copy.run_id = $1 and copy.reason = 'DUP_IN_FILE' and first.run_id = $1 and first.label = copy.label
       and first.reason is distinct from 'DUP_IN_FILE'`,
    [runId],
  );
}
