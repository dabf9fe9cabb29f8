/**
 * Services that answer nonsense, refuse everything or send endless answers: the run reports the problem and ends soon,
 * with few requests and bounded memory, and writes nothing.
 */
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Run, readRun } from '../../src/engine/ledger/runs.ts';
import { openContactsHarness } from '../support/harness/contacts.ts';
import { ended } from '../support/harness/ended.ts';
import { type Answer, type Reply, startHttpServer } from '../support/http-server.ts';

const MEGABYTE = 1024 * 1024;
const QUICK = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 1s, settle: 100ms, concurrency: 4 }';

let answer: Answer;
let requestsBefore = 0;
const server = await startHttpServer((request, response) => answer(request, response));
const harness = await openContactsHarness({
  account: QUICK,
  serviceUrl: server.url,
  syncs: { contacts: 'job: contacts, options: { rowsPerPage: 10 }' },
});
beforeEach(async () => {
  await harness.reset();
  requestsBefore = server.requests.length;
});
afterEach(() => expect(Object.keys(Object.prototype)).toEqual([]));
afterAll(async () => {
  await harness.close();
  await server.close();
});

/** Runs the sync against this; returns its result, the number of requests, and what it wrote. */
async function syncWith(answers: Answer): Promise<{ run: Run; requests: number; writes: readonly string[] }> {
  answer = answers;
  const run = await harness.runSync();
  const seen = server.requests.slice(requestsBefore);
  const writes = seen.flatMap(({ method, path, body }) => (method === 'GET' ? [] : [`${path} ${body}`]));
  return { run, requests: seen.length, writes };
}

const failed = (errorCode: string, message: RegExp) => ({
  status: 'failed',
  errorCode,
  error: expect.stringMatching(message),
});
const html = { 'content-type': 'text/html' };
const json = { 'content-type': 'application/json' };
/** These records of one kind, and none of the other, which takes two reads of contacts; imports succeed. */
const only =
  (kind: 'contacts' | 'customers') =>
  (reply: Reply | Answer): Answer =>
  (request, response) => {
    if (!request.path.endsWith('/getall')) return { body: '' };
    if (!request.path.endsWith(`/${kind}/getall`)) return { body: [] };
    return typeof reply === 'function' ? reply(request, response) : reply;
  };
const contacts = only('contacts');
const customers = only('customers');

describe('a service that gives the same answer to everything', () => {
  const cases: readonly [string, Reply, string, RegExp, number][] = [
    ['an error', { body: { status: 'error' } }, 'SERVICE_REFUSED', /contacts.*reported an error without a message/, 3],
    [
      'an error with words',
      { body: { success: false, error: { message: 'under repair' } } },
      'SERVICE_REFUSED',
      /under repair/,
      3,
    ],
    [
      'a login page',
      { headers: html, body: '<!doctype html><html><body><form>Log in' },
      'SERVICE_UNREADABLE',
      /an HTML page where JSON was expected: check the base URL/,
      6,
    ],
    [
      'a redirect',
      { status: 302, headers: { location: '/login?next=1' } },
      'SERVICE_UNREADABLE',
      /redirect to \/login, and/,
      3,
    ],
    ['a number', { body: 42 }, 'SERVICE_UNREADABLE', /has no list of contacts/, 1],
    ['nothing', { body: '' }, 'SERVICE_UNREADABLE', /answers nothing .* If .* no contacts yet, create one there/, 3],
    ['NaN', { headers: json, body: '[{"id":NaN}]' }, 'SERVICE_UNREADABLE', /broken JSON/, 5],
    ['rows', { body: { data: [[1, 'Ann']] } }, 'SERVICE_UNREADABLE', /begins with \[1,"Ann"\].*no setting changes/, 1],
  ];

  test.each(cases)('%s: the run fails and says so', async (_what, reply, errorCode, message, most) => {
    const { run, requests, writes } = await syncWith(() => reply);
    expect(run).toMatchObject(failed(errorCode, message));
    expect([requests, writes]).toEqual([most, []]);
  });
});

describe('a service that answers 429 to everything', () => {
  test('is called again by its Retry-After or once a second; the run says what it waits for, until the service answers', async () => {
    const asked: number[] = [];
    answer = () => {
      asked.push(performance.now());
      return { status: 429, ...(asked.length > 3 && { headers: { 'retry-after': '0.01' } }) };
    };
    const { id } = await harness.beginSync();
    const notes = () => readRun(harness.database.pool, id).then((run) => run.notes.join());
    await expect.poll(notes).toMatch(/contacts\.getall: the service answered with a rate limit/);
    expect((asked[2] ?? 0) - (asked[0] ?? 0)).toBeGreaterThan(1_900);
    expect(asked.length).toBeLessThan(100);
    answer = () => ({ body: [] }); // however long that lasted, the run then continues
    expect((await ended(harness.database, id)).status).toBe('done');
    expect(server.requests.slice(requestsBefore).every(({ method }) => method === 'GET')).toBe(true);
  });
});

/** Writes this forever, as fast as it is read; counts the bytes. */
function pour(first: string, then: string, poured: { bytes: number }): Answer {
  const part = Buffer.from(then.repeat(Math.ceil(65_536 / then.length)));
  return (_request, response: ServerResponse) => {
    const more = () => {
      while (!response.destroyed) {
        poured.bytes += part.length;
        if (!response.write(part)) return;
      }
    };
    response.writeHead(200, json);
    response.write(first);
    response.on('drain', more);
    more();
    return undefined;
  };
}

describe('an answer that never ends', () => {
  const cases: readonly [string, (poured: { bytes: number }) => Answer, RegExp, number][] = [
    [
      'one customer',
      (poured) => customers(pour('[{"id":1,"full_name":"', 'x', poured)),
      /customers.*a single record is larger/,
      3,
    ],
    ['zeros', (poured) => customers(pour('', '0', poured)), /customers.*more than \d+ bytes beside the list/, 3],
    ['blanks', (poured) => customers(pour('', ' ', poured)), /customers.*more than \d+ bytes/, 3],
    ['levels', (poured) => customers(pour('', '{"a":', poured)), /customers.*too many levels/, 3],
    [
      'customers without ids',
      (poured) => customers(pour('[{"Nr":1}', ',{"Nr":2}', poured)),
      /customers.*idField\.customers/,
      3,
    ],
    [
      'a page of contacts',
      (poured) => contacts(pour('[{"id":1}', ',{"id":1}', poured)),
      /contacts.*more than \d+ bytes/,
      1,
    ],
  ];

  test.each(cases)('(%s) is cut off and named, and takes little memory', async (_what, answers, message, most) => {
    const poured = { bytes: 0 };
    const rssBefore = process.memoryUsage().rss;
    const { run, requests, writes } = await syncWith(answers(poured));
    expect(run).toMatchObject(failed('SERVICE_UNREADABLE', message));
    expect([requests, writes]).toEqual([most, []]);
    expect(poured.bytes).toBeLessThan(32 * MEGABYTE);
    expect(process.memoryUsage().rss - rssBefore).toBeLessThan(128 * MEGABYTE);
  });
});

const person = (id: unknown, name: string) => ({ id, first_name: name, email: `${name}@example.com` });
const names = ['ann', 'ben', 'cy', 'dot', 'eve', 'fay', 'gus', 'hal', 'ida', 'jo', 'kay', 'lou', 'mo', 'ned'];

/** Contacts with ids 0, 1, …, the sixth with this id. */
const withSixth = (id: unknown) => names.map((name, n) => person(n === 5 ? id : n, name));

/** Answers the requested page of these records. */
const paged =
  (records: readonly unknown[], at = (page: number) => page): Answer =>
  ({ query }) => {
    const [page, size] = [at(Number(query.get('page'))), Number(query.get('rows_per_page'))];
    return { body: { status: 'success', content: records.slice(page * size, (page + 1) * size) } };
  };

describe('invalid ids', () => {
  const cases: readonly [string, unknown[], string, RegExp][] = [
    ['shared by two', names.map((name, n) => person(n === 4 ? 3 : n, name)), 'ID_NOT_UNIQUE', /id 3 .*idField/],
    ['shared by all', names.map((name) => person(7, name)), 'ID_NOT_UNIQUE', /id 7 .*idField/],
    [
      'missing in one',
      names.map((name, n) => (n === 5 ? { name } : person(n, name))),
      'RECORD_WITHOUT_ID',
      /idField\.contacts/,
    ],
    ['a fraction in one', withSixth(5.5), 'RECORD_WITHOUT_ID', /its id 5\.5 is not a whole number.*idField\.contacts/],
    [
      'null in one that has another name as well',
      withSixth(null).map((one, n) => ({ ...one, contact_id: n })),
      'RECORD_WITHOUT_ID',
      /its id is null.*idField\.contacts/,
    ],
    ['an object in one', withSixth({ oid: 5 }), 'RECORD_WITHOUT_ID', /idField\.contacts/],
    ['in __proto__', JSON.parse('[{"id":1},{"__proto__":{"id":2}}]'), 'RECORD_WITHOUT_ID', /idField\.contacts/],
    [
      'with an unknown name',
      names.map((name, n) => ({ ContactNr: n, first_name: name })),
      'SERVICE_UNREADABLE',
      /ContactNr.*dialect\.idField\.contacts/,
    ],
    [
      'fractions in all',
      names.map((name, n) => person(n + 0.5, name)),
      'SERVICE_UNREADABLE',
      /accounts\.test\.dialect/,
    ],
  ];

  test.each(cases)('(%s) end the run, which says so', async (_which, records, errorCode, message) => {
    const { run, requests, writes } = await syncWith(contacts(paged(records)));
    expect(run).toMatchObject(failed(errorCode, message));
    expect([requests < 8, writes]).toEqual([true, []]);
  });

  test.each([
    [
      'fractions',
      names.map((name, n) => person(n + 0.5, name)),
      /its id 0\.5 is not a whole number.*idField\.customers/,
    ],
    [
      'beyond what digits carry',
      names.map((name, n) => person(1e30 * (n + 1), name)),
      /too large for an exact JSON number.*idField\.customers/,
    ],
    ['unknown by name', names.map((name, n) => ({ Nr: n, name })), /its members are Nr, name.*idField\.customers/],
  ])('(of customers: %s) are reported with the setting that helps', async (_which, records, message) => {
    const { run, requests, writes } = await syncWith(customers({ body: { content: records, warnings: [] } }));
    expect(run).toMatchObject(failed('SERVICE_UNREADABLE', message));
    expect([requests, writes]).toEqual([3, []]);
  });

  test('except one record shown twice with the same content, which is one contact', async () => {
    const twice = names.map((name, n) => person(n + 1, name)).flatMap((one) => [one, one]);
    const { run, writes } = await syncWith(contacts(paged(twice)));
    expect([(await harness.counts(run)).in, new Set(writes).size, writes.length]).toEqual([14, 14, 14]);
  });
});

describe('a list of contacts that ignores the number of the page', () => {
  test('is not taken as complete: the run says that more records may follow, and what to set', async () => {
    const records = names.map((name, n) => person(n + 1, name));
    const { run, requests } = await syncWith(contacts(paged(records, () => 0)));
    expect([run.scan, (await harness.counts(run)).in]).toEqual(['unproven', 10]);
    expect(run.notes.join()).toMatch(
      /more than these 10 records, and no .* leads to them: .*dialect\.pageParam; otherwise .* fixed at the service/,
    );
    expect(requests).toBeLessThan(60);
  });
});

describe('unusual members of a record', () => {
  const deep = `${'{"a":['.repeat(5_000)}1${']}'.repeat(5_000)}`;
  test.each([
    ['ten thousand levels deep', `{"id":1,"email":"ann@example.com","first_name":"Ann","more":${deep}}`],
    [
      'named __proto__',
      '{"id":1,"email":"ann@example.com","first_name":"Ann","__proto__":{"email":"x"},"constructor":{"prototype":1}}',
    ],
    ['given twice', '{"id":9,"first_name":"Zoe","id":1,"email":"ann@example.com","first_name":"Ann"}'],
  ])('(%s) change nothing', async (_which, record) => {
    const { run, writes } = await syncWith(
      contacts(({ query }) => ({ headers: json, body: query.get('page') === '0' ? `[${record}]` : '[]' })),
    );
    expect([run.error, (await harness.counts(run)).in]).toEqual([undefined, 1]);
    expect(writes[0]).toContain('/customers/import {"contact_id":1}');
    expect((await harness.rows(run))[0]?.label).toBe('Ann <ann@example.com>');
  });
});

describe('an answer that looks valid but is not', () => {
  test('customers that share an id end the run before anything is written', async () => {
    const shared = names.map((name) => ({ id: 7, full_name: name, email: `${name}@example.com` }));
    const people = names.map((name, n) => person(n + 1, name));
    const { run, writes } = await syncWith((request, response) =>
      request.path.endsWith('/customers/getall') ? { body: shared } : contacts(paged(people))(request, response),
    );
    expect([run.status, run.errorCode, writes]).toEqual(['failed', 'ID_NOT_UNIQUE', []]);
  });

  test('an envelope beside ten thousand levels is no defect', async () => {
    const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
    const { run } = await syncWith(
      contacts(({ query }) => ({
        headers: json,
        body: `{"total":1,"extra":${deep},"items":${query.get('page') === '0' ? '[{"id":1,"first_name":"Ann"}]' : '[]'}}`,
      })),
    );
    expect([run.status, run.error]).toEqual(['done', undefined]);
  });
});
