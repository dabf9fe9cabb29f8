/** Items that recur: completing one leaves it open, so that it is open says nothing about its task. */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { afterEach, expect, test, vi } from 'vitest';
import { linkKind } from '../../../src/mirror/links/item-links.ts';
import { openHarness } from '../../support/harness/harness.ts';
import { type TasksHarness, withTasks } from '../../support/harness/tasks.ts';
import { HOOK_SECRET, TOKEN } from '../../support/item-vendor.ts';
import { PATIENT } from '../../support/patient.ts';
import { startTodoist, type TodoistVendor } from '../../support/todoist-standin.ts';

let harness: TasksHarness;
let todoist: TodoistVendor;

afterEach(async () => {
  await harness.close();
  await todoist.vendor.close();
  expect(todoist.vendor.complaints).toEqual([]);
});

/** A task that was completed, and its recurring item, which was moved to its next date for it. */
async function completed(options: string): Promise<void> {
  todoist = await startTodoist();
  const more = 'allowPrivate: true, budget: { requests: 5000, per: 1s, burst: 500, concurrency: 8 }';
  const items = `type: todoist, url: "${todoist.vendor.url}", token: { env: TOKEN }, hookSecret: { env: HOOK_SECRET }, ${more}`;
  harness = withTasks(
    await openHarness({
      hasFront: true,
      syncs: { mirror: `job: tasks, targets: [items], options: ${options}` },
      targets: { items },
      env: { TOKEN, HOOK_SECRET },
    }),
  );
  await harness.addTasks(1);
  const itemId = todoist.put(false);
  const [task] = todoist.tasks;
  if (task) task.due = { is_recurring: true, string: 'every monday', date: '2026-03-02' };
  await harness.database.pool.query(
    `insert into ledger.links (scope, kind, source_id, record_id, run_id) values ('test', $1, 'task:1', $2, '')`,
    [linkKind('items'), itemId],
  );
  await harness.workspace.deliver(['items']);
  await harness.runSync();
  await harness.complete(1);
  await harness.runSync();
  expect(await sides()).toEqual({ isCompleted: true, moves: 1 });
}

async function sides() {
  const { rows } = await harness.database.pool.query('select fields from service.tasks where id = 1');
  return { isCompleted: rows[0]?.fields.isCompleted, moves: todoist.tasks[0]?.moves };
}

test.each([
  ['polled', '{ poll: [items] }', {}],
  ['polled, and the target decides', '{ poll: [items], onConflict: target }', {}],
  ['reconciled', '{}', { reconcile: true }],
])('a recurring item that is %s neither reopens its completed task nor is moved again', async (_, options, how) => {
  await completed(options);
  const { notes } = await harness.runSync(how);
  expect(notes).toContainEqual('items: 0 of 1 items differed from their tasks');
  await harness.runSync(how);
  expect(await sides()).toEqual({ isCompleted: true, moves: 1 });
});

test('the call of Todoist about a recurring item that was moved to its next date does not reopen its task', async () => {
  await completed('{}');
  const web = await (await harness.anotherWorkspace()).serveConsole();
  const event_data = { id: todoist.tasks[0]?.id, checked: false, due: todoist.tasks[0]?.due };
  const event = { event_name: 'item:completed', user_id: '2671355', event_data, version: '10' };
  const body = JSON.stringify({ ...event, triggered_at: new Date().toISOString() });
  const digest = createHmac('sha256', HOOK_SECRET).update(body).digest('base64');
  const headers = { 'content-type': 'application/json', 'x-todoist-hmac-sha256': digest };
  expect((await fetch(`${web.url}/hooks/items`, { method: 'POST', headers, body })).status).toBe(200);
  await vi.waitFor(async () => {
    const { rows } = await harness.database.pool.query(`select 1 from ledger.item_reports where state = 'waiting'`);
    expect(rows).toEqual([]);
  }, PATIENT);
  expect(await sides()).toEqual({ isCompleted: true, moves: 1 });
});

test('a recurring item that was completed for good completes its task', async () => {
  await completed('{ poll: [items] }');
  await harness.complete(1, false);
  await harness.runSync();
  const [task] = todoist.tasks;
  if (task) task.checked = true;
  await harness.runSync();
  expect(await sides()).toEqual({ isCompleted: true, moves: 1 });
});

test('a recurring item is moved once for a completion, though its process is killed twice after Todoist has moved it', async () => {
  await completed('{}');
  await harness.complete(1, false);
  await harness.runSync();
  await harness.workspace.close(); // from now on, other processes deliver
  const { pool } = harness.database;
  const { rows } = await pool.query<{ task: object }>('select task from ledger.deliveries where sequence = 2');
  await pool.query(
    `insert into ledger.deliveries (id, target, scope, sync, kind, task_id, sequence, event, task, seen_at, state)
     select 'msg_again', target, scope, sync, kind, task_id, 9, 'completed', $1, now(), 'waiting'
     from ledger.deliveries where sequence = 2`,
    [JSON.stringify(rows[0]?.task)],
  );
  for (let kills = 0; kills < 2; kills++) {
    const program = harness.startProgram('test/mirror/inbound/reporting-program');
    todoist.vendor.next('lose', (request) => todoist.isWrite(request) && program.kill('SIGKILL'));
    await once(program, 'exit');
  }
  harness.startProgram('test/mirror/inbound/reporting-program');
  await vi.waitFor(async () => {
    const ended = await pool.query(`select verdict from ledger.deliveries where id = 'msg_again'`);
    expect(ended.rows).toEqual([{ verdict: 'delivered' }]);
  }, PATIENT);
  expect(todoist.tasks[0]?.moves).toBe(2);
});
