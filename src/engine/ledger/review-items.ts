/** What waits for a person: rows in review, each from the newest run of its record. */
import type { Facts } from '../../base/reasons/reason.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { CONTACT_LINK } from './matching/contact-links.ts';
import { FILTER_OF, IN_FORCE, NAMED_CUSTOMERS } from './review-sql.ts';

/** What a decision is about. */
export interface Subject {
  readonly scope: string;
  readonly kind: 'contact' | 'order';
  /** The id of the contact; of an order, its run and row: `run-1/17`. */
  readonly subject: string;
}

/** Values by the name of the key: e-mail, phone, name, organization. */
export type Keys = Readonly<Record<string, string>>;

export interface ReviewItem extends Subject {
  readonly account: string;
  readonly sync: string;
  readonly run: string;
  readonly n: number;
  readonly reason: string;
  readonly facts: Facts | null;
  readonly label: string | null;
  /** Hash of the contact's content; null for an order. */
  readonly hash: string | null;
  readonly keys: Keys;
  /** The customers that it may belong to, by id; null: only the id is known. */
  readonly customers: Readonly<Record<string, Keys | null>>;
  /** Changes with the evidence. */
  readonly version: string;
  /** A person wants to decide it later. */
  readonly isLater: boolean;
}

export interface ReviewFilter {
  readonly account?: string | undefined;
  /** Name of the sync, or of the loaded file. */
  readonly sync?: string | undefined;
  readonly reason?: string | undefined;
  readonly kind?: Subject['kind'] | undefined;
  readonly subject?: string | undefined;
}

/** Where a list continues: after the item with these values. */
export type ReviewCursor = readonly [reason: string, account: string, run: string, n: number];

export function cursorOf({ reason, account, run, n }: ReviewItem): ReviewCursor {
  return [reason, account, run, n];
}

/** Items in the order of their reasons, accounts and rows. */
export interface ReviewPage {
  readonly items: readonly ReviewItem[];
  /** How many wait in all. */
  readonly total: number;
  /** The accounts whose contacts wait. */
  readonly accounts: number;
  /** How many wait in all, by reason. */
  readonly groups: Readonly<Record<string, number>>;
}

/** SQL: the keys of input `i` as people name them. */
const KEYS = `jsonb_strip_nulls(jsonb_build_object('email', i.email, 'phone', i.phone, 'name', i.name, 'org', i.org))`;
const IDS_ONLY = `(select jsonb_object_agg(c.id, null) from jsonb_array_elements_text(${NAMED_CUSTOMERS('v.facts')}) c (id))`;

/** SQL: review rows of the runs `u (id, scope, account, title)`, with their inputs `i`. */
const ITEMS = (kind: Subject['kind'], subject: string, runs: string, condition: string) => `
  select u.scope, '${kind}' as kind, ${subject} as subject, u.account, u.title as sync, u.id as run, v.n, v.reason, v.at
  from (${runs}) u join ledger.verdicts v on v.run_id = u.id and v.verdict = 'review'
    -- looked up for each item; otherwise Postgres may read all inputs
    cross join lateral (select * from ledger.inputs i where i.run_id = v.run_id and i.n = v.n offset 0) i
  where ${condition}`;

const RUNS = (job: string) =>
  `select r.id, r.sync, r.scope, r.account, coalesce(r.title, r.sync) as title, r.created_at, ${FILTER_OF('r')} as filter from ledger.runs r
   where r.job = '${job}' and r.status = 'done' and not r.dry_run`;

/**
 * SQL: the newest run of each contact sync, unless a newer run has read the same contacts, or all. `is_newest`: no other run of its scope
 * is newer.
 */
const CONTACT_RUNS = `with latest as (
    select distinct on (scope, sync) * from (${RUNS('contacts')}) r order by scope, sync, created_at desc, id desc)
  select *, row_number() over (partition by scope order by created_at desc, id desc) = 1 as is_newest from latest u
  where not exists (select from latest newer where newer.scope = u.scope and (newer.created_at, newer.id) > (u.created_at, u.id)
    and (newer.filter is null or newer.filter = u.filter))`;

/** SQL: a newer run of another sync has contact \`i\` of run \`u\` as a row, or has linked it. */
const IS_IN_NEWER_RUN = `(
    exists (select from (${CONTACT_RUNS}) newer join ledger.inputs j on j.run_id = newer.id and j.source_id = i.source_id
      where newer.scope = u.scope and (newer.created_at, newer.id) > (u.created_at, u.id))
    or exists (select from ledger.links l join ledger.runs newer on newer.id = l.run_id
      where l.scope = u.scope and l.kind = '${CONTACT_LINK}' and l.source_id = i.source_id
        and (newer.created_at, newer.id) > (u.created_at, u.id)))`;

/** A contact that several syncs have is an item of the newest run. */
const CONTACTS = ITEMS(
  'contact',
  'coalesce(i.source_id, i.n::text)',
  CONTACT_RUNS,
  `u.is_newest or not ${IS_IN_NEWER_RUN}`,
);

/** An order that a later load has too is an item of that load. */
const ORDERS = ITEMS(
  'order',
  `u.id || '/' || v.n`,
  RUNS('orders'),
  `not exists (select from (${RUNS('orders')}) later join ledger.inputs o on o.run_id = later.id and o.cells is not null
     where later.scope = u.scope and later.created_at > u.created_at and o.label = i.label
       and (o.client_id, o.email, o.phone, o.name) is not distinct from (i.client_id, i.email, i.phone, i.name))`,
);

/** All items that wait for a decision. */
export async function reviewItems(db: Queryable, filter: ReviewFilter = {}): Promise<readonly ReviewItem[]> {
  return (await reviewPage(db, filter)).items;
}

/** The first items that wait for a decision, at most `limit`, from the one that follows `after`. */
export async function reviewPage(
  db: Queryable,
  { account, sync, reason, kind, subject }: ReviewFilter,
  { limit, after = [] }: { readonly limit?: number; readonly after?: ReviewCursor | undefined | readonly [] } = {},
): Promise<ReviewPage> {
  const placed = [0, 1, 2, 3].map((i) => after[i] ?? null);
  const found = await db.query<ReviewItem & Omit<ReviewPage, 'items'>>(
    `with waiting as materialized (
       select t.* from (${CONTACTS} union all ${ORDERS}) t
       where ($1::text is null or t.account = $1) and ($2::text is null or t.sync = $2) and ($3::text is null or t.reason = $3)
         and ($4::text is null or t.kind = $4) and ($5::text is null or t.subject = $5)
         and not exists (select from ledger.decisions d
           where d.scope = t.scope and d.kind = t.kind and d.subject = t.subject and d.choice <> 'later'
             and d.undone_at is null and d.lapsed_at is null and (${IN_FORCE} or d.run_id = t.run and d.decided_at > t.at)
           offset 0) -- looked up for each item; otherwise Postgres may compare every item with every decision
     ), page as (
       select * from waiting where $7::text is null or (reason, account, run, n) > ($7, $8, $9, $10::bigint)
       order by reason, account, run, n limit $6
     ), shown as (
       select p.*, v.facts, i.label, i.hash, ${KEYS} as keys, coalesce(e.customers, ${IDS_ONLY}, '{}') as customers
       from page p join ledger.verdicts v on v.run_id = p.run and v.n = p.n
         join ledger.inputs i on i.run_id = p.run and i.n = p.n
         left join ledger.evidence e on e.run_id = p.run and e.n = p.n
     )
     select scope, kind, subject, account, sync, run, n::float8 as n, reason, facts, label, hash, keys, customers,
       left(md5(concat(reason, hash, customers)), 8) as version, exists (select from ledger.decisions d
         where d.scope = s.scope and d.kind = s.kind and d.subject = s.subject and d.choice = 'later' and ${IN_FORCE}) as "isLater",
       (select count(*)::int from waiting) as total,
       (select count(distinct account)::int from waiting where kind = 'contact') as accounts,
       (select json_object_agg(reason, count order by reason) from (select reason, count(*) from waiting group by reason) g) as groups
     from shown s order by reason, account, run, s.n`,
    [...[account, sync, reason, kind, subject, limit].map((one) => one ?? null), ...placed],
  );
  const { total = 0, accounts = 0, groups = {} } = found.rows[0] ?? {};
  const items = found.rows.map(({ total: _, accounts: __, groups: ___, ...item }) => item);
  return { items, total, accounts, groups };
}
