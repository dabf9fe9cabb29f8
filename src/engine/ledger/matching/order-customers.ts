/**
 * Finds the customer of each row among those the run has read: by id, otherwise by personal keys, strongest first. Many
 * rows may name one customer; a row that matches several ends as `review`. Set-based: each name is looked up once for
 * all its rows.
 */
import type pg from 'pg';
import type { Queryable } from '../../../storage/queryable.ts';
import { prepareSetWork } from '../match-index.ts';
import { readCursor } from '../read-cursor.ts';
import type { Run } from '../runs.ts';
import { matchRows, settleRows } from '../transitions.ts';
import { LINKED_CUSTOMER } from './contact-links.ts';
import { KEYS_OF_ROW, type Level, levelsFor, type RivalKey } from './matching-keys.ts';
import { STAGED } from './staged-orders.ts';

/** SQL: two rows `a` and `b` name a customer with the same text. */
const SAME_WORDS = (a: string, b: string) =>
  ['email', 'phone', 'name', 'org'].map((key) => `coalesce(${a}.${key}, '') = coalesce(${b}.${key}, '')`).join(' and ');

/** SQL: the form of an id, as text. */
const ID_FORM = (id: string) => `case when ${id} ~ '^[0-9]+$' then 'numbers'
  when ${id} ~* '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$' then 'UUIDs' else 'words' end`;

/** SQL: the customers `k` that the run has read. */
const CUSTOMERS = `(select * from ledger.records where run_id = $1 and kind = 'customer') k`;

/** A file seldom has the organization: a name alone is enough if only one customer has it. */
const BY_NAME: Level = {
  by: `'name'`,
  agrees: 's.name = k.name and (s.org is null or k.org is null) and s.email is null and s.phone is null',
};

/** Of several candidates, the row means the one that agrees in all its keys. */
const AGREES_IN_ALL = ['email', 'phone', 'name', 'org']
  .map((key) => `(s.${key} is null or s.${key} = k.${key})`)
  .join(' and ');

/** `isWhole`: a customer missing from the list does not exist. `keepMissing`: missing customers will be created. */
export interface Resolving {
  readonly keepMissing: boolean;
  readonly isWhole: boolean;
}

/** The keys by which rows of a load name their customers. */
export interface CustomerNames {
  readonly id: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly name: string | null;
}

/** The keys of all undecided rows, each once; a customer that shares one of them may be meant. */
export function customerNames(pool: pg.Pool, run: Run): AsyncGenerator<CustomerNames> {
  return readCursor(pool, `select distinct client_id as id, email, phone, name from (${STAGED}) s`, [run.id]);
}

/**
 * Resolves all undecided rows; run it in one transaction; safe to repeat. Rows whose customer is missing are rejected, or
 * left undecided if missing customers will be created. Returns how many are left undecided.
 */
export async function resolveCustomers(db: Queryable, run: Run, resolving: Resolving): Promise<number> {
  await prepareSetWork(db, run.id);
  await checkIds(db, run, resolving.isWhole);
  await collectReferences(db, run);
  for (const level of [...levelsFor(['email', 'phone']), BY_NAME]) {
    await matchLevel(db, run, level);
    for (const rival of level.rivals ?? []) await unmatchDisagreeing(db, run, rival);
  }
  await keepFound(db, run, resolving);
  await db.query('drop table refs');
  const missing = await db.query<{ n: number }>(
    `select count(*)::int as n from (${STAGED}) s where client_id is null`,
    [run.id],
  );
  return missing.rows[0]?.n ?? 0;
}

/** Ids are compared as text. A spreadsheet may have added leading zeros to a number. */
async function checkIds(db: Queryable, run: Run, isWhole: boolean): Promise<void> {
  await matchRows(db, run.id, {
    sql: `select s.n, 'customer' as kind, k.record_id, 'id' as by
      from (${STAGED}) s join ${CUSTOMERS} on k.record_id = ltrim(s.client_id, '0')
      where s.client_id ~ '^0+[1-9][0-9]*$' and not exists (select from ledger.records e
        where e.run_id = $1 and e.kind = 'customer' and e.record_id = s.client_id)`,
  });
  await settleRows(db, run.id, {
    sql: `select s.n, f.fate as reason, case f.fate when 'LIST_PARTIAL' then 'review' else 'rejected' end as verdict,
        null::text as record_id, jsonb_strip_nulls(case f.fate
          when 'CUSTOMER_CONTRADICTS' then jsonb_build_object('customer', s.client_id, 'is', k.email, 'expected', s.email)
          when 'LIST_PARTIAL' then jsonb_build_object('what', 'customer', 'customer', s.client_id)
          else jsonb_build_object('customer', s.client_id, 'id', s.given_id,
            'idsAre', case when s.client_id is not null and ${ID_FORM('s.client_id')} <> known.form then known.form end) end) as facts
      from (select mode() within group (order by form) as form
          from (select ${ID_FORM('record_id')} as form from ${CUSTOMERS} limit 1000) shown) known
        cross join (${STAGED}) s left join ${CUSTOMERS} on k.record_id = s.client_id
        cross join lateral (select case
          when s.client_id is null then case when coalesce(s.email, s.phone, s.name) is null then 'CUSTOMER_UNKNOWN' end
          when k.record_id is null then case when $2 then 'CUSTOMER_UNKNOWN' else 'LIST_PARTIAL' end
          when s.given_id is not null and s.email <> k.email then 'CUSTOMER_CONTRADICTS' end as fate) f
      where f.fate is not null`,
    values: [isWhole],
  });
}

async function collectReferences(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `create temp table refs on commit drop as
     select row_number() over () as id, email, phone, name, org,
       null::text as record_id, null::text as by, null::text[] as candidates
     from (select distinct email, phone, name, org from (${STAGED}) s where client_id is null) named`,
    [run.id],
  );
  await db.query('analyze refs');
}

async function matchLevel(db: Queryable, run: Run, level: Level): Promise<void> {
  await db.query(
    `with pairs as (
       select s.id, k.record_id, ${AGREES_IN_ALL} as in_all from refs s join ${CUSTOMERS} on ${level.agrees} where s.by is null
     ), judged as (
       select id, count(*) as n, count(*) filter (where in_all) as n_in_all, min(record_id) as one,
         min(record_id) filter (where in_all) as one_in_all,
         (array_agg(record_id order by length(record_id), record_id))[1:10] as candidates
       from pairs group by id
     )
     update refs s set by = case when n > 1 and n_in_all = 1 then ${KEYS_OF_ROW} else ${level.by} end,
       record_id = case when n = 1 then one when n_in_all = 1 then one_in_all end, candidates = judged.candidates
     from judged where s.id = judged.id`,
    [run.id],
  );
}

/** Undoes a match by a stronger key if the key of this level names other customers and not the matched one. */
async function unmatchDisagreeing(db: Queryable, run: Run, { key, by, names }: RivalKey): Promise<void> {
  await db.query(
    `update refs s set by = s.by || ' and ' || ${by}, record_id = null, candidates = disagreeing.matched || disagreeing.others
     from (select s.id, s.record_id as matched, (array_agg(k.record_id order by length(k.record_id), k.record_id))[1:9] as others
       from refs s join ${CUSTOMERS} on ${names}
         join ledger.records a on a.run_id = $1 and a.kind = 'customer' and a.record_id = s.record_id
       where a.${key} is distinct from s.${key} group by s.id, s.record_id) disagreeing
     where s.id = disagreeing.id`,
    [run.id],
  );
}

/** A customer missing from an incomplete list may exist: creating it could create a duplicate. */
async function keepFound(db: Queryable, run: Run, { keepMissing, isWhole }: Resolving): Promise<void> {
  await settleRows(db, run.id, {
    sql: `select s.n, f.fate as reason, case f.fate when 'CUSTOMER_UNKNOWN' then 'rejected' else 'review' end as verdict,
        null::text as record_id, case f.fate
          when 'AMBIGUOUS_CUSTOMER' then jsonb_build_object('by', r.by, 'customers', r.candidates)
          when 'LIST_PARTIAL' then jsonb_build_object('what', 'customer')
          else jsonb_build_object('customer',
            coalesce(s.customer->>'email', s.customer->>'phone_number', s.customer->>'full_name')) end as facts
      from (${STAGED}) s join refs r on ${SAME_WORDS('s', 'r')}
        cross join lateral (select case when r.by is not null then 'AMBIGUOUS_CUSTOMER' when not $2 then 'LIST_PARTIAL'
          when not $3 then 'CUSTOMER_UNKNOWN' end as fate) f
      where s.client_id is null and r.record_id is null and f.fate is not null`,
    values: [isWhole, keepMissing],
  });
  await keepEvidence(db, run);
  await matchRows(db, run.id, {
    sql: `select s.n, 'customer' as kind, r.record_id, r.by from (${STAGED}) s join refs r on ${SAME_WORDS('s', 'r')}
      where s.client_id is null and r.record_id is not null`,
  });
}

/** The customers that each row may mean, with their keys: what a person is shown. */
async function keepEvidence(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `insert into ledger.evidence (run_id, n, customers, written)
     with named as materialized (
       select n, jsonb_array_elements_text(facts->'customers') as id from ledger.verdicts
       where run_id = $1 and reason = 'AMBIGUOUS_CUSTOMER'
     )
     select $1, c.n, jsonb_object_agg(c.id, ${LINKED_CUSTOMER('k')} - 'contact'), jsonb_object_agg(c.id, k.fields)
     from named c join ${CUSTOMERS} on k.record_id = c.id group by c.n
     on conflict (run_id, n) do update set customers = excluded.customers, written = excluded.written`,
    [run.id],
  );
}
