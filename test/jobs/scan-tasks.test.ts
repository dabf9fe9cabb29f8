/** The life of tasks over several scans, against the embedded service. */
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { noteStateHere } from '../../src/tasks/note-state.ts';
import { openTasksBed, type TasksBed } from '../tasks/tasks-bed.ts';

describe('a sync of tasks', () => {
  let bed: TasksBed;
  beforeAll(async () => {
    bed = await openTasksBed({ behaviour: { defaultRowsPerPage: 10 } });
  });
  beforeEach(() => bed.reset());
  afterAll(() => bed.close());

  test('takes its first scan for the baseline, and then tells of nothing while nothing changes', async () => {
    await bed.addTasks(25);
    const first = await bed.scan();
    expect([first.run.status, first.run.error, first.run.scan]).toEqual(['done', undefined, 'weak']);
    expect([first.changes, first.counts]).toEqual([[], { in: 25, unchanged: 25 }]);
    expect(first.run.notes).toContain(
      'the first scan is the baseline: nothing of it is delivered (options.backfill: true does)',
    );
    const written = () => bed.database.pool.query('select task_id, version, xmin::text from ledger.tasks order by 1');
    const before = (await written()).rows;
    const second = await bed.scan();
    expect([second.changes, second.counts, second.run.scan]).toEqual([[], { in: 25, unchanged: 25 }, 'weak']);
    expect((await written()).rows).toEqual(before); // not a row of it was written
    expect([first.calls, second.calls]).toEqual([{ 'tasks.getall': 6 }, { 'tasks.getall': 3 }]);
  });

  test('takes an empty list for a baseline as well: the task that comes next is created', async () => {
    expect((await bed.scan()).counts).toEqual({});
    await bed.addTasks(1);
    expect((await bed.scan()).changes).toEqual(['task 1 created v1']);
  });

  test('tells of what was created, completed, changed and reopened, each once', async () => {
    await bed.addTasks(25);
    await bed.scan();
    await bed.complete(3);
    await bed.update(4, { taskName: 'Renamed' });
    await bed.addTasks(1);
    const second = await bed.scan();
    expect(second.changes).toEqual(['task 3 completed v2', 'task 4 changed v2', 'task 26 created v1']);
    expect(second.counts).toEqual({ in: 26, unchanged: 23, unknown: 3 });
    expect(await bed.rows(second.run)).toMatchObject([
      { sourceId: 'task:3', label: 'Task 3', facts: { event: 'completed' }, action: null },
      { sourceId: 'task:4', label: 'Renamed', facts: { event: 'changed' } },
      { sourceId: 'task:26', facts: { event: 'created' } },
    ]);
    await bed.complete(3, false);
    expect((await bed.scan()).changes).toEqual(['task 3 reopened v3']);
    expect((await bed.scan()).changes).toEqual([]);
  });

  test('calls it completed where more than the status has changed, and the state holds all of it', async () => {
    await bed.addTasks(1);
    await bed.scan();
    await bed.update(1, { taskName: 'Renamed', isCompleted: true, endDate: '2026-11-30T17:00:00' });
    expect((await bed.scan()).changes).toEqual(['task 1 completed v2']);
    const found = await bed.database.pool.query<{ task: object }>('select task from ledger.deliveries');
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
    await bed.addTasks(25);
    await bed.scan();
    await bed.remove(7);
    const missed = await bed.scan();
    expect([missed.changes, missed.counts, missed.run.scan]).toEqual([[], { in: 24, unchanged: 24 }, 'weak']);
    const gone = await bed.scan();
    expect([gone.changes, gone.counts]).toEqual([['task 7 gone v2'], { in: 25, unchanged: 24, unknown: 1 }]);
    expect((await bed.scan()).changes).toEqual([]);
  });

  test('finds a task by its id that the list does not show, and never calls it gone', async () => {
    await bed.addTasks(25);
    await bed.scan();
    bed.between(async (request, pass) => {
      const reply = await pass();
      return request.path.endsWith('/getall') ? { ...reply, body: without(String(reply.body), 7) } : reply;
    });
    await bed.complete(7);
    expect((await bed.scan()).changes).toEqual(['task 7 completed v2']);
    for (const _scan of [1, 2]) expect((await bed.scan()).changes).toEqual([]);
  });

  test('calls nothing gone at a service that finds no task by its id', async () => {
    await bed.addTasks(25);
    await bed.scan();
    bed.between(async (request, pass) => (request.path.endsWith('/getTaskById') ? { status: 404 } : pass()));
    await bed.remove(7);
    for (const _scan of [1, 2, 3]) expect((await bed.scan()).changes).toEqual([]);
    bed.between();
    expect((await bed.scan()).changes).toEqual(['task 7 gone v2']);
  });

  test('tells of a task that is back after it was gone', async () => {
    await bed.addTasks(3);
    await bed.scan();
    let isHidden = true;
    bed.between(async (request, pass) => {
      const reply = await pass();
      if (!isHidden) return reply;
      if (request.query.get('id') === '2') return { status: 404, body: { status: 'error', message: 'no such task' } };
      return request.path.endsWith('/getall') ? { ...reply, body: without(String(reply.body), 2) } : reply;
    });
    await bed.scan();
    expect((await bed.scan()).changes).toEqual(['task 2 gone v2']);
    isHidden = false;
    expect((await bed.scan()).changes).toEqual(['task 2 reopened v3']);
  });

  test('loses nothing to tasks that are added and removed while it reads', async () => {
    await bed.addTasks(60);
    await bed.scan();
    for (const id of [15, 45]) await bed.complete(id);
    let pages = 0;
    bed.between(async (request, pass) => {
      if (request.path.endsWith('/getall') && ++pages === 3) for (const id of [1, 2, 3, 4, 5]) await bed.remove(id);
      if (request.path.endsWith('/getall') && pages === 4) await bed.addTasks(1);
      return pass();
    });
    const torn = await bed.scan();
    bed.between();
    expect([torn.run.scan, Number(torn.calls['tasks.get'])]).toEqual(['weak', 6]); // five had moved, and one that is there
    const [next, last] = [await bed.scan(), await bed.scan()];
    expect([...torn.changes, ...next.changes]).toEqual([
      'task 15 completed v2',
      'task 45 completed v2',
      'task 61 created v1',
    ]);
    expect(last.changes).toEqual([1, 2, 3, 4, 5].map((id) => `task ${id} gone v2`));
  });

  test('run dry: says what it would deliver, and keeps nothing', async () => {
    await bed.addTasks(12);
    await bed.scan();
    await bed.complete(3);
    await bed.addTasks(1);
    const before = await bed.versions();
    const dry = await bed.scan({ dryRun: true });
    expect([dry.changes, dry.counts]).toEqual([[], { in: 13, created: 1, updated: 1, unchanged: 11 }]);
    expect(await bed.rows(dry.run)).toMatchObject([
      { sourceId: 'task:3', verdict: 'updated', reason: 'PLANNED', facts: { event: 'completed' } },
      { sourceId: 'task:13', verdict: 'created', reason: 'PLANNED', facts: { event: 'created' } },
    ]);
    expect(await bed.versions()).toEqual(before);
    expect((await bed.scan()).changes).toEqual(['task 3 completed v2', 'task 13 created v1']);
  });

  test('run dry: says what would be gone, and does not count as a scan that misses it', async () => {
    await bed.addTasks(3);
    await bed.scan();
    await bed.remove(2);
    for (const _scan of [1, 2]) expect((await bed.scan({ dryRun: true })).counts).toEqual({ in: 2, unchanged: 2 });
    await bed.scan();
    const dry = await bed.scan({ dryRun: true });
    expect(await bed.rows(dry.run)).toMatchObject([
      { sourceId: 'task:2', verdict: 'updated', facts: { event: 'gone' } },
    ]);
    expect((await bed.scan()).changes).toEqual(['task 2 gone v2']);
  });

  test('sees no change in what was brought about here and noted', async () => {
    await bed.addTasks(2);
    await bed.scan();
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
    await bed.complete(2);
    const noted = await noteStateHere(bed.database.pool, scope, state, 'hook');
    expect(noted).toEqual({ status: 'noted', event: 'completed', version: 2 });
    expect(await noteStateHere(bed.database.pool, scope, state, 'hook')).toEqual({ status: 'unchanged' });
    expect((await bed.scan()).changes).toEqual([]);
  });

  test('believes what was noted while a page was on its way, and not the page', async () => {
    await bed.addTasks(2);
    await bed.scan();
    bed.between(async (request, pass) => {
      const stale = await pass();
      if (request.query.get('page') === '0') {
        const found = await bed.database.pool.query('select state from ledger.tasks where task_id = $1', ['2']);
        const state = { ...found.rows[0].state, isCompleted: true, status: 'completed' };
        await noteStateHere(bed.database.pool, { scope: 'test', sync: 'mirror' }, state, 'hook');
      }
      return stale;
    });
    expect((await bed.scan()).changes).toEqual([]);
    expect(await bed.versions()).toEqual({ 1: 1, 2: 2 });
  });
});

describe('the settings say', () => {
  test('backfill: what the first scan finds is delivered, once', async () => {
    const bed = await openTasksBed({ options: '{ backfill: true }' });
    onTestFinished(() => bed.close());
    await bed.addTasks(3);
    await bed.complete(2);
    const first = await bed.scan();
    expect(first.changes).toEqual(['task 1 created v1', 'task 2 completed v1', 'task 3 created v1']);
    expect((await bed.scan()).changes).toEqual([]);
  });
});

/** The list without one of its tasks. */
function without(body: string, id: number): unknown {
  const answer = JSON.parse(body);
  return { ...answer, content: answer.content.filter((task: { id: number }) => task.id !== id) };
}
