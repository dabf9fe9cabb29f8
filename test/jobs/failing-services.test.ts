/** How a run ends, and what it says, where the service cannot be worked with; and how the next one goes on. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Run, resumeRun } from '../../src/ledger/runs.ts';
import type { Reply } from '../support/http-server.ts';
import { people } from '../support/people.ts';
import { ended, openSyncBed, type SyncBed } from '../support/sync-bed.ts';
import { startTinyService, type TinyService } from '../support/tiny-service.ts';

const CONTACTS = 30;
const SETTLE_MS = 200;
const QUICK = `budget: { requests: 5000, per: 1s, burst: 500, timeout: 1s, settle: ${SETTLE_MS}ms, concurrency: 4 }`;

let bed: SyncBed;
let tiny: TinyService;
beforeAll(async () => {
  tiny = await startTinyService();
  bed = await openSyncBed({ account: QUICK, serviceUrl: tiny.url });
});
beforeEach(() => bed.reset());
afterAll(async () => {
  await bed.close();
  await tiny.close();
});

const page: Reply = {
  headers: { 'content-type': 'text/html' },
  body: '<!doctype html><html><body>Log in</body></html>',
};
const noKey: Reply = { status: 401, body: { status: 'error', message: 'unknown API key' } };

describe('a list that cannot be read', () => {
  const cases: readonly [string, string, Reply, string, RegExp][] = [
    ['a page', 'customers', page, 'SERVICE_UNREADABLE', /customers.*is the base URL right/],
    ['a page', 'contacts', page, 'SERVICE_UNREADABLE', /contacts.*is the base URL right/],
    ['no list', 'customers', { body: { status: 'success', content: { total: 3 } } }, 'SERVICE_UNREADABLE', /customers/],
    [
      'no list',
      'contacts',
      { body: { status: 'success', content: { total: 3 } } },
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
    ['nothing but null', 'contacts', { body: [{ id: 1 }, null] }, 'RECORD_WITHOUT_ID', /contact/],
    ['a refusal', 'contacts', { status: 404, body: { message: 'gone' } }, 'SERVICE_REFUSED', /contacts.*gone/],
    ['a refused key', 'customers', noKey, 'KEY_REFUSED', /unknown API key.*accounts\.test\.apiKey/],
  ];

  test.each(cases)('because it is %s (%s) ends the run, which says so', async (_what, list, reply, code, message) => {
    tiny.begin({ contacts: people(3), onList: (path) => (path.includes(list) ? reply : undefined) });
    const run = await bed.runSync();
    expect(run).toMatchObject({ status: 'failed', errorCode: code, error: expect.stringMatching(message) });
    expect(tiny.customers).toEqual([]);
  });

  test('at first is read again, and the run goes on as if nothing had been', async () => {
    const bad: Reply[] = [{ status: 503 }, { status: 429, headers: { 'retry-after': '0' } }];
    tiny.begin({ contacts: people(3), onList: () => bad.pop() });
    const run = await bed.runSync();
    expect([run.status, run.errorCode, run.notes]).toEqual(['done', undefined, []]);
    expect(tiny.customers).toHaveLength(3);
  });

  test('because there is nothing to list is no failure', async () => {
    tiny.begin();
    const run = await bed.runSync();
    expect([run.status, run.scan, (await bed.counts(run)).in]).toEqual(['done', 'proven', 0]);
  });

  test('because there is nothing more on a page of contacts is no failure either, where that is null', async () => {
    const nothing: Reply = { body: { status: 'success', content: null, message: 'no more' } };
    tiny.begin({ contacts: people(3), onList: (_path, page) => (page > 0 ? nothing : undefined) });
    const run = await bed.runSync();
    expect([run.status, run.scan, (await bed.counts(run)).created]).toEqual(['done', 'proven', 3]);
  });
});

describe('a key that is refused in the middle', () => {
  let isRevoked = true;
  let failed: Run;
  beforeEach(async () => {
    let imports = 0;
    isRevoked = true;
    tiny.begin({ contacts: people(CONTACTS), onImport: () => (isRevoked && ++imports > 10 ? noKey : undefined) });
    failed = await bed.runSync();
    isRevoked = false;
  });

  test('ends the run, which says where to mend it, and counts every contact', async () => {
    expect(failed).toMatchObject({ status: 'failed', errorCode: 'KEY_REFUSED', phase: 'import-customers' });
    expect(failed.error).toMatch(/unknown API key.*accounts\.test\.apiKey/);
    expect((await bed.counts(failed)).in).toBe(CONTACTS);
    expect(tiny.customers).toHaveLength(10);
  });

  test('and mended: the next run imports the rest, each once', async () => {
    const { existing, created } = await bed.counts(await bed.runSync());
    expect([existing, created, tiny.customers.length]).toEqual([10, CONTACTS - 10, CONTACTS]);
  });

  test('and mended: the run itself goes on where it stopped', async () => {
    expect(await resumeRun(bed.database.pool, failed.id)).toBe(true);
    const run = await ended(bed.database, failed.id);
    expect([run.status, run.error]).toEqual(['done', undefined]);
    expect((await bed.counts(run)).created).toBe(CONTACTS);
    expect(tiny.customers).toHaveLength(CONTACTS);
  });
});
