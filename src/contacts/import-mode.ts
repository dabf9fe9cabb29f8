/**
 * Whether customers/import works at a service. A refusal may be about importing as such, or about its own contact: what
 * becomes of the other contacts of the run tells. So a refused contact waits for the read-back, and every run asks again.
 */
import type { Kind, LongIds } from '../client/dialect.ts';
import { readLearnt } from '../engine/ledger/learnt.ts';
import type { Queryable, Run } from '../engine/ledger/runs.ts';
import type { Written } from '../worker/writes.ts';

type Refused = Extract<Written, { status: 'refused' }>;

export interface ImportMode {
  /** There is no import here: customers are created for the rest of this run. */
  isOff: boolean;
  /** A contact was imported, or settings say that importing works: a refusal is about its contact. */
  hasWorked: boolean;
  /** Contacts refused in the same words, while none was imported. */
  readonly refused: Map<string, Set<string>>;
  /** How the service's lists write long ids. */
  readonly longIds: (kind: Kind) => LongIds;
}

/** So many contacts refused in the same words before one is imported, and the rest of the run is created. */
const MANY = 10;

/** The reason of a row whose import was refused, until the read-back. */
export const IMPORT_REFUSED = 'IMPORT_REFUSED';

export function importMode(known: Omit<ImportMode, 'refused'>): ImportMode {
  return { ...known, refused: new Map() };
}

/** What a refused import means for its contact: create the customer, wait for the read-back, or it is the contact's own. */
export function afterRefusal(mode: ImportMode, contact: string, written: Refused): 'create' | 'wait' | 'own' {
  const { httpStatus, message } = written;
  if (IS_THERE.test(message)) mode.hasWorked = true;
  else if (httpStatus === 405 || httpStatus === 501) mode.isOff = true;
  if (mode.isOff) return 'create';
  if (mode.hasWorked || ![200, 400, 404, 415, 422].includes(httpStatus)) return 'own';
  const words = `${httpStatus} ${message}`; // words that name the contact are about the contact
  const contacts = mode.refused.get(words) ?? new Set();
  mode.refused.set(words, contacts.add(contact));
  mode.isOff = contacts.size >= MANY;
  return 'wait';
}

/** What services say of a record that is there. */
const IS_THERE = /\balready\b|\bduplicate|\bbeen taken\b/i;

/**
 * After the read-back, for contacts that wait and are not there: rejected where importing works for others, else their
 * customers are created.
 */
export async function settleRefusedImports(db: Queryable, run: Run): Promise<void> {
  const learnt = await readLearnt(db, run.scope);
  const workedBefore = learnt.get('import') === true && learnt.get('import-off') !== run.id;
  await db.query(
    `with works as (select $2 or exists (select from ledger.rows
       where run_id = $1 and action = 'import' and (state = 'acked' or verdict = 'created')) as is)
     update ledger.rows set state = case when works.is then 'settled' else 'ready' end,
       verdict = case when works.is then 'rejected' end,
       reason = case when works.is then 'REFUSED_BY_SERVICE' end,
       detail = case when works.is then detail end,
       action = case when works.is then action else 'create' end
     from works where run_id = $1 and state = 'unknown' and reason = $3`,
    [run.id, workedBefore, IMPORT_REFUSED],
  );
}
