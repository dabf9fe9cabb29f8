/**
 * Importing is tried with one contact first: a service may accept a body that it does not understand, and do nothing. The others
 * follow once the list of customers was read: they are created if it shows no customer for the first.
 */
import type { Queryable } from '../../../storage/queryable.ts';
import { addNote, type Run } from '../runs.ts';
import { keepLearnt, readLearnt } from '../scopes/learnt.ts';
import { isDistrusted, leaveFirst } from './first-created.ts';

/** What was learnt about importing: true once the service has accepted it. */
export const ACCEPTED = 'import';
/** True once a list has shown an imported customer. */
const SHOWN = 'import-shown';
/** The run that creates its customers instead, because importing is refused, or `WITHOUT_EFFECT` for all runs. */
const OFF = 'import-off';
const WITHOUT_EFFECT = 'without effect';

/** The reason of a refused import, until the read-back. */
export const IMPORT_REFUSED = 'IMPORT_REFUSED';

/** Leaves one contact to import, unless it is known what importing does here. */
export async function planTrial(db: Queryable, run: Run): Promise<void> {
  const learnt = await readLearnt(db, run.scope);
  if (learnt.get(SHOWN) === true || learnt.get(OFF) === WITHOUT_EFFECT) return;
  await leaveFirst(db, run);
}

/** The first contact was refused: that may be about the contact, so the others need not wait for it. */
export async function isTrialRefused(db: Queryable, run: Run): Promise<boolean> {
  if (await isDistrusted(db, run, 'customers')) return false;
  const { rows } = await db.query<{ isRefused: boolean }>(
    `select coalesce(bool_and(a.reason is not distinct from $2), false) as "isRefused" from ledger.last_attempts a where a.run_id = $1 and a.action <> 'update'`,
    [run.id, IMPORT_REFUSED],
  );
  return rows[0]?.isRefused === true;
}

/** Call it once everything is settled: what became of the customers that the run has imported. */
export async function learnImported(db: Queryable, run: Run): Promise<void> {
  await learnShown(db, run);
  const off = (await readLearnt(db, run.scope)).get(OFF);
  if (off === run.id && (await isIdle(db, run)) && !(await areCreatedMissing(db, run)))
    await keepLearnt(db, run.scope, OFF, WITHOUT_EFFECT);
}

/** A list has shown a customer that the run has imported. */
async function learnShown(db: Queryable, run: Run): Promise<void> {
  const learnt = await readLearnt(db, run.scope);
  if (learnt.get(ACCEPTED) !== true || learnt.get(SHOWN) === true) return;
  const { rowCount } = await db.query(
    `select from ledger.attempts a join ledger.verdicts v on v.run_id = a.run_id and v.n = a.n
     where a.run_id = $1 and a.action = 'import' and v.verdict = 'created' limit 1`,
    [run.id],
  );
  if (rowCount !== 0) await keepLearnt(db, run.scope, SHOWN, true);
}

/**
 * Importing is off for the rest of the run if the service accepted the first contact and nothing came of it. A list that is not
 * trusted may hide its customer.
 */
export async function stopIfIdle(db: Queryable, run: Run): Promise<void> {
  if ((await isDistrusted(db, run, 'customers')) || (await isImportOff(db, run)) || !(await isIdle(db, run))) return;
  await stopImporting(db, run);
  const note =
    'the service accepted the import of a contact and shows no customer for it, so customers are created from the contacts. If imports work after all, set importWith: import';
  await addNote(db, run.id, note);
}

/** The service has accepted each import of the run, and its list shows no customer for them. */
async function isIdle(db: Queryable, run: Run): Promise<boolean> {
  const { rows } = await db.query<{ isIdle: boolean | null }>(
    `select bool_and(a.outcome = 'acked' and v.reason is not distinct from 'NOT_IN_LIST') as "isIdle"
     from ledger.last_attempts a left join ledger.verdicts v on v.run_id = a.run_id and v.n = a.n
     where a.run_id = $1 and a.action = 'import'`,
    [run.id],
  );
  return rows[0]?.isIdle ?? false;
}

/** The list shows none of the customers that the run has created either: it is late, and says nothing about importing. */
async function areCreatedMissing(db: Queryable, run: Run): Promise<boolean> {
  const { rows } = await db.query<{ isAnyShown: boolean | null }>(
    `select bool_or(coalesce(v.verdict = 'created', false)) as "isAnyShown"
     from ledger.last_attempts a left join ledger.verdicts v on v.run_id = a.run_id and v.n = a.n
     where a.run_id = $1 and a.action = 'create' and a.outcome = 'acked'`,
    [run.id],
  );
  return rows[0]?.isAnyShown === false;
}

/** Customers are created instead: for the rest of this run, or for good. */
export async function isImportOff(db: Queryable, { id, scope }: Run): Promise<boolean> {
  return [id, WITHOUT_EFFECT].includes(String((await readLearnt(db, scope)).get(OFF)));
}

/** Importing is refused. That is remembered for one run only: the next run tries again. */
export async function stopImporting(db: Queryable, { id, scope }: Run): Promise<void> {
  await keepLearnt(db, scope, OFF, id);
}
