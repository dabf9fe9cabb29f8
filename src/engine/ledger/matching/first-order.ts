/**
 * The first order of a load is created alone where the ids of a service do not tell whether its list of orders hides some. The
 * others follow once the list shows the new order, and still every witness.
 */
import type { Queryable } from '../../../storage/queryable.ts';
import { keepLearnt, readLearnt } from '../learnt.ts';
import { addNote, type Run } from '../runs.ts';
import { unplanRows } from '../transitions.ts';

const SHOWS_CREATED = 'shows-created:orders';

/** Loads of the scope begin with one order, until a list shows it. */
export async function distrustList(db: Queryable, scope: string): Promise<void> {
  await keepLearnt(db, scope, SHOWS_CREATED, false);
}

/** SQL: orders of run `$1` that are created next. */
const CREATIONS = `select p.n from ledger.plans p where p.run_id = $1 and p.action = 'create'
  and not exists (select from ledger.verdicts v where v.run_id = $1 and v.n = p.n)`;

/** Leaves only the first order to create, and returns its row; undefined if the list is trusted, or nothing is created. */
export async function planFirst(db: Queryable, { id, scope }: Run): Promise<number | undefined> {
  if ((await readLearnt(db, scope)).get(SHOWS_CREATED) !== false) return undefined;
  const first = await db.query<{ n: number | null }>(`select min(n)::float8 as n from (${CREATIONS}) c`, [id]);
  const n = first.rows[0]?.n ?? undefined;
  if (n === undefined) return undefined;
  await unplanRows(db, id, { sql: `select n from (${CREATIONS}) c where n > $2`, values: [n] });
  await addNote(db, id, 'created one order first, to see whether the list of orders shows it');
  return n;
}

/** Whether the list may still be used as proof, by what became of row `n`, which was created first. */
export async function judgeFirst(db: Queryable, { id, scope }: Run, n: number): Promise<boolean> {
  const found = await db.query<{ verdict: string; isListed: boolean }>(
    `select verdict, verdict = 'created' and reason is distinct from 'UNLISTED'
       or reason = 'CONTENT_DIFFERS' and not facts ? 'isUnlisted' as "isListed"
     from ledger.verdicts where run_id = $1 and n = $2`,
    [id, n],
  );
  const [first] = found.rows;
  if (first?.isListed) await keepLearnt(db, scope, SHOWS_CREATED, true);
  else if (first && first.verdict !== 'rejected')
    await addNote(db, id, 'no other order was created, because the list of orders did not confirm the first one');
  return first === undefined || first.isListed || first.verdict === 'rejected';
}
