/** Scans of tasks at services that fill the contract's gaps in other ways. */
import { describe, expect, onTestFinished, test } from 'vitest';
import type { BehaviourOptions } from '../../src/service/testbed/behaviour.ts';
import { openTasksHarness, type TasksHarness } from '../support/harness/tasks.ts';
import { startHttpServer } from '../support/http-server.ts';

async function harnessWith(options: Parameters<typeof openTasksHarness>[0]): Promise<TasksHarness> {
  const harness = await openTasksHarness(options);
  onTestFinished(() => harness.close());
  return harness;
}

const WAYS: readonly (readonly [string, BehaviourOptions])[] = [
  [
    'that lists the newest first, whose pages begin at 1 and have the list deeper, under one prefix, with errors as web pages',
    {
      order: 'newest',
      tasksFirstPage: 1,
      listShape: { path: 'result.page.tasks' },
      errors: 'html',
      prefixes: ['/v1'],
    },
  ],
  ['that answers everything on every page', { ignorePaging: true, ignoreRowsPerPage: true }],
  [
    'that answers bare, and errors with HTTP 200, writes 0 and 1, and ids as text under other names',
    { listShape: 'bare', errors: 'envelope200', booleans01: true, idField: 'kind_id', idType: 'string' },
  ],
];

describe('a service', () => {
  test.each(WAYS)('%s: reports every change once', async (_what, behaviour) => {
    const harness = await harnessWith({ behaviour: { defaultRowsPerPage: 10, ...behaviour } });
    await harness.addTasks(23);
    const first = await harness.scan();
    expect([first.run.error, first.run.scan, first.counts]).toEqual([undefined, 'weak', { in: 23, unchanged: 23 }]);
    await harness.complete(11);
    await harness.remove('task', 20);
    expect((await harness.scan()).changes).toEqual(['task 11 completed v2']);
    await harness.addTasks(1);
    expect((await harness.scan()).changes).toEqual(['task 20 gone v2', 'task 24 created v1']);
    expect((await harness.scan()).changes).toEqual([]);
  });

  test('whose order changes all the time: the scan is unproven, reports changes, and calls no task gone', async () => {
    const harness = await harnessWith({ behaviour: { defaultRowsPerPage: 10, order: 'unstable' } });
    await harness.addTasks(120);
    expect((await harness.scan()).run.scan).toBe('unproven');
    await harness.database.pool.query(
      `update ledger.tasks set missed = 5; update service.tasks set fields = fields || '{"isCompleted": true}'`,
    );
    await harness.remove('task', 7);
    const scanned = await harness.scan();
    expect(scanned.run.scan).toBe('unproven');
    expect(scanned.changes.filter((change) => change.endsWith('completed v2')).length).toBeGreaterThan(60);
    expect(scanned.changes.filter((change) => change.includes('gone'))).toEqual([]);
  });
});

describe('a service of another vendor', () => {
  async function scanOf(record: Record<string, unknown>) {
    const server = await startHttpServer(({ path, query }) => {
      if (path.endsWith('/getall')) return { body: query.get('page') === '0' ? [record] : [] };
      return { status: 404 };
    });
    onTestFinished(() => server.close());
    return (await harnessWith({ serviceUrl: server.url, options: '{ backfill: true }' })).scan();
  }

  test('that shows completion by a word', async () => {
    const { changes } = await scanOf({ taskId: 'a-1', title: 'One', status: 'Done' });
    expect(changes).toEqual(['task a-1 completed v1']);
  });

  test('that does not show completion: its tasks are open, and the run says so', async () => {
    const { changes, run } = await scanOf({ id: 1, title: 'One' });
    expect(changes).toEqual(['task 1 created v1']);
    expect(run.notes).toContain('some tasks have no completion flag, and count as open');
  });

  test('that shows completion under an unknown name: the run fails before it keeps anything, and names the setting', async () => {
    const { run, changes } = await scanOf({ id: 1, title: 'One', task_done_yn: true });
    expect([run.status, run.errorCode, changes]).toEqual(['failed', 'SERVICE_UNREADABLE', []]);
    expect(run.error).toMatch(
      /"task_done_yn" looks like one\. If it is one, set accounts\.\w+\.dialect\.members\.tasks\.isCompleted to task_done_yn/,
    );
  });

  test('that shows completion in an unknown way: the run fails and says how', async () => {
    const { run } = await scanOf({ id: 1, title: 'One', isCompleted: 'perhaps' });
    expect([run.status, run.errorCode]).toEqual(['failed', 'SERVICE_UNREADABLE']);
    expect(run.error).toMatch(/has the completion "perhaps", which Lockstep cannot read as completed or open/);
  });

  test('whose tasks show no text: they are not treated as other tasks', async () => {
    const server = await startHttpServer(({ path, query }) => {
      if (!path.endsWith('/getall')) return { status: 404 };
      return { body: query.get('page') === '0' ? [1, 2, 3, 4].map((id) => ({ id, isCompleted: false })) : [] };
    });
    onTestFinished(() => server.close());
    const harness = await harnessWith({ serviceUrl: server.url });
    for (let scan = 0; scan < 2; scan++) expect((await harness.scan()).counts).toEqual({ in: 4, unchanged: 4 });
  });

  test('whose tasks carry no known id: the run fails and names the setting', async () => {
    const { run } = await scanOf({ number: 1, title: 'One' });
    expect([run.status, run.errorCode]).toEqual(['failed', 'SERVICE_UNREADABLE']);
    expect(run.error).toMatch(/dialect\.idField\.tasks/);
  });

  test('whose first scan is unproven: tasks it missed are no change once the list is read completely', async () => {
    const pages: { at: (page: number) => number[] } = { at: (page) => [1, 2, 3].map((n) => Math.min(2, page) * 3 + n) };
    const completed = new Set<number>();
    const server = await startHttpServer(({ path, query }) => {
      if (!path.endsWith('/getall')) return { status: 404 };
      const ids = pages.at(Number(query.get('page')));
      return { body: ids.map((id) => ({ id, taskName: `Task ${id}`, isCompleted: completed.has(id) })) };
    });
    onTestFinished(() => server.close());
    const harness = await harnessWith({ serviceUrl: server.url });
    const first = await harness.scan(); // tasks 1 to 9, again and again
    expect([first.run.scan, first.changes]).toEqual(['unproven', []]);
    const all = Array.from({ length: 20 }, (_, i) => i + 1);
    pages.at = (page) => all.slice(page * 7, page * 7 + 7);
    completed.add(4);
    const second = await harness.scan();
    expect([second.run.scan, second.changes]).toEqual(['weak', ['task 4 completed v2']]);
    expect(second.run.notes.join()).toContain('no scan has been complete yet');
    all.push(21);
    expect((await harness.scan()).changes).toEqual(['task 21 created v1']);
  });

  test('whose list has no end: the scan is unproven', async () => {
    const server = await startHttpServer(({ query }) => {
      const page = Math.min(4, Number(query.get('page')));
      return { body: [1, 2, 3].map((n) => ({ id: page * 3 + n, taskName: 'x', isCompleted: false })) };
    });
    onTestFinished(() => server.close());
    const harness = await harnessWith({ serviceUrl: server.url });
    expect((await harness.scan()).run.scan).toBe('unproven');
  });
});
