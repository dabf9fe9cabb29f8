import { afterAll, expect, onTestFinished, test } from 'vitest';
import { MAX_CALLS } from '../../../src/operator/doctor/examine.ts';
import type { BehaviourOptions } from '../../../src/service/testbed/behaviour.ts';
import { TEST_KEY } from '../../support/harness/harness.ts';
import { startHttpServer } from '../../support/http-server.ts';
import { examineAt, findingIn, openDoctorHarness } from './doctor-harness.ts';

const harness = await openDoctorHarness(60);
afterAll(() => harness.close());

type Seen = readonly [gap: string, found: RegExp];

const DIALECTS: readonly (readonly [behaviour: BehaviourOptions, writes: number, ...seen: Seen[]])[] = [
  [
    {},
    4,
    ['write-answers', /an envelope without an id/],
    ['import-body', /^\{"contact_id":"\$id"\} creates/],
    ['import-link', /^contact_id of a customer/],
    ['import-mapping', /^copied: full_name .* and email/],
    ['complete-method', /^PUT completes/],
    ['completion-default', /^a new task is open/],
    ['hidden-marker', /an HTML comment and zero-width letters/],
    ['read-after-write', /immediately/],
  ],
  [
    { createAnswers: 'nothing', importBody: 'id' },
    4,
    ['write-answers', /nothing$/],
    ['import-body', /^\{"id":"\$id"\}/],
  ],
  [
    { createAnswers: 'id', importBody: 'contact_ids' },
    4,
    ['write-answers', /its id$/],
    ['import-body', /^\{"contact_ids"/],
  ],
  [
    { createAnswers: 'record', completeMethods: ['GET'] },
    4,
    ['write-answers', /the record$/],
    ['complete-method', /^GET/],
  ],
  [
    { importBody: 'refused-400' },
    3,
    ['import-body', /^no form created a customer/],
    ['import-or-create', /did not work/],
  ],
  [{ importBody: 'refused-404', errors: 'html' }, 3, ['import-or-create', /did not work/]],
  [
    { order: 'newest', idType: 'string', idField: 'kind_id' },
    4,
    ['import-link', /contact_id/],
    ['complete-method', /^PUT/],
  ],
  [{ readLagMs: 1_000 }, 4, ['read-after-write', /\d s\b/], ['import-body', /creates a customer/]],
  [{ tasksFirstPage: 1, defaultRowsPerPage: 2 }, 4, ['complete-method', /^PUT/]],
];

const CASES = DIALECTS.map(([behaviour, committed, ...seen]) => [behaviour, committed, seen] as const);

test.each(CASES)('with --write-probes, of a service that is %j', async (behaviour, committed, seen) => {
  const { report, writes } = await harness.examine(behaviour, { writes: true });
  for (const [gap, found] of seen) expect(findingIn(report, gap)?.found).toMatch(found);
  expect([report.stopped, writes]).toEqual([undefined, committed]);
  expect(report.calls).toBeLessThanOrEqual(2 * MAX_CALLS);
  const kinds = committed === 4 ? ['contacts', 'customers', 'tasks'] : ['contacts', 'tasks'];
  expect(report.leftBehind.map(({ kind }) => kind)).toEqual(kinds);
  for (const { id, name, where } of report.leftBehind) {
    expect([id, name]).toEqual([
      expect.any(String),
      expect.stringMatching(/^Lockstep Doctor \(safe to delete\) \w{8}$/),
    ]);
    expect(where).toContain(name.slice(-8));
  }
});

test('a certain finding of a write becomes a setting', async () => {
  const { report } = await harness.examine({ importBody: 'id', completeMethods: ['GET'] }, { writes: true });
  expect(report.settings).toMatchObject({
    'accounts.demo.dialect.importBody': { id: '$id' },
    'accounts.demo.dialect.completeMethod': 'GET',
  });
});

test('lists a write whose answer is lost among the leftover records', async () => {
  const faults = { rate: 1, kinds: ['reset-after' as const], operations: ['contacts.create', 'tasks.create'] };
  const { report } = await harness.examine({ faults }, { writes: true });
  expect(findingIn(report, 'write-answers')?.found).toMatch(/^answer to a create: /);
  expect(report.leftBehind.map(({ kind, id }) => [kind, id !== undefined])).toEqual([
    ['contacts', true],
    ['customers', true],
    ['tasks', true],
  ]);
});

test('does not believe an import that is answered with 200 and makes nothing', async () => {
  const contacts: object[] = [];
  const customers: object[] = [];
  const server = await startHttpServer(({ path, headers, body }) => {
    if (headers.api_key !== TEST_KEY) return { status: 401 };
    const sent = body === '' ? {} : JSON.parse(body);
    if (path.endsWith('/contacts/create')) contacts.push({ id: 7, ...sent });
    if (path.endsWith('/customers/import') && sent.id === 7) customers.push({ ...contacts[0], id: 9 });
    if (path.includes('/contacts/')) return { body: contacts };
    return { body: path.endsWith('/customers/getall') ? customers : [] };
  });
  onTestFinished(() => server.close());
  const report = await examineAt(server.url, { writes: true });
  expect(findingIn(report, 'import-body')).toMatchObject({
    found: '{"id":"$id"} creates a customer',
    confidence: 'certain',
  });
  expect(report.leftBehind).toContainEqual(expect.objectContaining({ kind: 'customers', id: '9' }));
});

test('finds its test task on the last of several pages that begin at 1', async () => {
  const tasks: Record<string, unknown>[] = Array.from({ length: 5 }, (_, i) => ({ id: i + 1, taskName: `Task ${i}` }));
  const server = await startHttpServer(({ path, query, headers, body }) => {
    if (headers.api_key !== TEST_KEY) return { status: 401 };
    const task = tasks.find(({ id }) => String(id) === (/\d+(?=\/save)/.exec(path)?.[0] ?? query.get('id')));
    if (path.endsWith('/tasks/create')) tasks.push({ id: 6, isCompleted: false, ...JSON.parse(body) });
    if (path.endsWith('/saveCheckStatus')) Object.assign(task ?? {}, JSON.parse(body));
    if (path.endsWith('/getTaskById')) return task ? { body: task } : { status: 404 };
    if (path.endsWith('/contacts/create')) return { status: 405 };
    if (!path.endsWith('/tasks/getall')) return { body: [] };
    const from = (Number(query.get('page') ?? 1) - 1) * 2;
    return { body: from < 0 ? [] : tasks.slice(from, from + 2) };
  });
  onTestFinished(() => server.close());
  const report = await examineAt(server.url, { writes: true });
  expect(findingIn(report, 'complete-method')?.found).toBe('PUT completes a task');
});
