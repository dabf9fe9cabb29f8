/** How a run ends and what it reports where the service does not work, and how the next run continues. */
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { resumeRun } from '../../src/engine/ledger/run-status.ts';
import { readRun } from '../../src/engine/ledger/runs.ts';
import { suspensionOf } from '../../src/engine/ledger/scopes/suspensions.ts';
import { openContactsHarness } from '../support/harness/contacts.ts';
import { ended } from '../support/harness/ended.ts';
import type { Reply } from '../support/http-server.ts';
import { people } from '../support/people.ts';
import { startTinyService, type TinyOptions, type TinyRecord } from '../support/tiny-service.ts';

const CONTACTS = 30;
const SETTLE_MS = 200;
const QUICK = `budget: { requests: 5000, per: 1s, burst: 500, timeout: 1s, settle: ${SETTLE_MS}ms, concurrency: 4 }`;

const tiny = await startTinyService();
const harness = await openContactsHarness({
  account: QUICK,
  serviceUrl: tiny.url,
  syncs: { contacts: 'job: contacts', imports: 'job: contacts, options: { importWith: import }' },
});
beforeEach(() => harness.reset());
afterAll(async () => {
  await harness.close();
  await tiny.close();
});

const page: Reply = {
  headers: { 'content-type': 'text/html' },
  body: '<!doctype html><html><body>Log in</body></html>',
};
const noKey: Reply = { status: 401, body: { status: 'error', message: 'unknown API key' } };

describe('a list that cannot be read', () => {
  const cases: readonly [string, string, Reply, string, RegExp][] = [
    ['a page', 'customers', page, 'SERVICE_UNREADABLE', /customers.*check the base URL/],
    ['a page', 'contacts', page, 'SERVICE_UNREADABLE', /contacts.*check the base URL/],
    ['no list', 'customers', { body: { status: 'success', content: { total: 3 } } }, 'SERVICE_UNREADABLE', /customers/],
    [
      'no list',
      'contacts',
      { body: { status: 'success', content: { unread_records: 3 } } },
      'SERVICE_UNREADABLE',
      /accounts\.test\.dialect\.listPath\.contacts/,
    ],
    [
      'a contact without an id',
      'contacts',
      { body: [{ id: 1 }, { first_name: 'Ann' }] },
      'RECORD_WITHOUT_ID',
      /first_name.*accounts\.test\.dialect\.idField\.contacts/,
    ],
    [
      'a customer without an id',
      'customers',
      { body: [{ id: 1 }, { full_name: 'Ann' }] },
      'RECORD_WITHOUT_ID',
      /full_name.*accounts\.test\.dialect\.idField\.customers/,
    ],
    [
      'nothing but null',
      'contacts',
      { body: [{ id: 1 }, null] },
      'RECORD_WITHOUT_ID',
      /lists null among its contacts, which is not a record/,
    ],
    ['a refusal', 'contacts', { status: 404, body: { message: 'gone' } }, 'SERVICE_REFUSED', /contacts.*gone/],
  ];

  test.each(cases)('because it is %s (%s) ends the run, which says so', async (_what, list, reply, code, message) => {
    tiny.begin({ contacts: people(3), onList: (path) => (path.includes(list) ? reply : undefined) });
    const run = await harness.runSync();
    expect(run).toMatchObject({ status: 'failed', errorCode: code, error: expect.stringMatching(message) });
    expect(tiny.customers).toEqual([]);
  });

  test('because no page has any of the contacts that it counts is not whole, and the run says what to set', async () => {
    const reply = { body: { status: 'success', content: { total: 3 } } };
    tiny.begin({ contacts: people(3), onList: (path) => (path.includes('contacts') ? reply : undefined) });
    const run = await harness.runSync();
    expect([run.status, run.scan, tiny.customers]).toEqual(['done', 'unproven', []]);
    expect(run.notes.join()).toMatch(/reports a total of 3, and its pages have none: .*set .*dialect\.listPath/);
  });

  test('at first is read again, and the run continues as if nothing had happened', async () => {
    const bad: Reply[] = [{ status: 503 }, { status: 429, headers: { 'retry-after': '0.01' } }];
    tiny.begin({ contacts: people(3), onList: () => bad.pop() });
    const run = await harness.runSync();
    expect([run.status, run.errorCode, run.notes]).toEqual(['done', undefined, []]);
    expect(tiny.customers).toHaveLength(3);
  });

  test('because there is nothing to list is no failure', async () => {
    tiny.begin();
    const run = await harness.runSync();
    expect([run.status, run.scan, (await harness.counts(run)).in]).toEqual(['done', 'proven', 0]);
  });

  test('because there is nothing more on a page of contacts is no failure either, where that is null', async () => {
    const nothing: Reply = { body: { status: 'success', content: null, message: 'no more' } };
    tiny.begin({ contacts: people(3), onList: (_path, page) => (page > 0 ? nothing : undefined) });
    const run = await harness.runSync();
    expect([run.status, run.scan, (await harness.counts(run)).created]).toEqual(['done', 'proven', 3]);
  });
});

describe('a list of customers that lacks what it had, at a service that shows none by its id,', () => {
  const lists = (shown: () => readonly TinyRecord[]) => (path: string) =>
    path.includes('customers') ? { body: { status: 'success', content: shown() } } : undefined;
  const later = async (count: number, onList: TinyOptions['onList']) => {
    tiny.begin({ contacts: people(count) });
    await harness.runSync();
    tiny.begin({ contacts: people(count + 2), customers: [...tiny.customers], onList });
    const { id } = await harness.beginSync();
    return ended(harness.database, id);
  };

  test('because it is empty once is read again', async () => {
    let isEmpty = true;
    const run = await later(6, (path) => {
      const shown = lists(() => [])(path);
      const reply = isEmpty ? shown : undefined;
      if (shown !== undefined) isEmpty = false;
      return reply;
    });
    expect([run.status, tiny.customers.length]).toEqual(['done', 8]);
  });

  test('pauses the run, which resumes if the list shows them again', async () => {
    let isShort = true;
    const run = await later(6, (path) => (isShort ? lists(() => tiny.customers.slice(0, 3))(path) : undefined));
    expect(run).toMatchObject({ status: 'paused', errorCode: 'SERVICE_WENT_BACK' });
    expect(run.error).toMatch(/no longer shows 3 of 6 customers .* an incomplete list\. Nothing was written\./);
    expect(run.error).toContain(`If it shows them again: \`lockstep runs resume ${run.id}\``);
    expect(run.error).toContain('then creates customers for their contacts again.');
    isShort = false;
    expect(await resumeRun(harness.database.pool, run.id)).toBe(true);
    await (await harness.workspace.work()).attend(await readRun(harness.database.pool, run.id));
    expect([(await ended(harness.database, run.id)).status, tiny.customers.length]).toEqual(['done', 8]);
  });

  test('because its pages are out of order is partial, and nothing is said to be gone', async () => {
    let reads = 0;
    const shuffled: TinyOptions['onList'] = (path, _page, query) => {
      if (!path.includes('customers')) return undefined;
      const turned = tiny.customers
        .slice(0, 12)
        .toSorted((a, b) => ((a.id * 7 + reads) % 11) - ((b.id * 7 + reads) % 11));
      const from = 4 * Number(query?.get('page') ?? 0);
      reads += 3;
      return { body: { status: 'success', content: turned.slice(from, from + 4) } };
    };
    const run = await later(20, shuffled);
    expect([run.status, tiny.customers.length]).toEqual(['done', 20]);
    expect(run.notes.join()).toMatch(/scan is unproven.*the list of customers is partial/);
  });
});

describe('a key that is refused', () => {
  const suspended = async () => (await suspensionOf(harness.database.pool, 'test'))?.message;
  const WORDS = /unknown API key.*accounts\.test\.apiKey/;

  test('midway suspends the account, which says where to fix it; once it is fixed, the run resumes by itself', async () => {
    let [imports, isRevoked] = [0, true];
    const revoked = () => (isRevoked && imports > 10 ? noKey : undefined);
    const onImport = () => {
      imports++;
      return revoked();
    };
    tiny.begin({ contacts: people(CONTACTS), onImport, onList: revoked });
    const run = await harness.beginSync();
    await expect.poll(suspended).toMatch(WORDS);
    const standing = () => readRun(harness.database.pool, run.id).then(({ status, notes }) => [status, notes]);
    await expect.poll(standing).toEqual(['running', [expect.stringMatching(WORDS)]]);
    expect(tiny.customers).toHaveLength(10);
    isRevoked = false;
    const done = await ended(harness.database, run.id);
    expect([done.status, (await harness.counts(done)).created]).toEqual(['done', CONTACTS]);
    expect([tiny.customers.length, await suspended()]).toEqual([CONTACTS, undefined]);
  });

  test('by every list suspends the account, and the run resumes by itself once a list is answered', async () => {
    const refused = new Set<string>(); // by path: the key of the test before may be tried again meanwhile
    const onList = (path: string) => (refused.size < 2 && refused.add(path) ? noKey : undefined);
    tiny.begin({ contacts: people(3), onList });
    expect((await harness.runSync()).status).toBe('done');
    expect([refused.size, tiny.customers.length]).toEqual([2, 3]);
  });

  test('by one list only fails the run, which names it, counts the checks of the key as calls, and suspends nothing', async () => {
    let calls = 0;
    const onList = (path: string) => {
      calls++;
      return path.includes('customers') ? noKey : undefined;
    };
    tiny.begin({ contacts: people(3), onList });
    const run = await harness.runSync();
    expect([run.status, run.errorCode, await suspended()]).toEqual(['failed', 'OPERATION_FORBIDDEN', undefined]);
    expect(run.calls).toBe(calls);
    expect(run.error).toMatch(/customers\.getall.*accepts the API key.*unknown API key.*lockstep runs resume run-/);
  });

  test('by imports only creates the customers instead; with importWith: import the run fails and names them', async () => {
    const forbidden: Reply = { status: 403, body: { status: 'error', message: 'not in your plan' } };
    tiny.begin({ contacts: people(CONTACTS), onImport: () => forbidden });
    const strict = await harness.runSync({ sync: 'imports' });
    expect([strict.status, strict.errorCode, tiny.customers.length]).toEqual(['failed', 'OPERATION_FORBIDDEN', 0]);
    const run = await harness.runSync();
    expect([run.status, await harness.counts(run)]).toMatchObject(['done', { created: CONTACTS }]);
    expect([tiny.customers.length, await suspended()]).toEqual([CONTACTS, undefined]);
  });

  test('for one record only, during a read, rejects that record and nothing else', async () => {
    const forbidden: Reply = { status: 403, body: { status: 'error', message: 'not this one' } };
    tiny.begin({ contacts: people(CONTACTS), onImport: ({ id }) => (id === 7 ? forbidden : undefined) });
    const run = await harness.runSync();
    expect([run.status, await harness.counts(run)]).toMatchObject(['done', { created: CONTACTS - 1, rejected: 1 }]);
    expect(await suspended()).toBeUndefined();
  });
});

test('a service that applies every import and answers it with a rate limit does not get the same contacts without end', async () => {
  tiny.begin({
    contacts: people(CONTACTS),
    onImport: ({ first_name, last_name, email }, service) => {
      service.add({ full_name: `${first_name} ${last_name}`, email });
      return { status: 429, headers: { 'retry-after': '0.01' } };
    },
  });
  const run = await harness.runSync();
  const { created, review } = await harness.counts(run);
  expect([run.status, created + review]).toEqual(['done', CONTACTS]);
  expect(created).toBeGreaterThan(0);
  expect(tiny.customers.length).toBeLessThan(CONTACTS * 3);
});
