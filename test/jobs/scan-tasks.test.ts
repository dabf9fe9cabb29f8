/** Tasks over several scans, against the embedded service. */
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { noteStateHere } from '../../src/mirror/tasks/note-state.ts';
import { openTasksHarness, type TasksHarness } from '../support/harness/tasks.ts';

test('a change that its target does not receive leaves a waiting completion as it is', async () => {
  const harness = await openTasksHarness({ filter: 'events: [created, completed]' });
  onTestFinished(() => harness.close());
  await harness.addTasks(1);
  await harness.scan();
  await harness.complete(1);
  await harness.scan();
  await harness.update(1, { taskName: 'Renamed' });
  await harness.scan();
  const found = await harness.database.pool.query(
    'select event, state, reason from ledger.deliveries order by sequence',
  );
  expect(found.rows).toEqual([
    { event: 'completed', state: 'waiting', reason: null },
    { event: 'changed', state: 'ended', reason: 'FILTERED' },
  ]);
});

describe('a sync of tasks', () => {
  let harness: TasksHarness;
  beforeAll(async () => {
    harness = await openTasksHarness({ behaviour: { defaultRowsPerPage: 10 } });
  });
  beforeEach(() => harness.reset());
  afterAll(() => harness.close());

  test('takes its first scan as the baseline, and then reports nothing while nothing changes', async () => {
    await harness.addTasks(25);
    const first = await harness.scan();
    expect([first.run.status, first.run.error, first.run.scan]).toEqual(['done', undefined, 'weak']);
    expect([first.changes, first.counts]).toEqual([[], { in: 25, unchanged: 25 }]);
    expect(first.run.notes).toContain(
      'the first scan is the baseline: its tasks are not delivered (to deliver them, set options.backfill: true)',
    );
    const written = () =>
      harness.database.pool.query('select task_id, version, xmin::text from ledger.tasks order by 1');
    const before = (await written()).rows;
    const second = await harness.scan();
    expect([second.changes, second.counts, second.run.scan]).toEqual([[], { in: 25, unchanged: 25 }, 'weak']);
    expect((await written()).rows).toEqual(before); // not a row of it was written
    expect([first.calls, second.calls]).toEqual([{ 'tasks.getall': 8 }, { 'tasks.getall': 4 }]);
  });

  test('takes an empty list as a baseline as well: the next new task is created', async () => {
    expect((await harness.scan()).counts).toEqual({});
    await harness.addTasks(1);
    expect((await harness.scan()).changes).toEqual(['task 1 created v1']);
  });

  test('reports created, completed, changed and reopened tasks, each once', async () => {
    await harness.addTasks(25);
    await harness.scan();
    await harness.complete(3);
    await harness.update(4, { taskName: 'Renamed' });
    await harness.addTasks(1);
    const second = await harness.scan();
    expect(second.changes).toEqual(['task 3 completed v2', 'task 4 changed v2', 'task 26 created v1']);
    expect(second.counts).toEqual({ in: 26, unchanged: 23, unknown: 3 });
    expect(await harness.rows(second.run)).toMatchObject([
      { sourceId: 'task:3', label: 'Task 3', facts: { event: 'completed' }, action: null },
      { sourceId: 'task:4', label: 'Renamed', facts: { event: 'changed' } },
      { sourceId: 'task:26', facts: { event: 'created' } },
    ]);
    await harness.complete(3, false);
    expect((await harness.scan()).changes).toEqual(['task 3 reopened v3']);
    expect((await harness.scan()).changes).toEqual([]);
  });

  test('calls it completed where more than the status has changed, and the state holds all of it', async () => {
    await harness.addTasks(1);
    await harness.scan();
    await harness.update(1, { taskName: 'Renamed', isCompleted: true, endDate: '2026-11-30T17:00:00' });
    expect((await harness.scan()).changes).toEqual(['task 1 completed v2']);
    const found = await harness.database.pool.query<{ task: object }>('select task from ledger.deliveries');
    expect(found.rows[0]?.task).toMatchObject({
      kind: 'task',
      id: '1',
      title: 'Renamed',
      status: 'completed',
      isCompleted: true,
      isGone: false,
      endDate: '2026-11-30T17:00:00',
    });
  });

  test('calls a task gone after the second scan that misses it and not before', async () => {
    await harness.addTasks(25);
    await harness.scan();
    await harness.remove('task', 7);
    const missed = await harness.scan();
    expect([missed.changes, missed.counts, missed.run.scan]).toEqual([[], { in: 24, unchanged: 24 }, 'weak']);
    const gone = await harness.scan();
    expect([gone.changes, gone.counts]).toEqual([['task 7 gone v2'], { in: 25, unchanged: 24, unknown: 1 }]);
    expect((await harness.scan()).changes).toEqual([]);
  });

  test('finds a task by its id that the list does not show, and never calls it gone', async () => {
    await harness.addTasks(25);
    await harness.scan();
    harness.front.set(async (request, pass) => {
      const reply = await pass();
      return request.path.endsWith('/getall') ? { ...reply, body: without(String(reply.body), 7) } : reply;
    });
    await harness.complete(7);
    expect((await harness.scan()).changes).toEqual(['task 7 completed v2']);
    for (const _scan of [1, 2]) expect((await harness.scan()).changes).toEqual([]);
  });

  test('calls nothing gone at a service that finds no task by its id', async () => {
    await harness.addTasks(25);
    await harness.scan();
    harness.front.set(async (request, pass) => (request.path.endsWith('/getTaskById') ? { status: 404 } : pass()));
    await harness.remove('task', 7);
    for (const _scan of [1, 2, 3]) expect((await harness.scan()).changes).toEqual([]);
    harness.front.set();
    expect((await harness.scan()).changes).toEqual(['task 7 gone v2']);
  });

  test('calls nothing gone while the list is empty, and says so', async () => {
    await harness.addTasks(25);
    await harness.scan();
    let isEmpty = true;
    harness.front.set(async (request, pass) => {
      if (!isEmpty || !/\/(getall|getTaskById)$/.test(request.path)) return pass();
      return {
        status: 200,
        body: { status: true, message: '', content: request.path.endsWith('/getall') ? [] : null },
      };
    });
    const said =
      'the list of tasks is empty, and 25 tasks were in it before: none of them is treated as gone until the list shows a task again';
    for (const _scan of [1, 2, 3]) {
      const { changes, run } = await harness.scan();
      expect([changes, run.notes.filter((note) => note === said)]).toEqual([[], [said]]);
    }
    isEmpty = false;
    expect((await harness.scan()).changes).toEqual([]);
    for (let id = 3; id <= 25; id++) await harness.remove('task', id);
    await harness.scan();
    expect((await harness.scan()).changes).toHaveLength(23);
    for (const id of [1, 2]) await harness.remove('task', id);
    await harness.scan();
    expect((await harness.scan()).changes).toEqual(['task 1 gone v2', 'task 2 gone v2']);
  });

  test('reports a task that is back after it was gone', async () => {
    await harness.addTasks(3);
    await harness.scan();
    let isHidden = true;
    harness.front.set(async (request, pass) => {
      const reply = await pass();
      if (!isHidden) return reply;
      if (request.query.get('id') === '2') return { status: 404, body: { status: 'error', message: 'no such task' } };
      return request.path.endsWith('/getall') ? { ...reply, body: without(String(reply.body), 2) } : reply;
    });
    await harness.scan();
    expect((await harness.scan()).changes).toEqual(['task 2 gone v2']);
    isHidden = false;
    expect((await harness.scan()).changes).toEqual(['task 2 reopened v3']);
  });

  test('loses nothing when tasks are added and removed during the read', async () => {
    await harness.addTasks(60);
    await harness.scan();
    for (const id of [15, 45]) await harness.complete(id);
    let pages = 0;
    harness.front.set(async (request, pass) => {
      if (request.path.endsWith('/getall') && ++pages === 3)
        for (const id of [1, 2, 3, 4, 5]) await harness.remove('task', id);
      if (request.path.endsWith('/getall') && pages === 4) await harness.addTasks(1);
      return pass();
    });
    const torn = await harness.scan();
    harness.front.set();
    expect([torn.run.scan, Number(torn.calls['tasks.get'])]).toEqual(['weak', 6]); // five had moved, and one exists
    const [next, last] = [await harness.scan(), await harness.scan()];
    expect([...torn.changes, ...next.changes]).toEqual([
      'task 15 completed v2',
      'task 45 completed v2',
      'task 61 created v1',
    ]);
    expect(last.changes).toEqual([1, 2, 3, 4, 5].map((id) => `task ${id} gone v2`));
  });

  test('a dry run reports what it would deliver, and keeps nothing', async () => {
    await harness.addTasks(12);
    await harness.scan();
    await harness.complete(3);
    await harness.addTasks(1);
    const before = await harness.versions();
    const dry = await harness.scan({ dryRun: true });
    expect([dry.changes, dry.counts]).toEqual([[], { in: 13, created: 1, updated: 1, unchanged: 11 }]);
    expect(await harness.rows(dry.run)).toMatchObject([
      { sourceId: 'task:3', verdict: 'updated', reason: 'PLANNED', facts: { event: 'completed' } },
      { sourceId: 'task:13', verdict: 'created', reason: 'PLANNED', facts: { event: 'created' } },
    ]);
    expect(await harness.versions()).toEqual(before);
    expect((await harness.scan()).changes).toEqual(['task 3 completed v2', 'task 13 created v1']);
  });

  test('a dry run reports what would be gone, and does not count as a scan that misses it', async () => {
    await harness.addTasks(3);
    await harness.scan();
    await harness.remove('task', 2);
    for (const _scan of [1, 2]) expect((await harness.scan({ dryRun: true })).counts).toEqual({ in: 2, unchanged: 2 });
    await harness.scan();
    const dry = await harness.scan({ dryRun: true });
    expect(await harness.rows(dry.run)).toMatchObject([
      { sourceId: 'task:2', verdict: 'updated', facts: { event: 'gone' } },
    ]);
    expect((await harness.scan()).changes).toEqual(['task 2 gone v2']);
  });

  test('ignores noted changes that Lockstep made itself', async () => {
    await harness.addTasks(2);
    await harness.scan();
    const scope = { scope: 'test', sync: 'mirror' };
    const state = {
      kind: 'task',
      id: '2',
      title: 'Task 2',
      description: '',
      status: 'completed',
      isCompleted: true,
      isGone: false,
      startDate: undefined,
      endDate: undefined,
      parentId: undefined,
    } as const;
    await harness.complete(2);
    const noted = await noteStateHere(harness.database.pool, scope, state, 'hook');
    expect(noted).toEqual({ status: 'noted', event: 'completed', version: 2 });
    expect(await noteStateHere(harness.database.pool, scope, state, 'hook')).toEqual({ status: 'unchanged' });
    expect((await harness.scan()).changes).toEqual([]);
  });

  test('trusts a change noted while a page was being read more than the page', async () => {
    await harness.addTasks(2);
    await harness.scan();
    harness.front.set(async (request, pass) => {
      const stale = await pass();
      if (request.query.get('page') === '0') {
        const found = await harness.database.pool.query('select state from ledger.tasks where task_id = $1', ['2']);
        const state = { ...found.rows[0].state, isCompleted: true, status: 'completed' };
        await noteStateHere(harness.database.pool, { scope: 'test', sync: 'mirror' }, state, 'hook');
      }
      return stale;
    });
    expect((await harness.scan()).changes).toEqual([]);
    expect(await harness.versions()).toEqual({ 1: 1, 2: 2 });
  });
});

describe('the settings say', () => {
  test('backfill delivers what the first scan finds, once', async () => {
    const harness = await openTasksHarness({ options: '{ backfill: true }' });
    onTestFinished(() => harness.close());
    await harness.addTasks(3);
    await harness.complete(2);
    const first = await harness.scan();
    expect(first.changes).toEqual(['task 1 created v1', 'task 2 completed v1', 'task 3 created v1']);
    expect((await harness.scan()).changes).toEqual([]);
  });
});

/** The list without one of its tasks. */
function without(body: string, id: number): unknown {
  const answer = JSON.parse(body);
  return { ...answer, content: answer.content.filter((task: { id: number }) => task.id !== id) };
}
