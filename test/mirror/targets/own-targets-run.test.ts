import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Workspace } from '../../../src/cli/workspace/open-workspace.ts';
import { resumeAccount, suspendByHand } from '../../../src/engine/ledger/scopes/suspensions.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { ended } from '../../support/harness/ended.ts';
import { testWorkspace } from '../../support/harness/test-workspace.ts';

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
