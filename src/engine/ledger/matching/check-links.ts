/**
 * Checks links before anything is written over them: a linked customer must still be the same person, and so must the
 * contact. Ids do not prove that if the service is another tenant, was restored from a backup, or gives the ids of deleted
 * records again.
 */
import type { Queryable } from '../../../storage/queryable.ts';
import type { Run } from '../runs.ts';
import { CONTACT, CONTACT_LINK, LINKED_CUSTOMER } from './contact-links.ts';

const KEYS = ['email', 'phone', 'name'];
/** Links of earlier versions did not store their customer's keys: the contact's keys are the best evidence. */
const WAS = `coalesce(s.known, ${CONTACT('s')})`;
/** What the contact said when its customer was written. The service may show that in a form of its own. */
const CONTACT_WAS = `coalesce(s.was, ${WAS})`;
/** SQL: what contact `s` was when its customer was written, and what it is, as facts. */
export const CONTACT_CHANGE = `jsonb_build_object('was', ${WORDS(CONTACT_WAS)}, 'is', ${WORDS(CONTACT('s'))})`;
export const REBOUND_AT = '(select rebound_at from ledger.scopes where id = $2)';

/** The contact id of a customer does not count as evidence: ids are small integers at every service. */
const AGREES = (was: string, of: 's' | 'k') =>
  KEYS.map((key) => `coalesce(${was}->>'${key}' = ${of}.${key}, false)`).join(' or ');
const IS_SAME = `(num_nonnulls(${KEYS.map((key) => `${WAS}->>'${key}'`).join(', ')}) = 0 or ${AGREES(WAS, 'k')})`;
const COMPARABLE = (was: string, of: 's' | 'k') =>
  `(${KEYS.map((key) => `(${was}->>'${key}' is not null and ${of}.${key} is not null)::int`).join(' + ')})`;
/** A new mapping may change several keys of the same contact. */
export const IS_ANOTHER_CONTACT = `(not s.is_remapped and ${COMPARABLE(CONTACT_WAS, 's')} >= 2
  and not (${AGREES(CONTACT_WAS, 's')} or ${AGREES(WAS, 's')}))`;

/** A name or an e-mail alone may have been corrected at the service. */
const IS_ANOTHER_CUSTOMER = `(s.known is not null and not ${IS_SAME} and ${COMPARABLE(WAS, 'k')} >= 2)`;

const LINKED = `deciding s join ledger.records k on k.run_id = $1 and k.kind = 'customer' and k.record_id = s.record_id
  where s.is_linked`;

/** More than a fifth, and more than one of several: too many records to have changed, or to be gone, by chance. */
export function isMoreThanChance(count: number, all: number): boolean {
  return count * 5 > all && (count > 1 || count === all);
}

/** Many linked customers now are different people: it may be another tenant. */
export interface LinksDisagree {
  readonly status: 'links disagree';
  readonly others: number;
  /** Links whose customer could be compared. */
  readonly all: number;
  /** One of the customers, with its earlier and current keys. */
  readonly example: { readonly customer: string; readonly was: readonly string[]; readonly is: readonly string[] };
}

/**
 * If few links disagree, their contacts go to manual review. After the operator has confirmed that the tenant is the same,
 * links that disagree are dropped and their contacts are matched again. `unchanged`: contacts without rows, whose links
 * agree. Returns a value if many disagree; then nothing may be decided.
 */
export async function checkLinks(db: Queryable, run: Run, unchanged: number): Promise<LinksDisagree | undefined> {
  await dropStaleLinks(db, run);
  const counted = await db.query<{ all: number; others: number; example: LinksDisagree['example'] | null }>(
    `select count(*)::int as all, (count(*) filter (where not ${IS_SAME}))::int as others,
       (array_agg(jsonb_build_object('customer', k.record_id, 'was', ${WORDS(WAS)}, 'is', ${WORDS(LINKED_CUSTOMER('k'))})
         order by length(k.record_id), k.record_id) filter (where not ${IS_SAME}))[1] as example
     from ${LINKED} and s.known is not null`,
    [run.id],
  );
  const [{ all: compared, others, example } = { all: 0, others: 0, example: null }] = counted.rows;
  const all = compared + unchanged;
  if (example && isMoreThanChance(others, all)) return { status: 'links disagree', others, all, example };
  await db.query(
    `with stranger as (
       select s.n, not ${IS_SAME} as is_other, jsonb_build_object('customer', k.record_id) || case when ${IS_SAME}
           then ${CONTACT_CHANGE}
           else jsonb_build_object('was', ${WORDS(WAS)}, 'is', ${WORDS(LINKED_CUSTOMER('k'))}) end as facts
       from ${LINKED} and (s.action = 'update' and (not ${IS_SAME} or ${IS_ANOTHER_CONTACT})
         or s.verdict = 'unchanged' and ${IS_ANOTHER_CUSTOMER})
     )
     update deciding s set state = 'settled', action = null, verdict = 'review',
       reason = case when is_other then 'LINK_DISAGREES' else 'CONTACT_REPLACED' end, facts = stranger.facts
     from stranger where s.n = stranger.n`,
    [run.id],
  );
  return undefined;
}

/** Updates links with the current keys of their contacts and customers. */
export async function refreshLinks(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `update ledger.links l set known = fresh.known, linked_at = clock_timestamp(),
       contact = case when l.hash = fresh.hash then fresh.contact else l.contact end
     from (select s.source_id, s.hash, ${LINKED_CUSTOMER('k')} as known, ${CONTACT('s')} as contact from ${LINKED} and ${IS_SAME}) fresh
     where l.scope = $2 and l.kind = $3 and l.source_id = fresh.source_id and (l.known is distinct from fresh.known
       or (l.hash = fresh.hash and l.contact is distinct from fresh.contact) or l.linked_at < ${REBOUND_AT})`,
    [run.id, run.scope, CONTACT_LINK],
  );
}

/** SQL: the keys by which people recognise it. */
function WORDS(known: string): string {
  return `to_jsonb(array_remove(array[${known}->>'name', ${known}->>'email', ${known}->>'phone'], null))`;
}

/**
 * After the operator has confirmed that the tenant is the same: drops links whose customer is a different person now, or
 * is missing. Their contacts are staged again and matched by their keys.
 */
async function dropStaleLinks(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `update deciding s set state = 'staged', action = null, verdict = null, reason = null, record_id = null,
       is_linked = false, is_stale = true
     where s.is_linked and s.linked_at < ${REBOUND_AT} and not exists (select from ledger.records k
       where k.run_id = $1 and k.kind = 'customer' and k.record_id = s.record_id and ${IS_SAME})`,
    [run.id, run.scope],
  );
}
