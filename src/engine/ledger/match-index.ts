/**
 * The match index: the service's records as the reads of one run saw them. The data is temporary: a crash of the database
 * empties it together with the marks of the reads, so a transaction that relies on a read checks that its mark still
 * exists.
 */
import { columnsOf } from '../../storage/columns.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { runUnknown } from './runs.ts';

export type RecordKind = 'customer' | 'order';

/** A customer of a list; orders are in matching/order-records.ts. */
export interface SeenCustomer {
  readonly recordId: string;
  /** The contact it was imported from, if the service shows it. */
  readonly contactId: string | undefined;
  readonly email: string | undefined;
  readonly phone: string | undefined;
  readonly name: string | undefined;
  readonly org: string | undefined;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A read of a list: pass 0 is the baseline before the first write. */
export interface Reading {
  readonly kind: RecordKind;
  readonly pass: number;
}

/** Marks the start of a read, or of its repetition. A baseline deletes the records of an earlier one. */
export async function beginRead(db: Queryable, runId: string, { kind, pass }: Reading): Promise<void> {
  await db.query(
    `with forgotten as (delete from ledger.records where run_id = $1 and kind = $2 and $3 = 0)
     insert into ledger.reads (run_id, kind, pass, begun_at) values ($1, $2, $3, clock_timestamp())
     on conflict (run_id, kind, pass) do update set begun_at = excluded.begun_at`,
    [runId, kind, pass],
  );
}

/**
 * When a read began, on the database's clock; until the transaction ends, that time and those it is compared with do not
 * move. Undefined if its records no longer exist: the list has to be read again.
 */
export async function startOfRead(db: Queryable, runId: string, { kind, pass }: Reading): Promise<Date | undefined> {
  const found = await db.query<{ at: Date }>(
    'select begun_at as at from ledger.reads where run_id = $1 and kind = $2 and pass = $3 for share',
    [runId, kind, pass],
  );
  return found.rows[0]?.at;
}

/**
 * Stores the customers of pass `pass`; one that was seen before keeps its first pass. `isListed`: false for customers that were
 * read by their ids. Safe to repeat.
 */
export async function keepCustomers(
  db: Queryable,
  runId: string,
  pass: number,
  customers: readonly SeenCustomer[],
  { firstPass = pass, isListed = true }: { readonly firstPass?: number; readonly isListed?: boolean } = {},
): Promise<void> {
  if (customers.length === 0) return;
  const distinct = [...new Map(customers.map((customer) => [customer.recordId, customer])).values()];
  await db.query(
    `insert into ledger.records (run_id, kind, record_id, contact_id, email, phone, name, org, fields, first_pass, last_pass, is_listed)
     select $1, 'customer', t.*, $10, $2, $11
     from unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::jsonb[]) as t
     on conflict (run_id, kind, record_id) do update set last_pass = excluded.last_pass, contact_id = excluded.contact_id,
       is_listed = excluded.is_listed, email = excluded.email, phone = excluded.phone, name = excluded.name, org = excluded.org, fields = excluded.fields`,
    [
      runId,
      pass,
      ...columnsOf(distinct, 'recordId', 'contactId', 'email', 'phone', 'name', 'org', 'fields'),
      firstPass,
      isListed,
    ],
  );
}

/** Those of `ids` that a read has shown. */
export async function shownInPass(
  db: Queryable,
  runId: string,
  { kind, pass }: Reading,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = await db.query<{ id: string }>(
    `select record_id as id from ledger.records where run_id = $1 and kind = $2 and last_pass = $3 and is_listed
       and record_id = any($4)`,
    [runId, kind, pass, ids],
  );
  return new Set(found.rows.map(({ id }) => id));
}

/** Numbers the next read-back of a run, from 1 on; 0 is the baseline before the first write. */
export async function nextPass(db: Queryable, runId: string): Promise<number> {
  const counted = await db.query<{ pass: number }>(
    'update ledger.runs set read_backs = read_backs + 1 where id = $1 returning read_backs as pass',
    [runId],
  );
  const pass = counted.rows[0]?.pass;
  if (pass === undefined) throw runUnknown(runId);
  return pass;
}

/**
 * Prepares a transaction for set-based work over a run's rows and records. The planner has no statistics of data written
 * moments ago, and a nested loop over it takes minutes instead of the second of a hash join. `fresh`: which data was just
 * written. A small run is fast with any plan, so it skips the analysis of all rows.
 */
export async function prepareSetWork(
  db: Queryable,
  runId: string,
  fresh: 'records' | 'rows and records' = 'rows and records',
): Promise<void> {
  // With the default of 4 MB, sorts and hash tables of a few ten thousand rows go through files. An analysis samples 3,000 rows
  // instead of 30,000, which is enough for these plans.
  const many = await db.query<{ rows: boolean; records: boolean }>(
    `select set_config('enable_nestloop', 'off', true), set_config('work_mem', '32MB', true), set_config('default_statistics_target', '10', true),
       (select count(*) from (select 1 from ledger.inputs where run_id = $1 limit $2) r) = $2 as rows,
       (select count(*) from (select 1 from ledger.records where run_id = $1 limit $2) k) = $2 as records`,
    [runId, MANY],
  );
  const [has] = many.rows;
  if (has?.rows && fresh === 'rows and records')
    await db.query('analyze ledger.inputs, ledger.plans, ledger.matches, ledger.verdicts, ledger.attempts');
  if (has?.records) await db.query(`analyze ledger.records (${JOINED_RECORD})`);
}

/** With this many new rows in a table, statements about them need statistics. */
export const MANY = 1_000;
const JOINED_RECORD = 'run_id, record_id, email, phone, name, org, client_id, label, first_pass, last_pass';
