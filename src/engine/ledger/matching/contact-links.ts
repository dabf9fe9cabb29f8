/** Links between contacts and customers: what they store of both, and how the next run looks them up. */
import type { Queryable } from '../../../storage/queryable.ts';
import type { Run } from '../runs.ts';

/** The kind of link between a contact and the customer made from it. */
export const CONTACT_LINK = 'contact-customer';

const KEYS = ['email', 'phone', 'name', 'org'];
const object = (pairs: readonly string[]) => `jsonb_strip_nulls(jsonb_build_object(${pairs.join(', ')}))`;

/** SQL: the keys of customer `k`, as stored in its link. */
export const LINKED_CUSTOMER = (k: string): string =>
  object([...KEYS.map((key) => `'${key}', ${k}.${key}`), `'contact', ${k}.contact_id`]);

/** SQL: the keys of contact `s`, and the fields that it has, as stored in its link beside the hash. */
export const CONTACT = (s: string, has = `${s}.has`): string =>
  object([...['label', ...KEYS].map((key) => `'${key}', ${s}.${key}`), `'has', ${has}`]);

/** SQL: the names of the fields of input `i`; null for a contact that was recalled. */
export const FIELDS_OF = (i: string) => `(select jsonb_agg(key) from jsonb_object_keys(${i}.fields) key)`;

/** SQL: the names that loads may give the customer of contact `i` (missing-customers.ts). */
export const NAMES_OF_CONTACT = (i: string) =>
  `(values ('email ' || ${i}.email), ('phone ' || ${i}.phone), ('name ' || ${i}.name), ('name ' || ${i}.name || ', ' || ${i}.org))`;

export interface KnownCustomer {
  readonly email?: string;
  readonly phone?: string;
  readonly name?: string;
  readonly org?: string;
  /** The contact it was imported from, according to the service. */
  readonly contact?: string;
}

export interface ContactLink {
  readonly contact: string;
  readonly customer: string;
  /** Hash of the contact at the customer's last update; null: never compared. */
  readonly hash: string | null;
  /** Undefined if the link has to be checked again, such as a link of an earlier version. */
  readonly known: KnownCustomer | undefined;
}

export async function linksOf(
  db: Queryable,
  { scope }: Pick<Run, 'scope'>,
  contacts: readonly string[],
): Promise<readonly ContactLink[]> {
  const found = await db.query<{ contact: string; customer: string; hash: string | null; known: KnownCustomer | null }>(
    `select source_id as contact, record_id as customer, hash, case when contact is not null
       and linked_at >= coalesce((select rebound_at from ledger.scopes where id = $1), '-infinity') then known end as known
     from ledger.links where scope = $1 and kind = $2 and source_id = any($3)`,
    [scope, CONTACT_LINK, contacts],
  );
  return found.rows.map(({ known, ...link }) => ({ ...link, known: known ?? undefined }));
}

/**
 * Ends a contact sync: stores in the links the contacts whose customers were updated, and these customers as the read-back showed
 * them, because a service may show names and phones in a form of its own.
 */
export async function linkUpdated(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `update ledger.links l set hash = i.hash, run_id = $1, contact = ${CONTACT('i', FIELDS_OF('i'))},
       known = case when k.record_id is not null then ${LINKED_CUSTOMER('k')}
         else ${object(KEYS.map((key) => `'${key}', i.${key}`))} || ${object([`'contact', l.known->>'contact'`])} end
     from ledger.verdicts v join ledger.inputs i on i.run_id = v.run_id and i.n = v.n
       left join ledger.records k on k.run_id = $1 and k.kind = 'customer' and k.record_id = v.record_id and k.last_pass > 0
     where v.run_id = $1 and v.verdict = 'updated' and v.reason is null
       and l.scope = $2 and l.kind = $3 and l.source_id = i.source_id`,
    [run.id, run.scope, CONTACT_LINK],
  );
}
