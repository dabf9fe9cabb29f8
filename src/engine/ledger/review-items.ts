/** What waits for a person: rows in review, each from the newest run of its record. */
import type { Facts } from '../../base/reasons/reason.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { IN_FORCE, NAMED_CUSTOMERS } from './review-sql.ts';

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
}

/** SQL: the keys of input `i` as people name them. */
const KEYS = `jsonb_strip_nulls(jsonb_build_object('email', i.email, 'phone', i.phone, 'name', i.name, 'org', i.org))`;
const IDS_ONLY = `(select jsonb_object_agg(c.id, null) from jsonb_array_elements_text(${NAMED_CUSTOMERS('v.facts')}) c (id))`;

/** SQL: review rows of `newest (id, scope, account, title)`, with their inputs `i`. */
const ITEMS = (kind: Subject['kind'], subject: string, newest: string, condition = 'true') => `
  select u.scope, '${kind}' as kind, ${subject} as subject, u.account, u.title as sync, u.id as run, v.n::float8 as n,
    v.reason, v.facts, v.at, i.label, i.hash, ${KEYS} as keys, coalesce(e.customers, ${IDS_ONLY}, '{}') as customers
  from (${newest}) u join ledger.verdicts v on v.run_id = u.id and v.verdict = 'review'
    join ledger.inputs i on i.run_id = v.run_id and i.n = v.n
    left join ledger.evidence e on e.run_id = v.run_id and e.n = v.n
  where ${condition}`;

const RUNS = (job: string) =>
  `select r.id, r.scope, r.account, coalesce(r.title, r.sync) as title, r.created_at from ledger.runs r
   where r.job = '${job}' and r.status = 'done' and not r.dry_run`;

const CONTACTS = ITEMS(
  'contact',
  'coalesce(i.source_id, i.n::text)',
  `select distinct on (scope) * from (${RUNS('contacts')}) r order by scope, created_at desc, id desc`,
);

/** An order that a later load has too is an item of that load. */
const ORDERS = ITEMS(
  'order',
  `u.id || '/' || v.n`,
  RUNS('orders'),
  `not exists (select from (${RUNS('orders')}) later join ledger.inputs o on o.run_id = later.id
     where later.scope = u.scope and later.created_at > u.created_at and o.label = i.label
       and (o.client_id, o.email, o.phone, o.name) is not distinct from (i.client_id, i.email, i.phone, i.name))`,
);

/** The items that wait for a decision, in the order of their reasons, accounts and rows. */
export async function reviewItems(
  db: Queryable,
  { account, sync, reason }: ReviewFilter = {},
): Promise<readonly ReviewItem[]> {
  const found = await db.query<ReviewItem>(
    `select t.*, left(md5(concat(t.reason, t.hash, t.customers)), 8) as version, exists (select from ledger.decisions d
         where d.scope = t.scope and d.kind = t.kind and d.subject = t.subject and d.choice = 'later' and ${IN_FORCE}) as "isLater"
     from (${CONTACTS} union all ${ORDERS}) t
     where ($1::text is null or t.account = $1) and ($2::text is null or t.sync = $2) and ($3::text is null or t.reason = $3)
       and not exists (select from ledger.decisions d
         where d.scope = t.scope and d.kind = t.kind and d.subject = t.subject and d.choice <> 'later'
           and d.undone_at is null and d.lapsed_at is null and (${IN_FORCE} or d.run_id = t.run and d.decided_at > t.at))
     order by t.reason, t.account, t.run, t.n`,
    [account ?? null, sync ?? null, reason ?? null],
  );
  return found.rows;
}
