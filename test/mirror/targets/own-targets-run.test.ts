import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import type { Workspace } from '../../../src/cli/workspace/open-workspace.ts';
import { resumeAccount, suspendByHand, suspendedAccounts } from '../../../src/engine/ledger/scopes/suspensions.ts';
import { createKey, createTenant } from '../../../src/service/tenants.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { ended } from '../../support/harness/ended.ts';
import { testWorkspace } from '../../support/harness/test-workspace.ts';
import { startCountedService } from '../../support/traffic.ts';

const TEXT = `
accounts:
  demo: { budget: { requests: 5000, per: 1s, burst: 500 } }
  branch: { budget: { requests: 5000, per: 1s, burst: 500 } }
syncs:
  mirror: { job: tasks, account: demo, targets: [warehouse, our-branch], options: { backfill: true, poll: [our-branch] } }
targets:
  warehouse: { type: postgres, url: { env: WAREHOUSE }, createTable: true }
  our-branch: { type: service, account: branch, create: true }
`;

let database: FreshDatabase;
let dataDir: string;
let workspace: Workspace;

beforeEach(async () => {
  database = await freshDatabase();
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-own-targets-'));
  const { host, port, user, database: name } = database.connection;
  const WAREHOUSE = `postgres://${user}@${encodeURIComponent(String(host))}:${port}/${name}`;
  workspace = await testWorkspace({ text: TEXT, dataDir, env: { WAREHOUSE }, database });
});

afterEach(async () => {
  await workspace.close();
  await database.close();
  await rm(dataDir, { recursive: true, force: true });
});

async function mirror(): Promise<void> {
  const begun = await workspace.startSync('mirror', { lane: 'batch', dryRun: false });
  const runner = await workspace.work();
  await runner.attend(begun.run);
  await ended(database, begun.run.id);
}

async function complete(taskId: string): Promise<void> {
  const { client } = await workspace.accounts.open('demo');
  const body = { isCompleted: true };
  await client.call('tasks.complete', { lane: 'interactive', path: { task_id: taskId }, body });
}

const thereBy = async (sql: string) => (await database.pool.query(sql)).rows;
const branch = () =>
  thereBy(`select fields->>'taskName' as name, fields->'isCompleted' as done from service.tasks
    where tenant_id = (select id from service.tenants where name = 'branch') order by 1`);
const warehouse = () =>
  thereBy('select task_id as id, title, is_completed as done, sequence from lockstep_tasks order by title');

test('mirrors the tasks of one account into a table and into another account, and later changes too', async () => {
  const { client } = await workspace.accounts.open('demo');
  for (const taskName of ['a', 'b']) await client.call('tasks.create', { lane: 'interactive', body: { taskName } });
  await workspace.deliver(['warehouse', 'our-branch']);
  await mirror();
  expect(await branch()).toEqual([
    { name: 'a', done: false },
    { name: 'b', done: false },
  ]);
  const before = await warehouse();
  expect(before).toMatchObject([
    { title: 'a', done: false, sequence: 1 },
    { title: 'b', done: false, sequence: 1 },
  ]);
  await complete(before[1].id);
  await mirror();
  expect(await branch()).toEqual([
    { name: 'a', done: false },
    { name: 'b', done: true },
  ]);
  expect(await warehouse()).toMatchObject([
    { title: 'a', sequence: 1 },
    { title: 'b', done: true, sequence: 2 },
  ]);
});

test('a task there that people complete before it is linked stays completed, and its task follows it', async () => {
  const { client } = await workspace.accounts.open('demo');
  await client.call('tasks.create', { lane: 'interactive', body: { taskName: 'a' } });
  await database.pool.query(`create function complete_copy() returns trigger language plpgsql as $$
    begin new.fields = new.fields || '{"isCompleted": true}'; return new; end $$;
    create trigger complete_copy before insert on service.tasks for each row execute function complete_copy()`);
  await workspace.deliver(['warehouse', 'our-branch']);
  await mirror();
  const done = async () =>
    (await thereBy(`select fields->'isCompleted' as done from service.tasks`)).map((row) => row.done);
  await expect.poll(done).toEqual([true, true]);
});

test('sends nothing to an account that a person has suspended, and spends no attempt', async () => {
  const { pool } = database;
  const { client } = await workspace.accounts.open('demo');
  await client.call('tasks.create', { lane: 'interactive', body: { taskName: 'a' } });
  await suspendByHand(pool, 'branch', { by: 'ann', reason: 'it moves' });
  await workspace.deliver(['warehouse', 'our-branch']);
  await mirror();
  expect([await branch(), (await warehouse()).length]).toEqual([[], 1]);
  const waiting = `select attempts, reason from ledger.deliveries where target = 'our-branch'`;
  expect(await thereBy(waiting)).toEqual([{ attempts: 0, reason: 'ACCOUNT_SUSPENDED' }]);
  await expect(workspace.accounts.inspect('branch')).rejects.toMatchObject({ code: 'ACCOUNT_SUSPENDED' });
  await resumeAccount(pool, 'branch');
  await workspace.accounts.use('branch');
});

test('waits while the service refuses the key of the account, and continues by itself once it is accepted', async () => {
  const { pool } = database;
  await workspace.close();
  const service = await startCountedService({ pool, behaviour: {} });
  onTestFinished(() => service.close());
  const right = 'the-key-of-the-branch-long-enough';
  await createKey(pool, (await createTenant(pool, 'branch')).id, { key: right });
  const env = { BRANCH_KEY: 'a-key-of-no-tenant-long-enough' };
  const text = TEXT.replace('branch: {', `branch: { url: "${service.url}", apiKey: { env: BRANCH_KEY },`);
  const own = { text: text.replace('[warehouse, our-branch]', '[our-branch]'), dataDir, env, database };
  workspace = await testWorkspace(own);
  const { client } = await workspace.accounts.open('demo');
  await client.call('tasks.create', { lane: 'interactive', body: { taskName: 'a' } });
  await workspace.deliver(['our-branch']);
  await mirror();
  const waiting = `select attempts, reason from ledger.deliveries where target = 'our-branch'`;
  expect(await thereBy(waiting)).toEqual([{ attempts: 0, reason: 'ACCOUNT_SUSPENDED' }]);
  expect([...(await suspendedAccounts(pool, ['branch', 'demo']))]).toMatchObject([['branch', { code: 'KEY_REFUSED' }]]);
  env.BRANCH_KEY = right;
  workspace.keepTryingKeys();
  await expect.poll(() => suspendedAccounts(pool, ['branch'])).toEqual(new Map());
  await workspace.close();
  await pool.query('update ledger.target_states set blocked_until = null');
  await pool.query('update ledger.deliveries set due_at = now()');
  workspace = await testWorkspace(own);
  await workspace.work();
  await workspace.deliver(['our-branch']);
  await expect.poll(branch).toEqual([{ name: 'a', done: false }]);
});
