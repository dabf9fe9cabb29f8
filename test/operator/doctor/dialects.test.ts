import { afterAll, expect, test } from 'vitest';
import { MAX_CALLS } from '../../../src/operator/doctor/examine.ts';
import type { BehaviourOptions } from '../../../src/service/testbed/behaviour.ts';
import { findingIn, openDoctorHarness } from './doctor-harness.ts';

const harness = await openDoctorHarness(330);
afterAll(() => harness.close());

type Seen = readonly [gap: string, about: string | undefined, found: RegExp, confidence: string];

const DIALECTS: readonly (readonly [behaviour: BehaviourOptions, ...seen: Seen[]])[] = [
  [
    {},
    ['address', undefined, /answers, on this machine/, 'certain'],
    ['prefix', undefined, /every list answers under \/api\/v1/, 'certain'],
    ['authentication', 'the key', /accepted; answer to a wrong key: HTTP 401/, 'certain'],
    ['list-place', 'orders', /^content$/, 'certain'],
    ['record-id', 'pipelines', /^id, a number; a get with it/, 'certain'],
    ['rows-per-page', 'page numbers', /^pages start at 0$/, 'certain'],
    ['unpaged-lists', 'orders', /^nothing shows that it is cut off/, 'likely'],
    ['list-order', 'tasks', /^oldest first, by id; the same/, 'certain'],
    ['errors', 'contacts', /HTTP 404 with a JSON object/, 'certain'],
    ['envelope-values', undefined, /status is "success"/, 'certain'],
    ['only-body', 'contacts', /a JSON list/, 'certain'],
    ['search-match', 'email', /a part of it, in upper or lower case/, 'certain'],
    ['booleans', undefined, /flags as true and false; amounts as numbers/, 'certain'],
    ['rate-limit', undefined, /^no call of \d+ was limited/, 'unknown'],
    ['clock', undefined, /matches this machine’s clock/, 'certain'],
    ['latency', undefined, /median of \d+ calls/, 'certain'],
    ['read-after-write', undefined, /needs --write-probes/, 'unknown'],
    ['idempotency', undefined, /cannot be probed/, 'unknown'],
  ],
  [{ listShape: 'bare' }, ['list-place', 'contacts', /the whole answer/, 'certain']],
  [{ listShape: { path: 'content.data.items' } }, ['list-place', 'customers', /^content\.data\.items$/, 'certain']],
  [{ idField: 'kind_id' }, ['record-id', 'customers', /^customer_id, a number; a get with it/, 'certain']],
  [{ idType: 'string' }, ['record-id', 'tasks', /^id, text; a get with it/, 'certain']],
  [{ prefixes: ['/v1'] }, ['prefix', undefined, /^every list answers under \/v1, and none under \/api\/v1/, 'certain']],
  [{ prefixes: ['/v1'], errors: 'html' }, ['prefix', undefined, /^every list answers under \/v1, and none/, 'certain']],
  [
    { prefixes: ['/v1'], errors: 'envelope200' },
    ['prefix', undefined, /^every list answers under \/v1, and none/, 'certain'],
  ],
  [{ tasksFirstPage: 1 }, ['tasks-paging', undefined, /pages start at 1; the first page has 17/, 'certain']],
  [{ errors: 'envelope200' }, ['errors', 'orders', /HTTP 200 with an envelope that reports a failure/, 'certain']],
  [{ errors: 'html' }, ['errors', 'contacts', /HTTP 404 with an HTML page/, 'certain']],
  [{ errors: 'empty' }, ['errors', 'contacts', /HTTP 404 with an empty body/, 'certain']],
  [
    { maxRowsPerPage: 100, defaultRowsPerPage: 20 },
    ['rows-per-page', 'rows_per_page', /at most 100 rows: .* had more; 20 by default/, 'certain'],
  ],
  [
    { ignoreRowsPerPage: true },
    ['rows-per-page', 'rows_per_page', /^ignored: a page has 100 rows whatever/, 'certain'],
  ],
  [{ order: 'newest' }, ['list-order', 'contacts', /^newest first, by id/, 'certain']],
  [
    { booleans01: true, amountsAsStrings: true },
    ['booleans', undefined, /flags as 1 and 0; amounts as text/, 'certain'],
  ],
];

const CASES = DIALECTS.map(([behaviour, ...seen]) => [behaviour, seen] as const);

test.each(CASES)('finds the dialect of a service that is %j, in few calls', async (behaviour, seen) => {
  const { report, arrived, writes } = await harness.examine(behaviour);
  for (const [gap, about, found, confidence] of seen) {
    expect(findingIn(report, gap, about)).toMatchObject({ found: expect.stringMatching(found), confidence });
  }
  // Only a request for a missing route is counted by the client alone.
  const uncounted = behaviour.prefixes === undefined ? 0 : report.calls - arrived;
  expect([report.calls, writes]).toEqual([arrived + uncounted, 0]);
  expect(report.calls).toBeLessThanOrEqual(MAX_CALLS);
  expect(report.findings.filter(({ needs }) => needs !== undefined)).toEqual([]);
  expect(report.stopped).toBeUndefined();
});

test('reports every gap of the contract, with what the worker does', async () => {
  const { gaps } = await import('../../../src/contract/gaps.ts');
  const { report } = await harness.examine();
  for (const { id } of gaps) expect(findingIn(report, id)).toMatchObject({ gap: id, does: expect.stringMatching(/./) });
});

test('only certain findings become settings', async () => {
  const { report } = await harness.examine({
    prefixes: ['/v1'],
    tasksFirstPage: 1,
    idField: 'kind_id',
    listShape: 'bare',
  });
  expect(report.settings).toMatchObject({
    'accounts.demo.prefix': '/v1',
    'accounts.demo.dialect.firstTaskPage': 1,
    'accounts.demo.dialect.idField.contacts': 'contact_id',
    'accounts.demo.dialect.listPath.pipelines': '$',
  });
  expect((await harness.examine()).report.settings).not.toHaveProperty(['accounts.demo.prefix']);
});

test('an unstable order and ignored pages need a person', async () => {
  const unstable = (await harness.examine({ order: 'unstable' })).report;
  expect(findingIn(unstable, 'list-order', 'contacts')).toMatchObject({
    confidence: 'certain',
    needs: expect.any(String),
  });
  const unpaged = (await harness.examine({ ignorePaging: true })).report;
  expect(findingIn(unpaged, 'rows-per-page', 'page numbers')).toMatchObject({
    found: 'ignored: every page is the first',
    needs: expect.any(String),
  });
});

test('shows the headers of a rate limit as they were sent', async () => {
  const rateLimit = { requestsPerSecond: 1_000, burst: 1_000 };
  const { report } = await harness.examine({ rateLimit, rateLimitHeaders: true });
  const found = expect.stringMatching(/^no call was limited; .*ratelimit-limit: 1000, ratelimit-remaining: 9\d\d/);
  expect(findingIn(report, 'rate-limit')).toMatchObject({ found, confidence: 'certain' });
});

test('tells whether Authorization is needed', async () => {
  const authorization = { scheme: 'Bearer', token: 'token-1' };
  const needed = (await harness.examine({ requiredAuthorization: authorization }, { authorization })).report;
  expect(findingIn(needed, 'authentication', 'Authorization')?.found).toMatch(/^needed; answer without it: HTTP 401/);
  const needless = (await harness.examine({}, { authorization })).report;
  expect(findingIn(needless, 'authentication', 'Authorization')?.found).toMatch(/^not needed: .* can be removed$/);
  const missing = (await harness.examine({ requiredAuthorization: authorization })).report;
  expect(missing.stopped).toBe('the key is refused');
  expect(findingIn(missing, 'authentication')).toMatchObject({ found: expect.stringMatching(/needs? Authorization/) });
});

test('the report contains no value of a record and no secret', async () => {
  const { report } = await harness.examine();
  const said = JSON.stringify(report);
  expect(said).not.toContain('canary');
  expect(said).not.toMatch(/@/);
});
