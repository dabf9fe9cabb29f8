/**
 * What waits for a person: rows in review, each from the newest run of its record. Rows are looked up in the order in which
 * they are shown, and no more of them than are shown or counted.
 */
import type { Facts } from '../../../base/reasons/reason.ts';
import type { CustomerFields } from '../../../contract/records.ts';
import { columnsOf } from '../../../storage/columns.ts';
import type { Queryable } from '../../../storage/queryable.ts';
import { CONTACT_LINK } from '../matching/contact-links.ts';
import { FILTER_OF, IN_FORCE, IS_IN_LATER_LOAD, IS_LOAD, NAMED_CUSTOMERS } from '../review-sql.ts';

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
  /** The values behind `keys`, as the source writes them: fields of a customer. */
  readonly written: CustomerFields | null;
  /** The same of the customers that the run has read; null: only the id is known. */
  readonly customersWritten: Readonly<Record<string, CustomerFields | null>>;
  /** Of these customers, those that belong to other contacts, or that a person has chosen for them. */
  readonly taken: readonly string[];
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
  /** Rows of the run of this one that have its reason and name the same customer. */
  readonly alike?: Pick<ReviewItem, 'run' | 'n' | 'reason'> | undefined;
}

/** Where a list continues: after the item with these values. */
export type ReviewCursor = readonly [reason: string, account: string, run: string, n: number];

export function cursorOf({ reason, account, run, n }: ReviewItem): ReviewCursor {
  return [reason, account, run, n];
}

/** Items in the order of their reasons, accounts and rows. */
export interface ReviewPage {
  readonly items: readonly ReviewItem[];
  /** How many wait. At most MOST_COUNTED of each reason are counted: then `isMore`. */
  readonly total: number;
  readonly groups: Readonly<Record<string, number>>;
  readonly isMore: boolean;
  /** The accounts that have contacts in review. */
  readonly accounts: number;
}

/** Each row that is counted is looked up, so that decided and repeated ones do not count: three reads from the disk if no page of it is in memory. */
export const MOST_COUNTED = 100;

interface Selection {
  /** Default: all. */
  readonly limit?: number;
  readonly after?: ReviewCursor | undefined;
}

/** The rows in review of one run with one reason. `held`: how many, with those that a person has decided. */
interface Group {
  readonly kind: Subject['kind'];
  readonly run: string;
  readonly account: string;
  readonly reason: string;
  readonly held: number;
  /** No other run of contacts is newer. */
  readonly isNewest: boolean;
  /** Its rows that follow the cursor have higher numbers; null: all are before it. */
  readonly above: number | null;
}

type Waiting = Pick<ReviewItem, 'scope' | 'kind' | 'subject' | 'account' | 'sync' | 'run' | 'n' | 'reason' | 'isLater'>;

/** SQL: the keys of input `i` as people name them. */
const KEYS = `jsonb_strip_nulls(jsonb_build_object('email', i.email, 'phone', i.phone, 'name', i.name, 'org', i.org))`;
const IDS_ONLY = `(select jsonb_object_agg(c.id, null) from jsonb_array_elements_text(${NAMED_CUSTOMERS('v.facts')}) c (id))`;

/** SQL: the customers that have a contact, of the scope of item `s`. */
const TAKEN = `select record_id as record, source_id as contact from ledger.links where scope = s.scope and kind = '${CONTACT_LINK}'
  union all select d.record_id, d.subject from ledger.decisions d
    where d.scope = s.scope and d.kind = 'contact' and d.choice = 'use' and ${IN_FORCE}`;

const RUNS = (job: string) =>
  `select r.id, r.sync, r.scope, r.account, coalesce(r.title, r.sync) as title, r.created_at, ${FILTER_OF('r')} as filter from ledger.runs r
   where r.job = '${job}' and r.status = 'done' and not r.dry_run`;

/**
 * SQL: `contact_runs`: the newest run of each contact sync, unless a newer run has read the same contacts, or all. `is_newest`: no
 * other run of its scope is newer.
 */
const WITH_CONTACT_RUNS = `with latest as (
    ${RUNS('contacts')} and r.id = any(array(select distinct on (scope, sync) id from ledger.runs
      where job = 'contacts' and status = 'done' and not dry_run order by scope, sync, created_at desc, id desc))
  ), contact_runs as materialized (
    select *, row_number() over (partition by scope order by created_at desc, id desc) = 1 as is_newest from latest u
    where not exists (select from latest newer where newer.scope = u.scope and (newer.created_at, newer.id) > (u.created_at, u.id)
      and (newer.filter is null or newer.filter = u.filter))
  )`;

/** SQL: a newer run of another sync has contact `i` of run `u` as a row, or has linked it. */
const IS_IN_NEWER_RUN = `(
    exists (select from contact_runs newer join ledger.inputs j on j.run_id = newer.id and j.source_id = i.source_id
      where newer.scope = u.scope and (newer.created_at, newer.id) > (u.created_at, u.id))
    or exists (select from ledger.links l join ledger.runs newer on newer.id = l.run_id
      where l.scope = u.scope and l.kind = '${CONTACT_LINK}' and l.source_id = i.source_id
        and (newer.created_at, newer.id) > (u.created_at, u.id)))`;

const SUBJECT = `case u.kind when 'contact' then coalesce(i.source_id, i.n::text) else u.id || '/' || i.n end`;

/** SQL: the numbers of the rows of run `u` that may be about this subject. */
const ROWS_OF = (subject: string) => {
  const number = `case when u.kind = 'contact' then ${subject} when starts_with(${subject}, u.id || '/') then substr(${subject}, length(u.id) + 2) end`;
  return `array(select s.n from ledger.inputs s where s.run_id = u.id and s.source_id = ${subject}
    union all select number::bigint from (select ${number} as number offset 0) f where number ~ '^[0-9]{1,18}$')`;
};

/** SQL: decision `d` is about row `i` of run `u`. */
const IS_ABOUT = `d.scope = u.scope and d.kind = u.kind and d.subject = ${SUBJECT}`;

/** SQL: a person has decided about row `v`. */
const IS_DECIDED = `exists (select from ledger.decisions d where ${IS_ABOUT} and d.choice <> 'later'
    and d.undone_at is null and d.lapsed_at is null and (${IN_FORCE} or d.run_id = u.id
      and d.decided_at > (select at from ledger.verdicts j where j.run_id = v.run_id and j.n = v.n))
    offset 0)`; // looked up for each row; otherwise Postgres may compare every row with every decision

/** SQL: a person wants to decide it later. */
const IS_LATER = `exists (select from ledger.decisions d where ${IS_ABOUT} and d.choice = 'later' and ${IN_FORCE})`;

/** SQL: input `i` names its customer as row `n` of its run does. */
const NAMES_CUSTOMER_OF = (n: string) => `(i.client_id, i.email, i.phone, i.name, i.org) is not distinct from (
    select (j.client_id, j.email, j.phone, j.name, j.org) from ledger.inputs j where j.run_id = u.id and j.n = ${n})`;

/** The items that wait for a decision, in their order. */
export async function reviewItems(
  db: Queryable,
  filter: ReviewFilter = {},
  selection: Selection = {},
): Promise<readonly ReviewItem[]> {
  const { limit = Number.POSITIVE_INFINITY } = selection;
  const waiting = await waitingIn(db, await groupsOf(db, filter, selection), filter, limit);
  return itemsOf(db, waiting.slice(0, limit));
}

/** The first items that wait for a decision, at most `limit`, from the one that follows `after`, and how many wait. */
export async function reviewPage(db: Queryable, filter: ReviewFilter, selection: Selection = {}): Promise<ReviewPage> {
  const { limit = Number.POSITIVE_INFINITY, after } = selection;
  const all = await groupsOf(db, filter, selection);
  const whole = all.map((group) => ({ ...group, above: -1 }));
  const first = await waitingIn(db, whole, filter, after ? MOST_COUNTED + 1 : Math.max(limit, MOST_COUNTED + 1));
  const waiting = after ? await waitingIn(db, all, filter, limit) : first;
  const counts = new Map<string, number>();
  for (const { reason } of first) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const groups = Object.fromEntries([...counts].map(([reason, n]) => [reason, Math.min(n, MOST_COUNTED)]));
  return {
    items: await itemsOf(db, waiting.slice(0, limit)),
    total: Object.values(groups).reduce((sum, n) => sum + n, 0),
    groups,
    isMore: [...counts.values()].some((n) => n > MOST_COUNTED),
    accounts: new Set(all.flatMap(({ kind, account }) => (kind === 'contact' ? [account] : []))).size,
  };
}

/** The only run that can have such items, if the filter tells. */
function runOf({ kind, subject, alike }: ReviewFilter): string | undefined {
  if (alike !== undefined || kind !== 'order') return alike?.run;
  return subject?.slice(0, Math.max(0, subject.lastIndexOf('/')));
}

async function groupsOf(db: Queryable, filter: ReviewFilter, { after }: Selection): Promise<readonly Group[]> {
  const { account, sync, alike, reason = alike?.reason, kind } = filter;
  const place = '(v.reason, u.account, u.id)';
  const found = await db.query<Group>(
    `${WITH_CONTACT_RUNS}
     select u.kind, u.id as run, u.account, v.reason, v.held, u.is_newest as "isNewest",
       case when $5::text is null or ${place} > ($5, $6, $7) then -1 when ${place} = ($5, $6, $7) then $8::float8 end as above
     from (select 'contact' as kind, id, account, title, is_newest from contact_runs
         union all select 'order', id, account, title, true from (${RUNS('orders')} and ${IS_LOAD('r.id')}) r) u
       -- Looked up for each run: Postgres knows too little of rare reasons to choose a join.
       cross join lateral (select v.reason, count(*)::int as held from ledger.verdicts v
         where v.run_id = u.id and v.verdict = 'review' and ($3::text is null or v.reason = $3) group by v.reason offset 0) v
     where ($1::text is null or u.account = $1) and ($2::text is null or u.title = $2) and ($4::text is null or u.kind = $4)
       and ($9::text is null or u.id = $9)
     order by v.reason, u.account, u.id`,
    [account, sync, reason, kind, ...(after ?? [null, null, null, null]), runOf(filter)],
  );
  return found.rows;
}

/** Later batches are larger: most rows of the earlier ones were decided. */
const GROWTH = 4;

/** The first rows of the groups that wait, at most `limit` of each reason: batch by batch of groups, until there are enough. */
async function waitingIn(
  db: Queryable,
  groups: readonly Group[],
  { subject, alike }: ReviewFilter,
  limit: number,
): Promise<readonly Waiting[]> {
  let left = groups.filter(({ above }) => above !== null);
  const found = new Map<string, Waiting[]>();
  for (let wanted = limit; left.length > 0; wanted *= GROWTH) {
    const held = new Map<string, number>();
    const [batch, later]: [Group[], Group[]] = [[], []];
    for (const group of left) {
      const before = held.get(group.reason) ?? 0;
      held.set(group.reason, before + group.held);
      (before < wanted ? batch : later).push(group);
    }
    const rows = await db.query<Waiting>(
      `${WITH_CONTACT_RUNS}
       select u.scope, u.kind, w.subject, u.account, u.sync, u.id as run, u.reason, w.n::float8 as n, w."isLater"
       from (select r.id, r.scope, r.account, coalesce(r.title, r.sync) as sync, r.created_at, g.*
           from unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::bool[]) with ordinality g (run, reason, above, kind, is_newest, place)
             join ledger.runs r on r.id = g.run) u
         cross join lateral (
           select v.n, ${SUBJECT} as subject, ${IS_LATER} as "isLater" from ledger.verdicts v
             cross join lateral (select * from ledger.inputs i where i.run_id = v.run_id and i.n = v.n
               and ($8::bigint is null or ${NAMES_CUSTOMER_OF('$8')}) offset 0) i
           where v.run_id = u.id and v.verdict = 'review' and v.reason = u.reason and v.n > u.above
             and ($7::text is null or v.n = any(${ROWS_OF('$7')}) and ${SUBJECT} = $7) and not ${IS_DECIDED}
             and case u.kind when 'contact' then u.is_newest or not ${IS_IN_NEWER_RUN} else not ${IS_IN_LATER_LOAD} end
           order by v.n limit $6) w
       order by u.place, w.n`,
      [
        ...columnsOf(batch, 'run', 'reason', 'above', 'kind', 'isNewest'),
        Number.isFinite(limit) ? limit : null,
        subject,
        alike?.n,
      ],
    );
    for (const row of rows.rows) {
      const ofReason = found.get(row.reason) ?? [];
      ofReason.push(row);
      found.set(row.reason, ofReason);
    }
    left = later.filter(({ reason }) => (found.get(reason)?.length ?? 0) < limit);
  }
  const reasons = new Set(groups.map(({ reason }) => reason));
  return [...reasons].flatMap((reason) => found.get(reason)?.slice(0, limit) ?? []);
}

async function itemsOf(db: Queryable, waiting: readonly Waiting[]): Promise<readonly ReviewItem[]> {
  if (waiting.length === 0) return [];
  const shown = await db.query<Omit<ReviewItem, keyof Waiting>>(
    `select facts, label, hash, keys, customers, written,
       "customersWritten", left(md5(concat(reason, hash, customers)), 8) as version,
       case when kind = 'contact' then array(select record from (${TAKEN}) t
         where t.contact <> s.subject and t.record = any(array(select jsonb_object_keys(s.customers)))) else '{}' end as taken
     from (select k.*, v.reason, v.facts, i.label, i.hash, ${KEYS} as keys, coalesce(i.customer, i.fields) as written, coalesce(e.written, '{}') as "customersWritten",
         coalesce(e.customers, ${IDS_ONLY}, '{}') as customers
       from unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[]) with ordinality k (run, n, scope, kind, subject, place)
         join ledger.verdicts v on v.run_id = k.run and v.n = k.n join ledger.inputs i on i.run_id = k.run and i.n = k.n
         left join ledger.evidence e on e.run_id = k.run and e.n = k.n) s
     order by place`,
    [...columnsOf(waiting, 'run', 'n', 'scope', 'kind', 'subject')],
  );
  return shown.rows.flatMap((item, at) => ({ ...item, ...waiting[at] }) as ReviewItem); // safe: one for each that waits
}
