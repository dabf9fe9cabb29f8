/** Subtasks and cards of pipelines as sources of changes. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openTasksHarness, type TasksHarness } from '../support/harness/tasks.ts';

describe('subtasks', () => {
  let harness: TasksHarness;
  beforeAll(async () => {
    harness = await openTasksHarness({ options: '{ subtasks: true, subtasksShare: 0.1 }' });
  });
  beforeEach(() => harness.reset());
  afterAll(() => harness.close());
  const addSubtask = (taskId: number, name: string) =>
    harness.call('subtasks.create', { task_id: taskId, item_name: name });
  const completeSubtask = (taskId: number, id: number) =>
    harness.call('subtasks.update', { id, isCompleted: true }, taskId);

  test('are read for a share of the tasks at a time, those that have waited longest first', async () => {
    await harness.addTasks(20);
    await addSubtask(3, 'Measure');
    const first = await harness.scan();
    expect([first.calls['subtasks.getall'], first.changes]).toEqual([2, []]);
    expect((await harness.scan()).counts).toEqual({ in: 21, unchanged: 21 }); // it was the turn of tasks 3 and 4
    await completeSubtask(3, 1);
    for (let scans = 0; scans < 9; scans++) expect((await harness.scan()).changes).toEqual([]);
    const turn = await harness.scan();
    expect([turn.changes, turn.calls['subtasks.getall']]).toEqual([['subtask 1 completed v2'], 2]);
  });

  test('of a changed task are read at once', async () => {
    await harness.addTasks(20);
    await addSubtask(15, 'Measure');
    for (let scans = 0; scans < 10; scans++) await harness.scan();
    await completeSubtask(15, 1);
    await harness.complete(15);
    const scanned = await harness.scan();
    expect(scanned.changes).toEqual(['subtask 1 completed v2', 'task 15 completed v2']);
    expect(scanned.run.notes).toContain('read the subtasks of 3 tasks');
    const sent = await harness.database.pool.query(`select task from ledger.deliveries where kind = 'subtask'`);
    expect(sent.rows).toMatchObject([
      { task: { kind: 'subtask', title: 'Measure', parentId: '15', isCompleted: true } },
    ]);
  });

  test('of a new task are as new as the task', async () => {
    await harness.addTasks(20);
    await harness.scan();
    await harness.addTasks(1);
    await addSubtask(21, 'Measure');
    expect((await harness.scan()).changes).toEqual(['subtask 1 created v1', 'task 21 created v1']);
  });

  test('are gone after two answers without them, and with their task', async () => {
    await harness.addTasks(2);
    for (const [task, name] of [
      [1, 'A'],
      [1, 'B'],
      [2, 'C'],
    ] as const)
      await addSubtask(task, name);
    for (let scans = 0; scans < 3; scans++) await harness.scan();
    await harness.database.pool.query('delete from service.subtasks where id = 1');
    const missed: string[] = [];
    for (let scans = 0; scans < 3; scans++) missed.push(...(await harness.scan()).changes);
    expect(missed).toEqual(['subtask 1 gone v2']);
    await harness.remove('task', 2);
    await harness.scan();
    expect((await harness.scan()).changes).toEqual(['subtask 3 gone v2', 'task 2 gone v2']);
  });

  test('are no longer asked for once five tasks in a row are refused', async () => {
    await harness.addTasks(200);
    const refused = new Set<string>();
    harness.front.set(async (request, pass) => {
      if (!request.path.endsWith('/getSubTasks')) return pass();
      refused.add(request.path);
      return { status: 404, body: '{"message":"no subtasks here"}' };
    });
    const { run } = await harness.scan();
    harness.front.set();
    expect([refused.size, run.notes]).toEqual([5, expect.arrayContaining(['read the subtasks of 5 tasks'])]);
    expect(run.notes.join()).toContain('not all subtasks could be read: ');
  });
});

describe('cards', () => {
  let harness: TasksHarness;
  beforeAll(async () => {
    harness = await openTasksHarness({ options: '{ pipelines: true, doneColumns: [WON] }' });
  });
  beforeEach(() => harness.reset());
  afterAll(() => harness.close());
  const board = {
    name: 'Sales',
    columns: [{ name: 'Lead', cards: [{ title: 'A' }, { title: 'B' }] }, { name: 'Talks' }, { name: 'Won' }],
  };
  const move = (card_id: number, column_id: number) => harness.call('pipelines.moveCard', { card_id, column_id });

  test('report where they move: on, into a done column, and out of it', async () => {
    await harness.pipeline(board);
    expect((await harness.scan()).counts).toEqual({ in: 2, unchanged: 2 });
    await move(1, 2);
    expect((await harness.scan()).changes).toEqual(['card 1 changed v2']);
    await move(1, 3);
    expect((await harness.scan()).changes).toEqual(['card 1 completed v3']);
    await move(1, 1);
    expect((await harness.scan()).changes).toEqual(['card 1 reopened v4']);
    const sent = await harness.database.pool.query('select task from ledger.deliveries where sequence = 3');
    expect(sent.rows).toMatchObject([{ task: { title: 'A', status: 'Won', parentId: '1', isCompleted: true } }]);
  });

  test('of a new pipeline are created, and cards that two scans miss are gone', async () => {
    await harness.pipeline(board);
    await harness.scan();
    await harness.pipeline({ name: 'Service', columns: [{ name: 'Won', cards: [{ title: 'C' }] }] });
    expect((await harness.scan()).changes).toEqual(['card 3 completed v1']);
    await harness.database.pool.query('delete from service.cards where id = 2');
    expect((await harness.scan()).changes).toEqual([]);
    expect((await harness.scan()).changes).toEqual(['card 2 gone v2']);
  });
});
