/**
 * Finds the customer of each row among those the run has read: by id, else by what names people, strongest first. Many
 * rows may name one customer; a row that may mean several is for a person. Set-based: each name is looked up once, however
 * many rows give it.
 */
import { type Level, levelsFor } from '../engine/ledger/matching/customer-levels.ts';
import { prepareSetWork } from '../engine/ledger/records.ts';
import type { Queryable, Run } from '../engine/ledger/runs.ts';

/** SQL: two rows `a` and `b` name a customer in the same words. */
const SAME_WORDS = (a: string, b: string) =>
  ['email', 'phone', 'name', 'org'].map((key) => `coalesce(${a}.${key}, '') = coalesce(${b}.${key}, '')`).join(' and ');

/** SQL: what an id looks like, in words. */
const ID_FORM = (id: string) => `case when ${id} ~ '^[0-9]+$' then 'numbers'
  when ${id} ~* '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$' then 'UUIDs' else 'words' end`;

/** A file seldom tells the organization: a name alone is enough where one customer has it. */
const BY_NAME: Level = {
  by: 'name',
  agrees: 's.name = k.name and (s.org is null or k.org is null) and s.email is null and s.phone is null',
};

/** Of several candidates, the one that agrees in all the row says is meant. */
const AGREES_IN_ALL = ['email', 'phone', 'name', 'org']
  .map((key) => `(s.${key} is null or s.${key} = k.${key})`)
  .join(' and ');

/**
 * Resolves all undecided rows; to be run in one transaction, safe to repeat. Rows whose customer is missing are rejected,
 * or left undecided where missing customers are to be created. Answers how many those are.
 */
export async function resolveCustomers(
  db: Queryable,
  run: Run,
  { keepMissing, isWhole }: { readonly keepMissing: boolean; readonly isWhole: boolean },
): Promise<number> {
  await prepareSetWork(db, run.id);
  await checkIds(db, run, isWhole);
  await collectReferences(db, run);
  for (const level of [...levelsFor(['email', 'phone']), BY_NAME]) await matchLevel(db, run, level);
  await keepFound(db, run);
  await db.query('drop table refs');
  if (!isWhole) await reviewTheUnproven(db, run);
  if (!keepMissing) await rejectMissing(db, run);
  const missing = await db.query<{ n: number }>(
    `select count(*)::int as n from ledger.rows where run_id = $1 and state = 'staged' and client_id is null`,
    [run.id],
  );
  return missing.rows[0]?.n ?? 0;
}

/** Ids are compared as text. A spreadsheet may have put zeros before a number, and nothing else has that form. */
async function checkIds(db: Queryable, run: Run, isWhole: boolean): Promise<void> {
  await db.query(
    `update ledger.rows s set client_id = k.record_id
     from ledger.records k
     where s.run_id = $1 and s.state = 'staged' and s.client_id ~ '^0+[1-9][0-9]*$'
       and k.run_id = $1 and k.record_id = ltrim(s.client_id, '0')
       and not exists (select 1 from ledger.records e where e.run_id = $1 and e.record_id = s.client_id)`,
    [run.id],
  );
  await db.query(
    `with known as (
       select mode() within group (order by form) as form
       from (select ${ID_FORM('record_id')} as form from ledger.records where run_id = $1 limit 1000) shown
     )
     update ledger.rows s set state = 'settled', verdict = case when $2 then 'rejected' else 'review' end,
       reason = case when $2 then 'CUSTOMER_UNKNOWN' else 'LIST_PARTIAL' end,
       detail = case when not $2 then format('customer %s is not in the list of customers, and the list does not show everything', s.client_id)
         else format('there is no customer %s', s.client_id) end || case when $2 and ${ID_FORM('s.client_id')} <> known.form
         then format(': the ids of this service are %s, so the file’s are those of another system; load it without them (--map client_id=)', known.form)
         else '' end
     from known where s.run_id = $1 and s.state = 'staged' and s.client_id is not null
       and not exists (select 1 from ledger.records k where k.run_id = $1 and k.record_id = s.client_id)`,
    [run.id, isWhole],
  );
  await db.query(
    `update ledger.rows s set state = 'settled', verdict = 'rejected', reason = 'CUSTOMER_CONTRADICTS',
       detail = format('customer %s has the e-mail %s, and the row says %s: if the ids are not those of this service, '
         'load the file without them (--map client_id=); if the e-mails do not matter, without those (--map customer_email= --map email=)',
         s.client_id, k.email, s.email)
     from ledger.records k
     where s.run_id = $1 and s.state = 'staged' and s.customer is null -- the id is the file's own
       and k.run_id = $1 and k.record_id = s.client_id and s.email <> k.email`,
    [run.id],
  );
  await db.query(
    `update ledger.rows s set state = 'settled', verdict = 'rejected', reason = 'CUSTOMER_UNKNOWN',
       detail = 'what it says of its customer recognises nobody: give an id, an e-mail, a phone of six digits or a name'
     where s.run_id = $1 and s.state = 'staged' and s.client_id is null and coalesce(s.email, s.phone, s.name) is null`,
    [run.id],
  );
}

async function collectReferences(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `create temp table refs on commit drop as
     select row_number() over () as id, email, phone, name, org, null::text as record_id, null::text as ambiguous
     from (select distinct email, phone, name, org from ledger.rows
           where run_id = $1 and state = 'staged' and client_id is null) named`,
    [run.id],
  );
  await db.query('analyze refs');
}

async function matchLevel(db: Queryable, run: Run, level: Level): Promise<void> {
  await db.query(
    `with pairs as (
       select s.id, k.record_id, ${AGREES_IN_ALL} as in_all
       from refs s join ledger.records k on k.run_id = $1 and ${level.agrees}
       where s.record_id is null and s.ambiguous is null
     ), judged as (
       select id, count(*) as n, count(*) filter (where in_all) as n_in_all, min(record_id) as one,
         min(record_id) filter (where in_all) as one_in_all,
         array_to_string((array_agg(record_id order by length(record_id), record_id))[1:10], ', ') as candidates
       from pairs group by id
     )
     update refs set record_id = case when n = 1 then one when n_in_all = 1 then one_in_all end,
       ambiguous = case when n > 1 and n_in_all <> 1 then format('by %s it could be customer %s', $2::text, candidates) end
     from judged where refs.id = judged.id`,
    [run.id, level.by],
  );
}

async function keepFound(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `update ledger.rows s set client_id = r.record_id,
       state = case when r.ambiguous is null then s.state else 'settled' end,
       verdict = case when r.ambiguous is not null then 'review' end,
       reason = case when r.ambiguous is not null then 'AMBIGUOUS_CUSTOMER' end,
       detail = r.ambiguous
     from refs r
     where s.run_id = $1 and s.state = 'staged' and s.client_id is null and ${SAME_WORDS('s', 'r')}
       and (r.record_id is not null or r.ambiguous is not null)`,
    [run.id],
  );
}

/** Their customers may be there all the same: made again, they would be there twice. */
async function reviewTheUnproven(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `update ledger.rows set state = 'settled', verdict = 'review', reason = 'LIST_PARTIAL',
       detail = 'its customer is not in the list of customers, and the list does not show everything: look for it by hand'
     where run_id = $1 and state = 'staged' and client_id is null`,
    [run.id],
  );
}

async function rejectMissing(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `update ledger.rows s set state = 'settled', verdict = 'rejected', reason = 'CUSTOMER_UNKNOWN',
       detail = format('there is no customer %s', coalesce(s.customer->>'email', s.customer->>'phone_number', s.customer->>'full_name'))
     where s.run_id = $1 and s.state = 'staged' and s.client_id is null`,
    [run.id],
  );
}
