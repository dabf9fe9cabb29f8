/**
 * Creates rows for unchanged contacts that the stored customers concern, from their links. With these rows the decision is
 * the same as with all contacts and all customers.
 */

import type { Queryable } from '../../../storage/queryable.ts';
import { prepareSetWork } from '../match-index.ts';
import type { Run } from '../runs.ts';
import { CONTACT_LINK } from './contact-links.ts';

/** What the scan of the contacts, and the later read of the customers, have seen. */
export interface Sightings {
  /** How many contacts have no rows. */
  readonly unchanged: number;
  /** The highest number of a row. */
  readonly lastN: number;
  /** How many contacts of the list are linked with a customer. */
  readonly linked: number;
  /** Whether the list has the contact, also if the filter leaves it out. */
  isInList(id: string): boolean;
  hasContact(id: string): boolean;
  /** How many customers of contacts without rows are missing from the list. */
  readonly lost: number;
  isLost(customer: string): boolean;
}

export interface Link {
  readonly contact: string;
  readonly customer: string;
}

const KEPT = `k.run_id = $1 and k.kind = 'customer'`;

/** Run it before the contacts are decided, in the same transaction. Returns how many contacts still have no rows. */
export async function recallContacts(db: Queryable, run: Run, sightings: Sightings): Promise<number> {
  if (sightings.unchanged === 0) return 0;
  await prepareSetWork(db, run.id, 'records');
  const isThere = ({ contact }: Link) => sightings.hasContact(contact);
  const isListed = ({ customer }: Link) => !sightings.isLost(customer);
  const lost = sightings.lost === 0 ? [] : await lostLinks(db, run, sightings);
  const recalled = await recall(db, run, sightings.lastN, lost);
  const rivals = lost.length === 0 ? [] : (await rivalsOf(db, run, lost)).filter(isThere);
  await keepLinked(db, run, rivals.filter(isListed));
  const linked = await linksWith(db, run, `ledger.records k on ${KEPT} and k.record_id = l.record_id`);
  const named = await linksWith(db, run, `ledger.records k on ${KEPT} and k.contact_id = l.source_id`);
  const freed = linked.filter((link) => !isThere(link)).map(({ customer }) => customer);
  const alike = await linksAlike(db, run, {
    others: `ledger.records k where ${KEPT} and (k.record_id = any($4) or not exists (
      select from ledger.links o where o.scope = $2 and o.kind = $3 and o.record_id = k.record_id))`,
    in: 'contact',
    values: [freed],
  });
  const concerned = [...linked, ...named, ...alike].filter(isThere);
  await keepLinked(db, run, concerned.filter(isListed));
  return sightings.unchanged - recalled - (await recall(db, run, sightings.lastN + recalled, concerned));
}

async function linksWith(
  db: Queryable,
  run: Run,
  join: string,
  values: readonly unknown[] = [],
): Promise<readonly Link[]> {
  const found = await db.query<Link>(
    `select l.source_id as contact, l.record_id as customer from ledger.links l join ${join}
     where l.scope = $2 and l.kind = $3`,
    [run.id, run.scope, CONTACT_LINK, ...values],
  );
  return found.rows;
}

/** Links whose contact, or customer, shares an e-mail, a phone, or name and organization with one of `others`: SQL, `k`. */
async function linksAlike(
  db: Queryable,
  run: Run,
  among: { readonly others: string; readonly in: 'contact' | 'known'; readonly values: readonly unknown[] },
): Promise<readonly Link[]> {
  const found: (readonly Link[])[] = [];
  for (const keys of [['email'], ['phone'], ['name', 'org']]) {
    const columns = keys.map((key) => `coalesce(k.${key}, '') as ${key}`).join(', ');
    const agree = keys.map((key) => `o.${key} = coalesce(l.${among.in}->>'${key}', '')`).join(' and ');
    const alike = `(select distinct ${columns} from ${among.others} and k.${keys[0]} is not null) o on ${agree}`;
    found.push(await linksWith(db, run, alike, among.values));
  }
  return found.flat();
}

/** Links of unchanged contacts whose customers the list does not show. */
export async function lostLinks(db: Queryable, run: Run, { hasContact, isLost }: Sightings): Promise<readonly Link[]> {
  const lost: Link[] = [];
  for await (const links of linksInOrder(db, run))
    lost.push(...links.filter((link) => hasContact(link.contact) && isLost(link.customer)));
  return lost;
}

/** All links of the scope, in batches. `isKnown`: the link knows its contact. */
export async function* linksInOrder(
  db: Queryable,
  run: Run,
): AsyncGenerator<readonly (Link & { readonly isKnown: boolean })[]> {
  const LOOK = 10_000;
  for (let after: string | undefined = ''; after !== undefined; ) {
    const found: { rows: (Link & { isKnown: boolean })[] } = await db.query(
      `select source_id as contact, record_id as customer, contact is not null as "isKnown" from ledger.links
       where scope = $1 and kind = $2 and source_id > $3 order by source_id limit ${LOOK}`,
      [run.scope, CONTACT_LINK, after],
    );
    yield found.rows;
    after = found.rows.length < LOOK ? undefined : found.rows.at(-1)?.contact;
  }
}

/**
 * Linked customers are not candidates for a contact whose customer is gone, but they compete with the candidates, so
 * they count.
 */
function rivalsOf(db: Queryable, run: Run, lost: readonly Link[]): Promise<readonly Link[]> {
  const others = 'ledger.inputs k where k.run_id = $1 and k.source_id = any($4)';
  return linksAlike(db, run, { others, in: 'known', values: [lost.map(({ contact }) => contact)] });
}

/** Stores customers of the list with the keys of their links. */
async function keepLinked(db: Queryable, run: Run, links: readonly Link[]): Promise<void> {
  if (links.length === 0) return;
  await db.query(
    `insert into ledger.records (run_id, kind, record_id, contact_id, email, phone, name, org, fields, first_pass, last_pass)
     select $1, 'customer', record_id, known->>'contact', known->>'email', known->>'phone', known->>'name', known->>'org', '{}', 0, 0
     from ledger.links l where l.scope = $2 and l.kind = $3 and l.record_id = any($4) on conflict do nothing`,
    [run.id, run.scope, CONTACT_LINK, links.map(({ customer }) => customer)],
  );
}

/** Contacts that already have rows stay unchanged. */
async function recall(db: Queryable, run: Run, lastN: number, links: readonly Link[]): Promise<number> {
  if (links.length === 0) return 0;
  const recalled = await db.query(
    `insert into ledger.inputs (run_id, n, source_id, hash, label, email, phone, name, org)
     select $1, $5::bigint + row_number() over (order by l.source_id), l.source_id, l.hash, l.contact->>'label',
       l.contact->>'email', l.contact->>'phone', l.contact->>'name', l.contact->>'org'
     from ledger.links l where l.scope = $2 and l.kind = $3 and l.source_id = any($4) and l.contact is not null
       and not exists (select from ledger.inputs i where i.run_id = $1 and i.source_id = l.source_id)`,
    [run.id, run.scope, CONTACT_LINK, links.map(({ contact }) => contact), lastN],
  );
  return recalled.rowCount ?? 0;
}
