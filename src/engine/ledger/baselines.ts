/** The records listed before the first write of a run, as hashes of their ids. Records that appear later are new. */
import type { Queryable } from '../../storage/queryable.ts';

/** 8 MB of hashes: below the limit of a statement. */
const WORDS_A_PART = 1 << 21;

/** Replaces an earlier one: a load that is opened again reads its baseline again. */
export async function keepBaseline(db: Queryable, runId: string, hashes: Uint32Array): Promise<void> {
  await db.query('delete from ledger.baselines where run_id = $1', [runId]);
  for (let part = 0; part === 0 || part * WORDS_A_PART < hashes.length; part++) {
    const words = hashes.subarray(part * WORDS_A_PART, (part + 1) * WORDS_A_PART);
    await db.query('insert into ledger.baselines (run_id, part, ids) values ($1, $2, $3)', [
      runId,
      part,
      Buffer.from(words.buffer, words.byteOffset, words.byteLength),
    ]);
  }
}

/** Undefined if the run stored none: then its records show which of them the baseline saw. */
export async function readBaseline(db: Queryable, runId: string): Promise<Uint32Array | undefined> {
  const kept = await db.query<{ ids: Buffer }>('select ids from ledger.baselines where run_id = $1 order by part', [
    runId,
  ]);
  if (kept.rowCount === 0) return undefined;
  const bytes = Buffer.concat(kept.rows.map(({ ids }) => ids));
  return new Uint32Array(new Uint8Array(bytes).buffer);
}
