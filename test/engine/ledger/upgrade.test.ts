import { expect, onTestFinished, test } from 'vitest';
import { identityOf, resolveScope } from '../../../src/engine/account/identity.ts';
import { ledgerMigrations } from '../../../src/engine/ledger/migrations.ts';
import { claimRows, openRows } from '../../../src/engine/ledger/rows.ts';
import { readRun, startRun } from '../../../src/engine/ledger/runs.ts';
import { bindAccount, newScope, scopeNamed, whatIsKnown } from '../../../src/engine/ledger/scopes/scopes.ts';
import { lateSyncs } from '../../../src/engine/ledger/views/runs-in-need.ts';
import { creationLog } from '../../../src/mirror/outbox/creations.ts';
import { migrate } from '../../../src/storage/migrate.ts';
import { emptyDatabase, type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { deliveryOf } from '../../support/item-vendor.ts';
import { claimOn } from './fresh-ledger.ts';

/** A ledger as it was before the migration of this number. Up to 013 a row was one record that was updated. */
async function ledgerBefore(number: string): Promise<FreshDatabase> {
  const database = await emptyDatabase();
  onTestFinished(() => database.close());
  const all = await ledgerMigrations();
  await migrate(
    database.pool,
    'ledger',
    all.filter(({ name }) => name < number),
  );
  return database;
}

test('a ledger of an earlier version keeps its links and runs under the tenant that the account belongs to', async () => {
  const { pool } = await ledgerBefore('007');
  await pool.query(`
    insert into ledger.runs (id, sync, job, account, resource, lane, dry_run, options, status, phase)
      values ('run-1', 'nightly', 'contacts', 'acme', 'customers', 'batch', false, '{}', 'paused', 'import-customers');
    insert into ledger.rows (run_id, source_id, n, state, action) values ('run-1', '1', 1, 'unknown', 'import');
    insert into ledger.links (account, kind, source_id, record_id, run_id) values ('acme', 'contact-customer', '1', '7', 'run-1');
    insert into ledger.tasks (account, sync, kind, task_id, version, state, hash) values ('other', 'm', 'task', '1', 1, '{}', '');`);
  await migrate(pool, 'ledger', await ledgerMigrations());

  expect(await readRun(pool, 'run-1')).toMatchObject({ account: 'acme', scope: 'acme', status: 'paused' });
  expect((await pool.query('select scope, known from ledger.links')).rows).toEqual([{ scope: 'acme', known: null }]);
  expect([await scopeNamed(pool, 'acme'), await scopeNamed(pool, 'other')]).toEqual(['acme', 'other']);
  const again = { sync: 'another', type: 'contacts', account: 'acme', resource: 'customers', lane: 'batch' } as const;
  const begun = await startRun(pool, { ...again, dryRun: false, options: {}, phase: 'scan-contacts' });
  expect([begun.status, begun.run.id]).toEqual(['busy', 'run-1']);

  const identity = await identityOf(pool, 'https://a.example', 'a-key');
  const nothingAsked = () => Promise.reject(new Error('no record is asked for'));
  expect(await resolveScope(pool, 'acme', identity, nothingAsked)).toEqual({ status: 'known', scope: 'acme' });
  const moved = await identityOf(pool, 'https://b.example', 'a-key');
  expect(await resolveScope(pool, 'acme', moved, nothingAsked)).toMatchObject({ status: 'unclear' });
});

test('a scope of an account gets its own name, and two names can share one scope', async () => {
  const database = await freshDatabase();
  onTestFinished(() => database.close());
  const { pool } = database;
  expect([await newScope(pool, 'a'), await newScope(pool, 'a')]).toEqual(['a', 'a~2']);
  await bindAccount(pool, 'a', 'a~2');
  await bindAccount(pool, 'b', 'a~2');
  const identity = await identityOf(pool, 'https://a.example', 'a-key');
  expect(await whatIsKnown(pool, 'b', identity)).toMatchObject({ bound: 'a~2', known: undefined });
  expect(identity.fingerprint).not.toContain('a-key');
});

test('unfinished runs of an earlier version keep the state of every row, with what was sent for it', async () => {
  const database = await ledgerBefore('014');
  const { pool } = database;
  await pool.query(`
    insert into ledger.runs (id, sync, job, account, scope, resource, lane, dry_run, options, status, phase)
      values ('run-1', 'orders:1', 'orders', 'a', 'a', 'orders:1', 'batch', false, '{}', 'running', 'create-orders');
    insert into ledger.claims (run_id, worker, exclusive, expires_at) values ('run-1', '{}', false, now());
    insert into ledger.rows (run_id, source_id, n, state, action, verdict, reason, detail, label, client_id, fields, own_fields, record_id, sends, since, claim_id, cells)
      values
      ('run-1', '2', 2, 'staged', null, null, null, null, 'A', null, '{"amount": "1"}', null, null, 0, null, null, '["A", "1"]'),
      ('run-1', '3', 3, 'ready', 'create', null, null, null, 'B', '7', '{}', null, null, 0, null, null, null),
      ('run-1', '4', 4, 'ready', 'update', null, null, null, 'C', '7', '{"amount": "2", "status": "new"}', '{"amount": "2"}', '17', 0, null, null, null),
      ('run-1', '5', 5, 'intent', 'create', null, null, null, 'D', '7', '{}', null, null, 0, null, 1, null),
      ('run-1', '6', 6, 'acked', 'create', null, null, null, 'E', '7', '{}', null, null, 1, now() - interval '1 h', null, null),
      ('run-1', '7', 7, 'unknown', 'create', null, 'REFUSED_BY_SERVICE', 'no', 'F', '7', '{}', null, null, 2, now() - interval '1 h', null, null),
      ('run-1', '8', 8, 'ready', 'create', null, null, null, 'G', '7', '{}', null, null, 1, now() - interval '1 h', null, null),
      ('run-1', '9', 9, 'settled', 'create', 'created', null, null, 'H', '7', '{}', null, '18', 1, now() - interval '1 h', null, null),
      ('run-1', '10', 10, 'settled', null, 'invalid', 'AMOUNT_EMPTY', 'no amount', 'I', null, null, null, null, 0, null, null, '["I", ""]');`);
  await migrate(pool, 'ledger', await ledgerMigrations());

  const found = await pool.query(
    'select n::int, state, action, verdict, reason, facts, client_id as client, record_id as record, sends, fields from ledger.rows order by n',
  );
  const none = {
    action: null,
    verdict: null,
    reason: null,
    facts: null,
    record: null,
    sends: 0,
    client: '7',
    fields: {},
  };
  const said = (text: string) => ({ facts: { said: text } });
  expect(found.rows).toEqual([
    { ...none, n: 2, state: 'staged', client: null, fields: { amount: '1' } },
    { ...none, n: 3, state: 'ready', action: 'create' },
    { ...none, n: 4, state: 'ready', action: 'update', record: '17', fields: { amount: '2', status: 'new' } },
    { ...none, n: 5, state: 'unknown', action: 'create' },
    { ...none, n: 6, state: 'acked', action: 'create', sends: 1 },
    { ...none, n: 7, state: 'unknown', action: 'create', sends: 2, reason: 'REFUSED_BY_SERVICE', ...said('no') },
    { ...none, n: 8, state: 'ready', action: 'create', sends: 1 },
    { ...none, n: 9, state: 'settled', action: 'create', verdict: 'created', record: '18', sends: 1 },
    {
      ...none,
      n: 10,
      state: 'settled',
      client: null,
      fields: null,
      verdict: 'invalid',
      reason: 'AMOUNT_EMPTY',
      ...said('no amount'),
    },
  ]);
  const run = await readRun(pool, 'run-1');
  const claim = await claimOn(database, run);
  const claimed = await claimRows(pool, claim, 10);
  expect(claimed.map(({ n, fields, sends }) => ({ n, fields, sends }))).toEqual([
    { n: 3, fields: {}, sends: 0 },
    { n: 4, fields: { amount: '2', status: 'new' }, sends: 0 },
    { n: 8, fields: {}, sends: 1 },
  ]);
  expect(await openRows(pool, run.id)).toEqual({ staged: 1, ready: 0, intent: 3, acked: 1, unknown: 2, settled: 2 });
});

test('chunks of the previous version keep only the rows without a recorded outcome', async () => {
  const { pool } = await ledgerBefore('015');
  await pool.query(`
    insert into ledger.runs (id, sync, job, account, scope, resource, lane, dry_run, options, status, phase)
      values ('run-1', 'orders:1', 'orders', 'a', 'a', 'orders:1', 'batch', false, '{}', 'running', 'create-orders');
    insert into ledger.claims (run_id, worker, exclusive, expires_at) values ('run-1', '{}', false, now());
    insert into ledger.chunks (claim_id, run_id, rows) values (1, 'run-1', '{2, 3}'), (1, 'run-1', '{4}');
    insert into ledger.attempts (run_id, n, chunk_id, outcome, sends)
      values ('run-1', 3, 1, 'acked', 1), ('run-1', 4, 2, 'acked', 1), ('run-1', 2, 7, 'unsent', 0);`);
  await migrate(pool, 'ledger', await ledgerMigrations());
  expect((await pool.query('select rows from ledger.chunks')).rows).toEqual([{ rows: [2] }]);
});

test('an unfinished run of an earlier version reads its customers back in the phase of its new name', async () => {
  const { pool } = await ledgerBefore('016');
  await pool.query(`
    insert into ledger.runs (id, sync, job, account, scope, resource, lane, dry_run, options, status, phase)
      values ('run-1', 'nightly', 'contacts', 'a', 'a', 'customers', 'batch', false, '{}', 'running', 'settle-unknown');`);
  await migrate(pool, 'ledger', await ledgerMigrations());
  expect((await pool.query('select phase from ledger.runs')).rows).toEqual([{ phase: 'settle-customers' }]);
});

test('creations of an earlier version, which were links, are neither lost nor sent again', async () => {
  const { pool } = await ledgerBefore('014');
  await pool.query(`
    insert into ledger.links (scope, kind, source_id, record_id, hash, run_id, linked_at) values
      ('a', 'creating:out', 'task:1', 'lockstep-0123456789ab', null, '', now() - interval '1 h'),
      ('a', 'creating:out', 'task:2', 'lockstep-0123456789ac', 'taken', '', now() - interval '2 h'),
      ('a', 'item:out', 'task:3', '7', null, '', now())`);
  await migrate(pool, 'ledger', await ledgerMigrations());

  const moved = await pool.query(
    `select concat_ws(' ', scope, target, source_id, is_taken) as one from ledger.creations order by at`,
  );
  expect(moved.rows).toEqual([{ one: 'a out task:2 t' }, { one: 'a out task:1 f' }]);
  expect((await pool.query('select kind from ledger.links')).rows).toEqual([{ kind: 'item:out' }]);
  const last = await creationLog(pool, 'out').lastOf(deliveryOf({ id: '1' }, { account: 'a' }));
  expect(last?.agoMs).toBeCloseTo(60 * 60 * 1000, -5);
});

test('deliveries and schedules of an earlier version are unchanged, and no sync counts as late', async () => {
  const { pool } = await ledgerBefore('022');
  await pool.query(`
    insert into ledger.deliveries (id, target, scope, sync, kind, task_id, sequence, event, task, seen_at, state)
      values ('msg_1', 'hook', 'a', 'mirror', 'task', '1', 1, 'completed', '{}', now(), 'waiting');
    insert into ledger.schedules (sync, schedule, due_at, planned_at) values ('nightly', '{}', now() + interval '1 h', now());`);
  await migrate(pool, 'ledger', await ledgerMigrations());
  expect((await pool.query('select id, event, state from ledger.deliveries')).rows).toEqual([
    { id: 'msg_1', event: 'completed', state: 'waiting' },
  ]);
  expect(await lateSyncs(pool, 0)).toEqual([]);
});
