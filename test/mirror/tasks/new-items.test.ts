/** Tasks that are made from items that people have created at a target. */
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { markerUuidOf } from '../../../src/mirror/targets/items/marker.ts';
import { openReportsHarness, type ReportsHarness } from '../../support/harness/reports.ts';
import type { SeenRequest } from '../../support/http-server.ts';

const HOUR_MS = 60 * 60 * 1000;
const PROGRAM = 'test/support/sync-program';

test.each([-3, 3])('no new issue is missed if the clocks differ by %i hours', async (hours) => {
  const harness = await openPolling('createTasks: true');
  const { github } = harness;
  const there = new Date(Date.now() + hours * HOUR_MS);
  github.vendor.serverTime = there;
  Object.assign(newIssue(harness, 'older') ?? {}, { created_at: new Date(there.getTime() - HOUR_MS).toISOString() });
  await harness.sync();
  Object.assign(newIssue(harness, 'new') ?? {}, { created_at: there.toISOString() });
  await harness.sync();
  expect(await linkedItems(harness)).toEqual(['octo/shop#2']);
});

test('an issue that a person creates becomes a task, once, and no second issue', async () => {
  const harness = await openPolling('createTasks: true, create: true', '[issues, hook]');
  const { github, receiver, call } = harness;
  github.put(false); // older than the first poll
  await harness.sync();
  const issue = newIssue(harness, 'Fix <b>it</b>');
  await harness.sync();
  const [task, ...others] = await tasksOf(harness);
  expect(others).toEqual([]);
  expect(await linkedItems(harness)).toEqual(['octo/shop#2']);
  expect(task).toMatchObject({ taskName: 'Old' });
  expect(task?.description).toMatch(/^Fix &lt;b&gt;it&lt;\/b&gt;\n\nGH: octo\/shop#2\n\nlockstep-[\da-f]{12}$/);
  for (let times = 0; times < 3; times++) await harness.sync();
  expect([(await tasksOf(harness)).length, github.issues.length]).toEqual([1, 2]);
  expect(receiver.events).toMatchObject([{ type: 'task.created' }]);
  await call('tasks.complete', { isCompleted: true }, task?.id);
  await harness.sync();
  expect([github.issues[0]?.state, issue?.state]).toEqual(['open', 'closed']);
});

test.each([false, true])(
  'an issue that a person closes before its new task is scanned stays closed, and completes the task; renamed: %s',
  async (isRenamed) => {
    const harness = await openPolling('createTasks: true', '[issues, hook]');
    await harness.sync();
    const issue = newIssue(harness, '');
    await harness.sync();
    const [task] = await tasksOf(harness);
    Object.assign(issue ?? {}, { state: 'closed' });
    if (isRenamed) await harness.call('tasks.update', { taskName: 'Renamed' }, task?.id);
    for (let times = 0; times < 2; times++) await harness.sync();
    expect([issue?.state, await tasksOf(harness)]).toMatchObject(['closed', [{ isCompleted: true }]]);
    await harness.call('tasks.complete', { isCompleted: false }, task?.id);
    await harness.sync();
    expect(issue?.state).toBe('open');
  },
);

test('an issue becomes a task when it gets its label, hours after its creation; one from before the first poll does not', async () => {
  const harness = await openPolling('createTasks: { labels: [sales] }');
  const begun = Date.now();
  const after = (hours: number) => new Date(begun + hours * HOUR_MS);
  harness.github.vendor.serverTime = after(0);
  const older = newIssue(harness, 'older');
  const issue = newIssue(harness, 'new');
  Object.assign(older ?? {}, { created_at: after(-1 / 30).toISOString() });
  Object.assign(issue ?? {}, { created_at: after(1).toISOString() });
  await harness.sync();
  harness.github.vendor.serverTime = after(2);
  await harness.sync();
  expect(await tasksOf(harness)).toEqual([]);
  harness.github.vendor.serverTime = after(5);
  for (const labelled of [older, issue]) {
    Object.assign(labelled ?? {}, { labels: ['Sales'], updated_at: after(4).toISOString() });
  }
  await harness.sync();
  expect(await linkedItems(harness)).toEqual(['octo/shop#2']);
});

test('a new item that cannot be read is named once, and the others become tasks', async () => {
  const harness = await openPolling('createTasks: true');
  const { github, database } = harness;
  await harness.sync();
  const isList = ({ method, path }: SeenRequest) => method === 'GET' && path.endsWith('/issues');
  const read = { number: 2, state: 'open', title: 'Call Lee', created_at: new Date(Date.now() + 1_000).toISOString() };
  for (let polls = 0; polls < 3; polls++) {
    github.vendor.next({ body: [{ ...read, number: 7, state: 'unheard of' }, read] }, isList);
    await harness.sync();
  }
  expect(await tasksOf(harness)).toMatchObject([{ taskName: 'Call Lee' }]);
  const { rows } = await database.pool.query(`select notes::text as notes from ledger.runs`);
  const said = rows.flatMap(
    ({ notes }) => String(notes).match(/issues: 7 could not be read and did not become a task: state/g) ?? [],
  );
  expect(said).toHaveLength(1);
});

/** The list of issues shows only these, once. */
function showNext({ github }: ReportsHarness, ...issues: readonly { id: string; number: number }[]) {
  const isList = ({ method, path }: SeenRequest) => method === 'GET' && path.endsWith('/issues');
  const created_at = new Date(Date.now() + 1_000).toISOString();
  github.vendor.next(
    { body: issues.map((each) => ({ ...each, state: 'open', title: 'Call Lee', created_at })) },
    isList,
  );
}

test('an item that has another id since it became a task becomes no second task', async () => {
  const harness = await openPolling('createTasks: true');
  await harness.sync();
  for (const number of [2, 9]) {
    showNext(harness, { id: '77', number });
    await harness.sync();
  }
  expect(await tasksOf(harness)).toMatchObject([{ taskName: 'Call Lee' }]);
});

test('an item whose id Lockstep has made of a task becomes no task, though its link was removed', async () => {
  const harness = await openPolling('createTasks: true');
  const { database } = harness;
  await harness.call('tasks.create', { taskName: 'Mine' });
  await harness.sync();
  const { rows } = await database.pool.query<{ account: string; kind: string; id: string }>(
    'select scope as account, kind, task_id as id from ledger.tasks',
  );
  for (const { account, ...task } of rows) showNext(harness, { id: markerUuidOf({ account, task }), number: 2 });
  await harness.sync();
  expect(await tasksOf(harness)).toMatchObject([{ taskName: 'Mine' }]);
});

test('a process that is killed after it created a task for an issue creates it once', async () => {
  const harness = await openPolling('createTasks: true, create: true');
  await harness.sync();
  newIssue(harness, '');
  let kill: (() => void) | undefined;
  harness.front.set(async (request, pass) => {
    const reply = await pass();
    if (!request.path.endsWith('/tasks/create') || kill === undefined) return reply;
    kill();
    return undefined;
  });
  const start = await leaveToPrograms(harness);
  const first = await start();
  kill = () => first.kill('SIGKILL');
  await once(first, 'exit');
  kill = undefined;
  expect(await tasksOf(harness)).toHaveLength(1);
  await once(harness.startProgram(PROGRAM), 'exit');
  await once(await start(), 'exit');
  expect([(await tasksOf(harness)).length, harness.github.issues.length]).toEqual([1, 1]);
  expect(await linkedItems(harness)).toEqual(['octo/shop#1']);
});

test('of thousands of changes, read in several runs of which one is killed, each new issue becomes one task', async () => {
  const harness = await openPolling('createTasks: { labels: [sales] }');
  const { github, database } = harness;
  const begun = Date.now();
  await harness.sync();
  for (let n = 0; n < 2_400; n++) {
    const issue = newIssue(harness, `issue ${n}`);
    // The first 250 have one time of change.
    const at = new Date(begun + HOUR_MS + 1_000 * Math.max(n, 250)).toISOString();
    Object.assign(issue ?? {}, { created_at: at, labels: n % 300 === 7 ? ['sales'] : [] });
  }
  github.vendor.serverTime = new Date(begun + 3 * HOUR_MS);
  const start = await leaveToPrograms(harness);
  let lists = 0;
  const first = await start();
  github.vendor.before = () => void (++lists === 8 && first.kill('SIGKILL'));
  await once(first, 'exit');
  expect([lists, await linkedItems(harness)]).toEqual([8, []]);
  await once(harness.startProgram(PROGRAM), 'exit');
  const { length: early } = await linkedItems(harness);
  expect(early).toBeGreaterThan(0);
  const { rows } = await database.pool.query(
    `select notes::text as notes from ledger.runs where notes::text ~ 'next run'`,
  );
  expect(rows[0]?.notes).toMatch(/issues: items that have changed since \S+ are read by the next run/);
  // What was read before changes again, and nothing becomes a second task.
  Object.assign(github.issues[7] ?? {}, { updated_at: new Date(begun + 2 * HOUR_MS).toISOString() });
  await once(await start(), 'exit');
  expect((await linkedItems(harness)).toSorted()).toEqual(
    Array.from({ length: 8 }, (_, n) => `octo/shop#${300 * n + 8}`).toSorted(),
  );
  expect([early < 8, (await tasksOf(harness)).length]).toEqual([true, 8]);
});

test('an issue whose task the service refuses keeps no other from being read, and becomes a task later', async () => {
  const harness = await openPolling('createTasks: true');
  const { github } = harness;
  const begun = Date.now();
  const after = (hours: number) => new Date(begun + hours * HOUR_MS);
  await harness.sync();
  const refused = newIssue(harness, 'refused');
  Object.assign(refused ?? {}, { title: 'Refused', created_at: after(1).toISOString() });
  let isRefusing = true;
  harness.front.set(async (request, pass) => {
    const isRefused = isRefusing && request.path.endsWith('/tasks/create') && request.body.includes('Refused');
    return isRefused ? { status: 422, body: { status: false, message: 'not this one' } } : pass();
  });
  github.vendor.serverTime = after(2);
  await harness.sync();
  expect(await tasksOf(harness)).toEqual([]);
  Object.assign(newIssue(harness, 'new') ?? {}, { created_at: after(3).toISOString() });
  github.vendor.serverTime = after(4);
  await harness.sync();
  expect(await linkedItems(harness)).toEqual(['octo/shop#2']);
  expect(Date.parse(github.vendor.requests.at(-1)?.query.get('since') ?? '')).toBeGreaterThan(after(1).getTime());
  isRefusing = false;
  await harness.sync();
  expect((await linkedItems(harness)).toSorted()).toEqual(['octo/shop#1', 'octo/shop#2']);
});

/** A sync that polls the target of issues, with these settings of the target. */
async function openPolling(issueKeys: string, targets = '[issues]'): Promise<ReportsHarness> {
  const harness = await openReportsHarness({ targets, issueKeys, options: '{ poll: [issues] }' });
  onTestFinished(() => harness.close());
  return harness;
}

/** From now on, this process runs nothing. The result starts the sync, and a program that runs it. */
async function leaveToPrograms(harness: ReportsHarness) {
  await harness.stopWorking();
  const { startSync } = await harness.anotherWorkspace();
  return async () => {
    await startSync('mirror', { lane: 'batch', dryRun: false });
    return harness.startProgram(PROGRAM);
  };
}

/** An issue that a person has just created. */
function newIssue({ github }: ReportsHarness, body: string) {
  github.put(false);
  const issue = github.issues.at(-1);
  return issue && Object.assign(issue, { body, created_at: new Date().toISOString() });
}

async function tasksOf({ database }: ReportsHarness) {
  const found = await database.pool.query<{ id: number; taskName: string; description: string; isCompleted: boolean }>(
    `select id, fields->>'taskName' as "taskName", fields->>'description' as description,
       fields->'isCompleted' = 'true' as "isCompleted" from service.tasks order by id`,
  );
  return found.rows;
}

async function linkedItems({ database }: ReportsHarness) {
  const found = await database.pool.query<{ id: string }>('select record_id as id from ledger.links');
  return found.rows.map(({ id }) => id);
}
