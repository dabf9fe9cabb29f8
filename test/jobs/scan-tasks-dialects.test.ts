/** Scans of tasks at services that fill the contract's gaps in other ways. */
import { describe, expect, onTestFinished, test } from 'vitest';
import type { BehaviourOptions } from '../../src/service/behaviour.ts';
import { startHttpServer } from '../support/http-server.ts';
import { openTasksBed, type TasksBed } from '../tasks/tasks-bed.ts';

async function bedWith(options: Parameters<typeof openTasksBed>[0]): Promise<TasksBed> {
  const bed = await openTasksBed(options);
  onTestFinished(() => bed.close());
  return bed;
}

const WAYS: readonly (readonly [string, BehaviourOptions])[] = [
  ['whose pages begin at 1', { tasksFirstPage: 1 }],
  ['that lists the newest first', { order: 'newest' }],
  ['that lists the newest first and whose pages begin at 1', { order: 'newest', tasksFirstPage: 1 }],
  ['that answers everything on every page', { ignorePaging: true, ignoreRowsPerPage: true }],
  ['that writes 0 and 1', { booleans01: true }],
  ['with ids as text under other names', { idField: 'kind_id', idType: 'string' }],
  ['whose list stands deeper', { listShape: { path: 'result.page.tasks' } }],
  ['that answers bare, and errors with HTTP 200', { listShape: 'bare', errors: 'envelope200' }],
  ['that answers errors as web pages', { errors: 'html' }],
  ['under one prefix only', { prefixes: ['/v1'] }],
];

describe('a service', () => {
  test.each(WAYS)('%s: every change is told of once', async (_what, behaviour) => {
    const bed = await bedWith({ behaviour: { defaultRowsPerPage: 10, ...behaviour } });
    await bed.addTasks(23);
    const first = await bed.scan();
    expect([first.run.error, first.run.scan, first.counts]).toEqual([undefined, 'weak', { in: 23, unchanged: 23 }]);
    await bed.complete(11);
    await bed.remove(20);
    expect((await bed.scan()).changes).toEqual(['task 11 completed v2']);
    await bed.addTasks(1);
    expect((await bed.scan()).changes).toEqual(['task 20 gone v2', 'task 24 created v1']);
    expect((await bed.scan()).changes).toEqual([]);
  });

  test('whose order never holds still: the scan is unproven, tells of changes, and calls nothing gone', async () => {
    const bed = await bedWith({ behaviour: { defaultRowsPerPage: 10, order: 'unstable' } });
    await bed.addTasks(400);
    expect((await bed.scan()).run.scan).toBe('unproven');
    await bed.database.pool.query(
      `update ledger.tasks set missed = 5; update service.tasks set fields = fields || '{"isCompleted": true}'`,
    );
    await bed.remove(7);
    const scanned = await bed.scan();
    expect(scanned.run.scan).toBe('unproven');
    expect(scanned.changes.filter((change) => change.endsWith('completed v2')).length).toBeGreaterThan(200);
    expect(scanned.changes.filter((change) => change.includes('gone'))).toEqual([]);
  });
});

describe('a service of another make', () => {
  async function scanOf(record: Record<string, unknown>) {
    const server = await startHttpServer(({ path, query }) => {
      if (path.endsWith('/getall')) return { body: query.get('page') === '0' ? [record] : [] };
      return { status: 404 };
    });
    onTestFinished(() => server.close());
    return (await bedWith({ serviceUrl: server.url, options: '{ backfill: true }' })).scan();
  }

  test('that tells completion by a word', async () => {
    const { changes } = await scanOf({ taskId: 'a-1', title: 'One', status: 'Done' });
    expect(changes).toEqual(['task a-1 completed v1']);
  });

  test('that tells no completion at all: its tasks are open, and the run says so', async () => {
    const { changes, run } = await scanOf({ id: 1, title: 'One' });
    expect(changes).toEqual(['task 1 created v1']);
    expect(run.notes).toContain('some tasks do not say whether they are completed, and count as open');
  });

  test('that tells completion in a way nobody understands: the run fails and says how', async () => {
    const { run } = await scanOf({ id: 1, title: 'One', isCompleted: 'perhaps' });
    expect([run.status, run.errorCode]).toEqual(['failed', 'SERVICE_UNREADABLE']);
    expect(run.error).toMatch(/says isCompleted: "perhaps", and nobody can tell whether that is completed/);
  });

  test('whose tasks carry no id that is known: the run fails and names the setting', async () => {
    const { run } = await scanOf({ number: 1, title: 'One' });
    expect([run.status, run.errorCode]).toEqual(['failed', 'SERVICE_UNREADABLE']);
    expect(run.error).toMatch(/dialect\.idField\.tasks/);
  });

  test('whose first scan is unproven: what it has missed is no change once the list is read whole', async () => {
    const pages: { at: (page: number) => number[] } = { at: (page) => [1, 2, 3].map((n) => Math.min(2, page) * 3 + n) };
    const completed = new Set<number>();
    const server = await startHttpServer(({ path, query }) => {
      if (!path.endsWith('/getall')) return { status: 404 };
      const ids = pages.at(Number(query.get('page')));
      return { body: ids.map((id) => ({ id, taskName: `Task ${id}`, isCompleted: completed.has(id) })) };
    });
    onTestFinished(() => server.close());
    const bed = await bedWith({ serviceUrl: server.url });
    const first = await bed.scan(); // tasks 1 to 9, again and again
    expect([first.run.scan, first.changes]).toEqual(['unproven', []]);
    const all = Array.from({ length: 20 }, (_, i) => i + 1);
    pages.at = (page) => all.slice(page * 7, page * 7 + 7);
    completed.add(4);
    const second = await bed.scan();
    expect([second.run.scan, second.changes]).toEqual(['weak', ['task 4 completed v2']]);
    expect(second.run.notes.join()).toContain('no scan has been complete yet');
    all.push(21);
    expect((await bed.scan()).changes).toEqual(['task 21 created v1']);
  });

  test('whose list has no end: the scan is unproven', async () => {
    const server = await startHttpServer(({ query }) => {
      const page = Math.min(4, Number(query.get('page')));
      return { body: [1, 2, 3].map((n) => ({ id: page * 3 + n, taskName: 'x', isCompleted: false })) };
    });
    onTestFinished(() => server.close());
    const bed = await bedWith({ serviceUrl: server.url });
    expect((await bed.scan()).run.scan).toBe('unproven');
  });
});
