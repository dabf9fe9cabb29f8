import { afterEach, beforeEach, expect, test } from 'vitest';
import type { CallContext, Delivery, DeliveryOutcome, Target, TaskState } from '../../../src/contract/target.ts';
import { openPostgres } from '../../../src/mirror/targets/postgres/postgres.ts';
import { postgresFailure } from '../../../src/mirror/targets/postgres/postgres-outcome.ts';
import { localTime, quoteIdentifier, taskTable } from '../../../src/mirror/targets/postgres/postgres-table.ts';
import type { SettingsOf } from '../../../src/settings/schema-target.ts';
import { emptyDatabase, type FreshDatabase } from '../../support/database.ts';
import { context, deliveryOf, readSecret, SEEN_AT, secretRef } from '../../support/item-vendor.ts';
import { anOutcome } from '../../support/matchers.ts';

const PASSWORD = 'canary-hush-51c0';
const NAME = 'public.lockstep_tasks';
const TABLE = '"public"."lockstep_tasks"';

let database: FreshDatabase;
let opened: Target[];

beforeEach(async () => {
  opened = [];
  database = await emptyDatabase();
});

afterEach(async () => {
  await Promise.all(opened.map((target) => target.close()));
  await database.close();
});

function urlFor(user = String(database.connection.user), at = database.connection): string {
  return `postgres://${user}:${PASSWORD}@${encodeURIComponent(String(at.host))}:${at.port}/${at.database}`;
}

function open(given: Partial<SettingsOf<'postgres'>> = {}): Target {
  const settings: SettingsOf<'postgres'> = {
    name: 'warehouse',
    type: 'postgres',
    url: secretRef(urlFor(), 'targets.warehouse.url'),
    table: NAME,
    createTable: true,
    history: false,
    timeoutMs: 10_000,
    concurrency: 4,
    ...given,
  };
  const target = openPostgres(settings, { readSecret });
  opened.push(target);
  return target;
}

function deliver(
  target: Target,
  task: Partial<TaskState> = {},
  given: Partial<Omit<Delivery, 'task'>> = {},
  how: CallContext = context(),
): Promise<DeliveryOutcome> {
  return target.deliver(deliveryOf(task, given), how);
}

async function rows(table = TABLE): Promise<readonly Record<string, unknown>[]> {
  const found = await database.pool.query(
    `select *, start_date::text, end_date::text from ${table} order by account, kind, task_id`,
  );
  return found.rows;
}

/** A user without any right except to log in. */
async function newUser(): Promise<string> {
  const user = `guest_${String(database.connection.database).slice(5)}`;
  await database.pool.query(`create role ${user} login`);
  return user;
}

async function dropUser(user: string): Promise<void> {
  await database.pool.query(`drop owned by ${user}; drop role ${user}`);
}

test('writes a task as a row with all its data', async () => {
  const task = { isCompleted: true, startDate: '2026-03-01T09:30:00', endDate: '2026-03-02T17:00:00', parentId: '7' };
  const outcome = await deliver(open(), { kind: 'subtask', ...task });
  expect(outcome).toEqual({ status: 'delivered', detail: `${TABLE}: state 2` });
  const [row] = await rows();
  expect(row).toEqual({
    account: 'demo',
    kind: 'subtask',
    task_id: '12',
    sequence: 2,
    status: 'completed',
    title: 'Call the printer',
    description: expect.stringContaining('invoice'),
    is_completed: true,
    is_gone: false,
    start_date: '2026-03-01 09:30:00',
    end_date: '2026-03-02 17:00:00',
    parent_id: '7',
    seen_at: SEEN_AT,
    delivered_at: expect.any(Date),
  });
});

test('a newer state replaces the row of this task and no other row', async () => {
  const target = open();
  await deliver(target);
  await deliver(target, { id: '13' });
  await deliver(target, { kind: 'card' });
  await deliver(target, {}, { account: 'other' });
  await deliver(target, { isCompleted: true, isGone: true, title: 'Call again' }, { sequence: 3, event: 'gone' });
  const found = (await rows()).map(({ account, kind, task_id, sequence, is_gone }) => [
    account,
    kind,
    task_id,
    sequence,
    is_gone,
  ]);
  expect(found).toEqual([
    ['demo', 'card', '12', 2, false],
    ['demo', 'task', '12', 3, true],
    ['demo', 'task', '13', 2, false],
    ['other', 'task', '12', 2, false],
  ]);
});

test.each([2, 5])('a state with sequence %i after 5 changes nothing', async (sequence) => {
  const target = open();
  await deliver(target, { isCompleted: true }, { sequence: 5 });
  const [before] = await rows();
  const outcome = await deliver(target, { isCompleted: false }, { sequence });
  expect(outcome).toMatchObject({
    status: 'already',
    detail: expect.stringContaining(`already has state 5, and this is state ${sequence}`),
  });
  expect(await rows()).toEqual([before]);
});

test('of states delivered at once, the newest stays', async () => {
  const target = open({ concurrency: 8 });
  const sequences = [4, 9, 1, 7, 2, 8, 3, 6, 5];
  await Promise.all(sequences.map((sequence) => deliver(target, { title: `state ${sequence}` }, { sequence })));
  expect(await rows()).toMatchObject([{ sequence: 9, title: 'state 9' }]);
});

test('the table is created by many deliveries, and by two processes, at the same time', async () => {
  const targets = [open(), open()];
  const ids = Array.from({ length: 20 }, (_, id) => String(id));
  const outcomes = await Promise.all(
    targets.flatMap((target, i) => ids.map((id) => deliver(target, { id: `${i}-${id}` }))),
  );
  expect(outcomes.filter(({ status }) => status !== 'delivered')).toEqual([]);
  expect(await rows()).toHaveLength(40);
});

test('without createTable a missing table is reported with a statement that creates it and works', async () => {
  const target = open({ createTable: false });
  const outcome = await deliver(target);
  expect(outcome).toMatchObject(anOutcome('refused', 'TABLE_MISSING', 'createTable: true'));
  expect(outcome.detail?.length).toBeLessThanOrEqual(500); // longer ones are cut off in the ledger
  await database.pool.query(outcome.detail?.split('run: ')[1] ?? '');
  expect(await deliver(target)).toMatchObject({ status: 'delivered' });
});

test('does not create a schema, and tells a person to create it', async () => {
  const outcome = await deliver(open({ table: 'Ops data.tasks' }));
  expect(outcome).toMatchObject(anOutcome('refused', 'TABLE_MISSING', 'create schema "Ops data"'));
});

test('uses the name of the table exactly: quotes, case and spaces', async () => {
  await database.pool.query('create schema "Ops ""x"""');
  await deliver(open({ table: 'Ops "x".T"; drop table t; --' }));
  expect(await rows('"Ops ""x"""."T""; drop table t; --"')).toHaveLength(1);
});

test.each([{ history: false }, { history: true }])(
  'works with an existing table, %j, after the SQL in its dead letters has been run',
  async ({ history }) => {
    await database.pool.query(`create table ${TABLE} (account text not null, task_id text, team text default 'ops')`);
    const target = open({ history, createTable: false });
    for (const reason of ['COLUMN_MISSING', 'KEY_MISSING']) {
      const outcome = await deliver(target);
      expect(outcome).toMatchObject({ status: 'refused', reason });
      expect(outcome.detail?.length).toBeLessThanOrEqual(500); // longer ones are cut off in the ledger
      await database.pool.query(outcome.detail?.split('run: ')[1] ?? '');
    }
    expect(await deliver(target)).toMatchObject({ status: 'delivered' });
    expect(await rows()).toMatchObject([{ task_id: '12', team: 'ops' }]);
  },
);

test('with a history, each version is one row that stays, whatever arrives again or late', async () => {
  const target = open({ history: true });
  await deliver(target, { title: 'one' }, { sequence: 1, event: 'created' });
  await deliver(target, { title: 'three', isCompleted: true }, { sequence: 3 });
  await deliver(target, { title: 'two' }, { sequence: 2, event: 'changed' });
  const again = await deliver(target, { title: 'other' }, { sequence: 2, event: 'changed' });
  expect(again).toEqual({ status: 'already', detail: `${TABLE} already has state 2, and this is state 2` });
  const found = await database.pool.query(
    `select sequence, event, title, is_completed from ${TABLE} order by sequence`,
  );
  expect(found.rows).toEqual([
    { sequence: 1, event: 'created', title: 'one', is_completed: false },
    { sequence: 2, event: 'changed', title: 'two', is_completed: false },
    { sequence: 3, event: 'completed', title: 'three', is_completed: true },
  ]);
});

test('a history is not written into a table of states, which has one row per task', async () => {
  await deliver(open());
  await database.pool.query(`alter table ${TABLE} add column event text`);
  await database.pool.query(`create unique index on ${TABLE} (account, kind, task_id, sequence)`);
  expect(await deliver(open({ history: true }), {}, { sequence: 3 })).toMatchObject(
    anOutcome('refused', 'KEY_MISSING', 'name another table'),
  );
});

test.each([false, true])(
  'a row that a trigger of the table discards is a dead letter (history: %s)',
  async (history) => {
    await database.pool.query(
      `${taskTable(NAME, { history }).create};
     create function discard() returns trigger language plpgsql as 'begin return null; end';
     create trigger discard before insert on ${TABLE} for each row execute function discard()`,
    );
    const outcome = await deliver(open({ history }));
    await database.pool.query('drop function discard cascade');
    const detail = expect.stringContaining('a trigger');
    expect(outcome).toMatchObject({ status: 'refused', reason: 'REJECTED', detail });
    expect(await rows()).toEqual([]);
  },
);

test('a table’s check that the task violates makes a dead letter with the reason', async () => {
  await database.pool.query(
    `${taskTable(NAME).create}; alter table ${TABLE} add constraint short check (length(title) < 9)`,
  );
  expect(await deliver(open())).toMatchObject(anOutcome('refused', 'REJECTED', '"short"'));
  expect(await deliver(open(), { title: 'Call' })).toMatchObject({ status: 'delivered' });
});

test('a user without rights is told the grants; with exactly these it works, though the table may be created', async () => {
  await database.pool.query(taskTable(NAME).create);
  const user = await newUser();
  const target = open({ url: secretRef(urlFor(user)) });
  const outcome = await deliver(target);
  expect(outcome).toMatchObject({ status: 'refused', reason: 'NOT_ALLOWED' });
  expect(outcome.detail).toContain(`select, insert, update on ${TABLE}`);
  await database.pool.query(
    `grant usage on schema public to ${user}; grant select, insert, update on ${TABLE} to ${user}`,
  );
  expect(await deliver(target)).toMatchObject({ status: 'delivered' });
  await target.close();
  await dropUser(user);
});

test('an unknown user or a missing database disables the target', async () => {
  const unknown = await deliver(open({ url: secretRef(urlFor('nobody_here'), 'targets.warehouse.url') }));
  expect(unknown).toMatchObject(anOutcome('disabled', 'TOKEN_REFUSED', 'targets.warehouse.url'));
  const elsewhere = urlFor(undefined, { ...database.connection, database: 'not_here' });
  expect(await deliver(open({ url: secretRef(elsewhere) }))).toMatchObject({
    status: 'disabled',
    reason: 'DATABASE_MISSING',
  });
});

test.each([`postgres://me:${PASSWORD}@127.0.0.1:1/db`, `postgres://me:${PASSWORD}@host.invalid/db`])(
  'an unreachable server is retried later: %s',
  async (url) => {
    const outcome = await deliver(open({ url: secretRef(url) }));
    expect(outcome).toMatchObject({ status: 'later', reason: 'UNREACHABLE' });
    expect(outcome.detail).not.toContain(PASSWORD);
  },
);

test.each([
  'mysql://u:canary@h/d',
  'canary',
  'postgres://u:can/ary@h/d',
  'postgres://u:12/canary@h/d',
  'postgres://u:1#canary@h/d',
])('an invalid address is retried later and not repeated in the message: %s', async (url) => {
  const outcome = await deliver(open({ url: secretRef(url, 'targets.warehouse.url') }));
  expect(outcome).toMatchObject(anOutcome('later', 'URL_INVALID', 'targets.warehouse.url'));
  expect(outcome.detail).not.toMatch(/canary|ary@/);
});

test('a missing secret is retried later', async () => {
  const outcome = await deliver(open({ url: { from: 'env', name: 'X', where: 'targets.warehouse.url' } }));
  expect(outcome).toMatchObject({ status: 'later', reason: 'SECRET_MISSING' });
});

test('a row locked by another client is retried after the timeout, and the target closes', async () => {
  const target = open({ timeoutMs: 200 });
  await deliver(open());
  const holder = await database.pool.connect();
  await holder.query('begin');
  await holder.query(`select from ${TABLE} for update`);
  expect(await deliver(target, {}, { sequence: 3 })).toMatchObject({ status: 'later', reason: 'TIMEOUT' });
  await target.close();
  await holder.query('rollback');
  holder.release();
});

test('a shutdown aborts a delivery that waits, and one that has not begun', async () => {
  const target = open();
  await deliver(target);
  const holder = await database.pool.connect();
  await holder.query('begin');
  await holder.query(`select from ${TABLE} for update`);
  const stopping = new AbortController();
  const waiting = deliver(target, {}, { sequence: 3 }, { signal: stopping.signal });
  await untilWaiting();
  stopping.abort();
  expect(await waiting).toMatchObject({ status: 'later', reason: 'ABORTED' });
  expect(await deliver(target, {}, { sequence: 4 }, { signal: stopping.signal })).toMatchObject({ reason: 'ABORTED' });
  await holder.query('rollback');
  holder.release();
});

async function untilWaiting(): Promise<void> {
  const asked = `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await expect.poll(async () => (await database.pool.query(asked)).rows[0].n).toBe(1);
}

test('a cut connection is retried later, and the next delivery has another connection', async () => {
  const target = open({ concurrency: 1 });
  await deliver(target);
  const holder = await database.pool.connect();
  await holder.query('begin');
  await holder.query(`select from ${TABLE} for update`);
  const waiting = deliver(target, {}, { sequence: 3 });
  await untilWaiting();
  await database.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
  );
  expect(await waiting).toMatchObject({ status: 'later', reason: 'UNAVAILABLE' });
  await holder.query('rollback');
  holder.release();
  expect(await deliver(target, {}, { sequence: 3 })).toMatchObject({ status: 'delivered' });
});

test('the next delivery uses a changed password without a restart', async () => {
  const urls = [urlFor('nobody_here'), urlFor()];
  const target = openPostgres({ ...settingsOf(), createTable: true }, { readSecret: async () => urls.shift() ?? '' });
  opened.push(target);
  expect(await deliver(target)).toMatchObject({ status: 'disabled' });
  expect(await deliver(target)).toMatchObject({ status: 'delivered' });
});

function settingsOf(): SettingsOf<'postgres'> {
  const url = secretRef('unused');
  return {
    name: 'w',
    type: 'postgres',
    url,
    table: NAME,
    history: false,
    createTable: false,
    timeoutMs: 5_000,
    concurrency: 1,
  };
}

test('a target that was never used can be closed, twice', async () => {
  const target = open({ url: secretRef('postgres://me@127.0.0.1:1/db') });
  await target.close();
  await target.close();
});

test('replaces characters that Postgres cannot keep, and reports an invalid date', async () => {
  const outcome = await deliver(open(), {
    title: 'a\0b\ud800',
    startDate: 'next monday',
    endDate: '2026-02-30T10:00:00',
  });
  expect(outcome).toMatchObject({
    status: 'delivered',
    detail: expect.stringContaining('"next monday" and "2026-02-30T10:00:00"'),
  });
  expect(await rows()).toMatchObject([{ title: 'a\ufffdb\ufffd', start_date: null, end_date: null }]);
});

test.each([
  ['2026-03-01T09:30:00', '2026-03-01 09:30:00'],
  ['2026-03-01 09:30', '2026-03-01 09:30'],
  ['2026-03-01', '2026-03-01 00:00:00'],
  ['2026-03-01T09:30:00.125', '2026-03-01 09:30:00.125'],
  ['2026-03-01T00:30:00+02:00', '2026-02-28 22:30:00.000'],
  ['2026-03-01T09:30:00Z', '2026-03-01 09:30:00.000'],
  ['2026-02-29T09:30:00', null],
  ['2026-13-01T09:30:00', null],
  ['2026-03-01T25:30:00', null],
  ['0000-01-01T00:00:00', null],
  ['01.03.2026', null],
  ['', null],
  [undefined, null],
])('the date %j is %j in the table', (text, expected) => {
  expect(localTime(text)).toBe(expected);
});

test.each([
  ['plain', '"plain"'],
  ['Name with "quotes"', '"Name with ""quotes"""'],
  ['"', '""""'],
  ["'; drop table x; --", `"'; drop table x; --"`],
])('the identifier %s is quoted as %s', (name, quoted) => {
  expect(quoteIdentifier(name)).toBe(quoted);
});

test.each([
  ['28P01', 'password authentication failed for user "me"', 'disabled', 'TOKEN_REFUSED'],
  [undefined, 'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string', 'disabled', 'TOKEN_REFUSED'],
  ['53300', 'sorry, too many clients already', 'later', 'UNAVAILABLE'],
  ['40P01', 'deadlock detected', 'later', 'UNAVAILABLE'],
  ['57P03', 'the database system is starting up', 'later', 'UNAVAILABLE'],
  ['25006', 'cannot execute INSERT in a read-only transaction', 'later', 'UNAVAILABLE'],
  ['XX000', 'Tenant or user not found', 'later', 'UNAVAILABLE'],
  ['EPIPE', 'write EPIPE', 'later', 'UNREACHABLE'],
  [undefined, 'timeout exceeded when trying to connect', 'later', 'TIMEOUT'],
  [undefined, 'The server does not support SSL connections', 'later', 'TLS'],
  ['CERT_HAS_EXPIRED', 'certificate has expired', 'later', 'CERTIFICATE'],
  ['55P03', 'canceling statement due to lock timeout', 'later', 'UNAVAILABLE'],
  ['55000', 'cannot insert into view "lockstep_tasks"', 'refused', 'REJECTED'],
  ['42804', 'column "sequence" is of type text but expression is of type bigint', 'refused', 'REJECTED'],
])('%s, %s: %s %s', (code, message, status, reason) => {
  const error = Object.assign(new Error(message), { code });
  expect(postgresFailure(error, taskTable(NAME), { url: 'targets.w.url', missing: [] })).toMatchObject(
    anOutcome(status, reason, message),
  );
});

test('a policy of the table that refuses the row is named, and no grant', () => {
  const error = Object.assign(new Error('new row violates row-level security policy for table "t"'), { code: '42501' });
  const { detail } = postgresFailure(error, taskTable(NAME), { url: 'targets.w.url', missing: [] });
  expect(detail).toMatch(/policy/);
  expect(detail).not.toMatch(/grant usage/);
});

test('a defect is not an outcome', () => {
  expect(() =>
    postgresFailure(new TypeError('x is not a function'), taskTable(NAME), { url: 'targets.w.url', missing: [] }),
  ).toThrow(TypeError);
});

test('a check finds what the table lacks, in the order in which a person fixes it, and writes nothing', async () => {
  const { pool } = database;
  const finding = async (given: Partial<SettingsOf<'postgres'>> = {}) => {
    const [found] = (await open({ createTable: false, ...given }).check?.(context())) ?? [];
    return `${found?.status}: ${found?.detail} → ${found?.remedy}`;
  };
  expect(await finding({ table: 'nowhere.tasks' })).toMatch(
    /^problem: there is no schema "nowhere" → run: create schema/,
  );
  expect(await finding()).toMatch(/^problem: it does not exist → set createTable: true, or run: create table/);
  expect(await finding({ createTable: true })).toMatch(/^ok: it does not exist yet/);
  await pool.query(`create table ${TABLE} (account text, kind text, task_id text)`);
  expect(await finding()).toMatch(
    /^problem: COLUMN_MISSING: .* run: alter table .* add column sequence bigint, add column/,
  );
  await pool.query(`drop table ${TABLE}`);
  await pool.query(taskTable(NAME).create.replace(/, primary key.*/, ')'));
  expect(await finding()).toMatch(
    /^problem: KEY_MISSING: .* run: create unique index on .* \(account, kind, task_id\)/,
  );
  await pool.query(`alter table ${TABLE} add primary key (account, kind, task_id)`);
  expect(await finding()).toMatch(/^ok: the user may read and write it/);
  expect(await finding({ history: true })).toMatch(/^problem: COLUMN_MISSING: .* add column event text/);
  const user = await newUser();
  const reader = { url: secretRef(urlFor(user), 'targets.warehouse.url') };
  expect(await finding(reader)).toMatch(
    /^problem: NOT_ALLOWED: .* grant usage on schema .* and select, insert, update on/,
  );
  await pool.query(`alter table ${TABLE} add column event text, drop constraint lockstep_tasks_pkey`);
  await pool.query(`alter table ${TABLE} add primary key (account, kind, task_id, sequence)`);
  await pool.query(`grant select, insert on ${TABLE} to ${user}`);
  expect(await finding({ ...reader, history: true })).toMatch(/^ok: the user may read and write it/);
  await dropUser(user);
  expect((await pool.query(`select 1 from ${TABLE}`)).rowCount).toBe(0);
});

test('a view that Postgres can update is accepted by a check and written, and one that it cannot update is found', async () => {
  const { pool } = database;
  await pool.query(taskTable('public.inner_tasks').create);
  await pool.query(`create view ${TABLE} as select * from inner_tasks`);
  const checked = async () => (await open({ createTable: false }).check?.(context()))?.[0];
  expect(await checked()).toMatchObject({ status: 'ok' });
  expect(await open({ createTable: false }).deliver(deliveryOf(), context())).toMatchObject({ status: 'delivered' });
  expect((await pool.query('select 1 from inner_tasks')).rowCount).toBe(1);
  await pool.query(`create or replace view ${TABLE} as select * from inner_tasks limit 1`);
  expect(await checked()).toMatchObject({
    status: 'problem',
    detail: expect.stringMatching(/cannot insert into view/),
  });
  await pool.query(`drop view ${TABLE}; drop table inner_tasks`);
});
