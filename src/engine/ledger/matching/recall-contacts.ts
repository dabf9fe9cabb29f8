/**
 * Creates rows for unchanged contacts that the stored customers concern, from their links. With these rows the decision is
 * the same as with all contacts and all customers.
 */
import type { Queryable } from '../../../storage/queryable.ts';
import { prepareSetWork } from '../match-index.ts';
import { readPages } from '../read-cursor.ts';
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

/** SQL: the links of run `$1`'s scope `$2` that `join` finds. */
const linksWith = (join: string) => `select l.source_id as contact, l.record_id as customer
  from ledger.links l join ${join} where l.scope = $2 and l.kind = $3`;

const KEPT = `k.run_id = $1 and k.kind = 'customer'`;
const LINKED = linksWith(`ledger.records k on ${KEPT} and k.record_id = l.record_id`);
const NAMED = linksWith(`ledger.records k on ${KEPT} and k.contact_id = l.source_id`);

/** SQL: links whose contact, or customer, shares an e-mail, a phone, or name and organization with one of `others`: SQL, `k`. */
function linksAlike(others: string, member: 'contact' | 'known'): string {
  const alike = [['email'], ['phone'], ['name', 'org']].map((keys) => {
    const columns = keys.map((key) => `coalesce(k.${key}, '') as ${key}`).join(', ');
    const agree = keys.map((key) => `o.${key} = coalesce(l.${member}->>'${key}', '')`).join(' and ');
    return linksWith(`(select distinct ${columns} from ${others} and k.${keys[0]} is not null) o on ${agree}`);
  });
  return alike.join(' union all ');
}

const RIVALS = linksAlike(
  `ledger.inputs k where k.run_id = $1 and k.source_id in (select contact from concerned where step = 'lost')`,
  'known',
);
const FREE = `ledger.records k where ${KEPT} and (k.record_id in (select customer from concerned where step = 'freed')
  or not exists (select from ledger.links o where o.scope = $2 and o.kind = $3 and o.record_id = k.record_id))`;
const CONCERNED = `select distinct contact, customer from (${LINKED} union all ${NAMED}
  union all ${linksAlike(FREE, 'contact')}) each order by contact`;

/**
 * Why a link is in `concerned`: its customer is missing from the list; its customer resembles a contact of such a link; its
 * contact is gone, so its customer is free; or a stored customer concerns it otherwise.
 */
type Step = 'lost' | 'rival' | 'freed' | 'other';

/**
 * Run it before the contacts are decided, in the same transaction. Returns how many contacts still have no rows. Any number
 * of links may be concerned, so they are held in a temporary table.
 */
export async function recallContacts(db: Queryable, run: Run, sightings: Sightings): Promise<number> {
  if (sightings.unchanged === 0) return 0;
  await prepareSetWork(db, run.id, 'records');
  await db.query(
    'create temp table concerned (step text, contact text, customer text, is_listed boolean) on commit drop',
  );
  const isThere = ({ contact }: Link) => sightings.hasContact(contact);
  const isListed = ({ customer }: Link) => !sightings.isLost(customer);
  const note = async (step: Step, pages: AsyncIterable<readonly Link[]>, isMeant: (link: Link) => boolean) => {
    for await (const page of pages) {
      const links = page.filter(isMeant);
      if (links.length === 0) continue;
      await db.query('insert into concerned select $1, * from unnest($2::text[], $3::text[], $4::boolean[])', [
        step,
        links.map(({ contact }) => contact),
        links.map(({ customer }) => customer),
        links.map(isListed),
      ]);
    }
  };
  const links = (sql: string) => readPages<Link>(db, sql, [run.id, run.scope, CONTACT_LINK]);
  let rows = sightings.lastN;
  if (sightings.lost > 0) {
    await note('lost', lostLinks(db, run, sightings), () => true);
    rows += await recall(db, run, rows, 'lost');
    // Linked customers are no candidates for a contact whose customer is gone, but they compete with the candidates.
    await note('rival', links(RIVALS), (link) => isThere(link) && isListed(link));
    await keepLinked(db, run, 'rival');
  }
  await note('freed', links(LINKED), (link) => !isThere(link));
  await note('other', links(CONCERNED), isThere);
  await keepLinked(db, run, 'other');
  rows += await recall(db, run, rows, 'other');
  await db.query('drop table concerned');
  return sightings.unchanged - (rows - sightings.lastN);
}

/** Links of unchanged contacts whose customers the list does not show. */
export async function* lostLinks(
  db: Queryable,
  run: Run,
  { hasContact, isLost }: Sightings,
): AsyncGenerator<readonly Link[]> {
  for await (const links of linksInOrder(db, run))
    yield links.filter((link) => hasContact(link.contact) && isLost(link.customer));
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

/** Stores customers of the list with the keys of their links. */
async function keepLinked(db: Queryable, run: Run, step: Step): Promise<void> {
  await db.query(
    `insert into ledger.records (run_id, kind, record_id, contact_id, email, phone, name, org, fields, first_pass, last_pass)
     select $1, 'customer', record_id, known->>'contact', known->>'email', known->>'phone', known->>'name', known->>'org', '{}', 0, 0
     from ledger.links l where l.scope = $2 and l.kind = $3
       and l.record_id in (select customer from concerned where step = $4 and is_listed) on conflict do nothing`,
    [run.id, run.scope, CONTACT_LINK, step],
  );
}

/** Contacts that already have rows stay unchanged. Returns how many rows were added. */
async function recall(db: Queryable, run: Run, lastN: number, step: Step): Promise<number> {
  const recalled = await db.query(
    `insert into ledger.inputs (run_id, n, source_id, hash, label, email, phone, name, org)
     select $1, $5::bigint + row_number() over (order by l.source_id), l.source_id, l.hash, l.contact->>'label',
       l.contact->>'email', l.contact->>'phone', l.contact->>'name', l.contact->>'org'
     from ledger.links l where l.scope = $2 and l.kind = $3 and l.source_id in (select contact from concerned where step = $4)
       and l.contact is not null and not exists (select from ledger.inputs i where i.run_id = $1 and i.source_id = l.source_id)`,
    [run.id, run.scope, CONTACT_LINK, step, lastN],
  );
  return recalled.rowCount ?? 0;
}
