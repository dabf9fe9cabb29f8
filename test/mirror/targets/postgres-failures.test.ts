/** What the Postgres target says of failures, and what a check finds. */
import { expect, test } from 'vitest';
import { postgresFailure } from '../../../src/mirror/targets/postgres/postgres-outcome.ts';
import { taskTable } from '../../../src/mirror/targets/postgres/postgres-table.ts';
import type { SettingsOf } from '../../../src/settings/schema-target.ts';
import { context, deliveryOf, secretRef } from '../../support/item-vendor.ts';
import { anOutcome } from '../../support/matchers.ts';
import { deliver, NAME, openWarehouse, PASSWORD, TABLE } from './warehouse.ts';

const warehouse = openWarehouse();

/** A user without any right except to log in. */
async function newUser(): Promise<string> {
  const { pool, connection } = warehouse.database;
  const user = `guest_${String(connection.database).slice(5)}`;
  await pool.query(`create role ${user} login`);
  return user;
}

async function dropUser(user: string): Promise<void> {
  await warehouse.database.pool.query(`drop owned by ${user}; drop role ${user}`);
}

test('a user without rights is told the grants; with exactly these it works, though the table may be created', async () => {
  await warehouse.database.pool.query(taskTable(NAME).create);
  const user = await newUser();
  const target = warehouse.open({ url: secretRef(warehouse.urlFor(user)) });
  const outcome = await deliver(target);
  expect(outcome).toMatchObject({ status: 'refused', reason: 'NOT_ALLOWED' });
  const [, grants = ''] = /in place of USER: (.*); for createTable/.exec(outcome.detail ?? '') ?? [];
  expect(grants).toContain(`select, insert, update on ${TABLE}`);
  await warehouse.database.pool.query(grants.replaceAll('USER', user));
  expect(await deliver(target)).toMatchObject({ status: 'delivered' });
  await target.close();
  await dropUser(user);
});

test('an unknown user or a missing database disables the target', async () => {
  const unknown = await deliver(
    warehouse.open({ url: secretRef(warehouse.urlFor('nobody_here'), 'targets.warehouse.url') }),
  );
  expect(unknown).toMatchObject(anOutcome('disabled', 'TOKEN_REFUSED', 'targets.warehouse.url'));
  const elsewhere = warehouse.urlFor(undefined, { ...warehouse.database.connection, database: 'not_here' });
  expect(await deliver(warehouse.open({ url: secretRef(elsewhere) }))).toMatchObject({
    status: 'disabled',
    reason: 'DATABASE_MISSING',
  });
});

test.each([`postgres://me:${PASSWORD}@127.0.0.1:1/db`, `postgres://me:${PASSWORD}@host.invalid/db`])(
  'an unreachable server is retried later: %s',
  async (url) => {
    const outcome = await deliver(warehouse.open({ url: secretRef(url) }));
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
  const outcome = await deliver(warehouse.open({ url: secretRef(url, 'targets.warehouse.url') }));
  expect(outcome).toMatchObject(anOutcome('later', 'URL_INVALID', 'targets.warehouse.url'));
  expect(outcome.detail).not.toMatch(/canary|ary@/);
});

test('a missing secret is retried later', async () => {
  const outcome = await deliver(warehouse.open({ url: { from: 'env', name: 'X', where: 'targets.warehouse.url' } }));
  expect(outcome).toMatchObject({ status: 'later', reason: 'SECRET_MISSING' });
});

test('a row locked by another client is retried after the timeout, and the target closes', async () => {
  const target = warehouse.open({ timeoutMs: 200 });
  await deliver(warehouse.open());
  const holder = await warehouse.database.pool.connect();
  await holder.query('begin');
  await holder.query(`select from ${TABLE} for update`);
  expect(await deliver(target, {}, { sequence: 3 })).toMatchObject({ status: 'later', reason: 'TIMEOUT' });
  await target.close();
  await holder.query('rollback');
  holder.release();
});

test('a shutdown aborts a delivery that waits, and one that has not begun', async () => {
  const target = warehouse.open();
  await deliver(target);
  const holder = await warehouse.database.pool.connect();
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
  await expect.poll(async () => (await warehouse.database.pool.query(asked)).rows[0].n).toBe(1);
}

test('a cut connection is retried later, and the next delivery has another connection', async () => {
  const target = warehouse.open({ concurrency: 1 });
  await deliver(target);
  const holder = await warehouse.database.pool.connect();
  await holder.query('begin');
  await holder.query(`select from ${TABLE} for update`);
  const waiting = deliver(target, {}, { sequence: 3 });
  await untilWaiting();
  await warehouse.database.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
  );
  expect(await waiting).toMatchObject({ status: 'later', reason: 'UNAVAILABLE' });
  await holder.query('rollback');
  holder.release();
  expect(await deliver(target, {}, { sequence: 3 })).toMatchObject({ status: 'delivered' });
});

test('the next delivery uses a changed password without a restart', async () => {
  const urls = [warehouse.urlFor('nobody_here'), warehouse.urlFor()];
  const target = warehouse.open({}, async () => urls.shift() ?? '');
  expect(await deliver(target)).toMatchObject({ status: 'disabled' });
  expect(await deliver(target)).toMatchObject({ status: 'delivered' });
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
  const { pool } = warehouse.database;
  const finding = async (given: Partial<SettingsOf<'postgres'>> = {}) => {
    const [found] = (await warehouse.open({ createTable: false, ...given }).check?.(context())) ?? [];
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
  const reader = { url: secretRef(warehouse.urlFor(user), 'targets.warehouse.url') };
  expect(await finding(reader)).toMatch(
    /^problem: NOT_ALLOWED: .* grant usage on schema .*; grant select, insert, update on/,
  );
  await pool.query(`alter table ${TABLE} add column event text, drop constraint lockstep_tasks_pkey`);
  await pool.query(`alter table ${TABLE} add primary key (account, kind, task_id, sequence)`);
  await pool.query(`grant select, insert on ${TABLE} to ${user}`);
  expect(await finding({ ...reader, history: true })).toMatch(/^ok: the user may read and write it/);
  await dropUser(user);
  expect((await pool.query(`select 1 from ${TABLE}`)).rowCount).toBe(0);
});

test('a view that Postgres can update is accepted by a check and written, and one that it cannot update is found', async () => {
  const { pool } = warehouse.database;
  await pool.query(taskTable('public.inner_tasks').create);
  await pool.query(`create view ${TABLE} as select * from inner_tasks`);
  const checked = async () => (await warehouse.open({ createTable: false }).check?.(context()))?.[0];
  expect(await checked()).toMatchObject({ status: 'ok' });
  expect(await warehouse.open({ createTable: false }).deliver(deliveryOf(), context())).toMatchObject({
    status: 'delivered',
  });
  expect((await pool.query('select 1 from inner_tasks')).rowCount).toBe(1);
  await pool.query(`create or replace view ${TABLE} as select * from inner_tasks limit 1`);
  expect(await checked()).toMatchObject({
    status: 'problem',
    detail: expect.stringMatching(/cannot insert into view/),
  });
  await pool.query(`drop view ${TABLE}; drop table inner_tasks`);
});
