/**
 * The first order of a scope is created alone, unless the list was empty, and so is the first customer where the ids of a
 * service do not tell whether its list hides records. The others follow once the list shows the new one, and still every witness.
 */
import { singular, type WholeKind } from '../../../contract/kinds.ts';
import type { Queryable } from '../../../storage/queryable.ts';
import { addNote, type Run } from '../runs.ts';
import { keepLearnt, readLearnt } from '../scopes/learnt.ts';
import { planRows, settleRows, unplanRows } from '../transitions.ts';

const SHOWS_CREATED = (kind: WholeKind) => `shows-created:${kind}`;

/** Runs of the scope begin with one record, until a list shows it. */
export async function distrustList(db: Queryable, scope: string, kind: WholeKind): Promise<void> {
  await keepLearnt(db, scope, SHOWS_CREATED(kind), false);
}

export async function isDistrusted(db: Queryable, { scope }: Run, kind: WholeKind): Promise<boolean> {
  return (await readLearnt(db, scope)).get(SHOWS_CREATED(kind)) === false;
}

/** SQL: records of run `$1` that are created next. */
const CREATIONS = `select p.n from ledger.plans p where p.run_id = $1 and p.action in ('create', 'import')
  and not exists (select from ledger.verdicts v where v.run_id = $1 and v.n = p.n)`;

/** Of the records to create, so many are looked at to find one to begin with. */
const LOOKED_AT = 1_000;

/**
 * Leaves only one record to create, unless the list is trusted. It is the first one whose label `isThere` does not know in the list,
 * because a list that shows records in a form of its own may have the others.
 */
export async function planFirst(
  db: Queryable,
  run: Run,
  kind: WholeKind,
  isThere?: (label: string) => boolean,
): Promise<void> {
  if (!(await isDistrusted(db, run, kind))) return;
  if (await leaveFirst(db, run, isThere))
    await addNote(db, run.id, `created one ${singular(kind)} first, to see whether the list of ${kind} shows it`);
}

/** Leaves only one record to create; the rows of the others become staged. False if there are no others. */
export async function leaveFirst(
  db: Queryable,
  run: Run,
  isThere: (label: string) => boolean = () => false,
): Promise<boolean> {
  const { rows } = await db.query<{ n: number; label: string | null }>(
    `select c.n, i.label from (${CREATIONS}) c left join ledger.inputs i on i.run_id = $1 and i.n = c.n order by c.n limit ${LOOKED_AT}`,
    [run.id],
  );
  const first = rows.find(({ label }) => !isThere(label ?? '')) ?? rows[0];
  if (first === undefined) return false;
  return (await unplanRows(db, run.id, { sql: `${CREATIONS} and p.n <> $2`, values: [first.n] })) > 0;
}

/** Whether the list may be used as proof, by what became of the records that the run has created. */
export async function judgeFirst(db: Queryable, run: Run, kind: WholeKind): Promise<boolean> {
  if (!(await isDistrusted(db, run, kind))) return true;
  const sent = await db.query<{ isListed: boolean | null; isTwice: boolean | null }>(
    `select bool_or(v.verdict = 'created' and v.reason is distinct from 'UNLISTED'
       or v.reason = 'CONTENT_DIFFERS' and not v.facts ? 'isUnlisted') as "isListed", bool_or(v.reason = 'DUPLICATE') as "isTwice"
     from ledger.plans p join ledger.verdicts v on v.run_id = p.run_id and v.n = p.n
       and v.verdict <> 'rejected' and v.reason is distinct from 'GAVE_UP'
     where p.run_id = $1 and p.action in ('create', 'import')
       and exists (select from ledger.attempts a where a.run_id = $1 and a.n = p.n)`,
    [run.id],
  );
  const isListed = sent.rows[0]?.isListed ?? undefined;
  if (isListed) await keepLearnt(db, run.scope, SHOWS_CREATED(kind), true);
  if (isListed === false) {
    const why = sent.rows[0]?.isTwice ? 'shows the first one more than once' : 'did not confirm the first one';
    await addNote(db, run.id, `no other ${singular(kind)} was created, because the list of ${kind} ${why}`);
  }
  return isListed !== false;
}

/** Plans a customer for every row that is staged. Returns how many. */
export function planStaged(db: Queryable, runId: string, action: 'create' | 'import'): Promise<number> {
  return planRows(db, runId, {
    sql: `select n, $2 as action, null::text as record_id, null::jsonb as fields, null::jsonb as was from ledger.inputs where run_id = $1`,
    values: [action],
  });
}

/**
 * Plans the customers that waited for the first one, or leaves them to a person if the list is no proof. True if there is
 * one to create. Call it in one transaction, when everything that was sent is settled.
 */
export async function planOthers(
  db: Queryable,
  run: Run,
  { action, isWhole }: { readonly action: 'create' | 'import'; readonly isWhole: boolean },
): Promise<boolean> {
  if (!(await judgeFirst(db, run, 'customers')) || !isWhole) {
    await settleRows(db, run.id, {
      sql: `select n, 'review' as verdict, 'LIST_PARTIAL' as reason, '{"what": "customer"}'::jsonb as facts, null::text as record_id
        from ledger.inputs where run_id = $1`,
    });
    return false;
  }
  const planned = await planStaged(db, run.id, action);
  await planFirst(db, run, 'customers');
  return planned > 0;
}
