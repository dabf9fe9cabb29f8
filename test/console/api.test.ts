/** The JSON API: it does what the pages do. */
import { beforeEach, expect, test } from 'vitest';
import { addRows } from '../../src/engine/ledger/inputs.ts';
import { endRun } from '../../src/engine/ledger/run-status.ts';
import { aRun } from '../engine/ledger/fresh-ledger.ts';
import { anError } from '../support/matchers.ts';
import { freshConsole, SETTINGS } from './open-console.ts';
import { apiOf, pageAt } from './requests.ts';

const { database, web } = await freshConsole({
  text: `${SETTINGS}\nsyncs: { nightly: { type: contacts, account: acme } }`,
});
beforeEach(() => database.pool.query('truncate ledger.runs, ledger.paused_syncs, ledger.console_actions cascade'));

const call = apiOf(web);

async function ended(sync: string, verdicts: readonly ('rejected' | 'unchanged')[]): Promise<string> {
  const { id } = await aRun(database, { sync, account: 'acme', resource: sync });
  const rows = verdicts.map((verdict, n) => ({ n, sourceId: `c${n}`, label: `Ann ${n}%`, verdict, reason: 'REFUSED' }));
  await addRows(database.pool, id, rows);
  await endRun(database.pool, id, 'done');
  return id;
}

test('lists runs by page, with runs that found nothing new folded together', async () => {
  const quiet = [
    await ended('poll', ['unchanged']),
    await ended('poll', ['unchanged']),
    await ended('poll', ['unchanged']),
  ];
  const other = await ended('nightly', ['rejected']);
  const { json } = await call('/runs');
  expect(json.runs.map(({ run, folded }: { run: string; folded: number }) => [run, folded])).toEqual([
    [other, 1],
    [quiet[2], 3],
  ]);
  const first = await call('/runs?all=true&limit=2');
  const second = await call(`/runs?all=true&limit=2&after=${first.json.next}`);
  const ids = [...first.json.runs, ...second.json.runs].map(({ run }: { run: string }) => run);
  expect(ids).toEqual([other, ...quiet.toReversed()]);
  expect(second.json.next).toBeNull();
  expect((await call('/runs?verdict=rejected&account=acme&status=done')).json.runs).toHaveLength(1);
  expect((await call('/runs?from=2030-01-01')).json.runs).toEqual([]);
});

test('shows a run, its rows by page and filter, and one row', async () => {
  const run = await ended('nightly', ['rejected', 'unchanged', 'rejected']);
  const shown = (await call(`/runs/${run}`)).json;
  expect(shown).toMatchObject({ run, counts: { in: 3, rejected: 2, unchanged: 1 }, problems: [{ count: 2 }] });
  expect([shown.throughput, shown.phases[0]?.waits]).toEqual([null, []]); // its rows were sent by no attempt
  expect((await call('/nights')).json.nights).toMatchObject([{ sync: 'nightly', runs: 1, outcome: 'problems' }]);
  const rowsOf = async (query: string) => (await call(`/runs/${run}/rows?${query}`)).json;
  const first = await rowsOf('limit=2');
  const rest = await rowsOf(`limit=2&after=${first.next}`);
  const ids = [...first.rows, ...rest.rows].map(({ sourceId }: { sourceId: string }) => sourceId);
  expect([ids, rest.next]).toEqual([['c0', 'c1', 'c2'], null]);
  expect((await rowsOf('verdict=rejected&text=ann')).rows).toHaveLength(2);
  expect((await rowsOf('reason=REFUSED&text=2%25')).rows).toHaveLength(1);
  expect((await rowsOf('text=A%25')).rows).toEqual([]); // a percent sign is no wildcard
  expect((await rowsOf('text=c1')).rows).toHaveLength(1);
  expect((await call(`/runs/${run}/rows/c2`)).json).toMatchObject({ n: 2, state: 'settled' });
});

test('acts on runs and syncs, and lists what was done', async () => {
  const started = (await call('/syncs/nightly/run', {})).json;
  expect(started.said).toContain('has begun');
  expect((await call(`/runs/${started.run}/cancel`, {})).status).toBe(200);
  expect((await call(`/runs/${started.run}/cancel`, {})).json.error.code).toBe('RUN_ENDED');
  await call('/syncs/nightly/pause', { reason: 'moving' });
  const { syncs } = (await call('/syncs')).json;
  expect(syncs).toMatchObject([{ sync: 'nightly', paused: { reason: 'moving' } }]);
  expect((await call('/status')).json).toMatchObject({ needs: [], paused: [{ sync: 'nightly' }] });
  const { actions } = (await call('/activity')).json;
  expect(actions.map(({ action, refused }: { action: string; refused?: string }) => [action, refused])).toEqual([
    ['pause-sync', undefined],
    ['cancel-run', 'RUN_ENDED'],
    ['cancel-run', undefined],
    ['run', undefined],
  ]);
  const first = (await call('/activity?limit=3')).json;
  const second = (await call(`/activity?limit=1&after=${first.next}`)).json;
  expect([first.actions.length, second.actions[0]?.action, second.next]).toEqual([3, 'run', null]);
});

test('shows the settings without their secrets, and the jobs of the workers', async () => {
  const { settings, warnings, problem } = (await call('/settings')).json;
  expect(Object.keys(settings.syncs)).toEqual(['nightly']);
  expect([warnings, problem]).toEqual([[expect.stringContaining('accounts.acme.apiKey is missing')], null]);
  expect(settings.accounts.acme.apiKey).toEqual({ env: 'KEY' });
  const { states } = (await call('/queue')).json;
  expect(states.map(({ state }: { state: string }) => state)).toEqual(['active', 'prioritized', 'delayed']);
});

test('decides about all rows of a reason, if they are those that were read, and replays deliveries by a filter', async () => {
  const { rows, mark } = (await call('/review/group?choice=later&reason=NONE')).json;
  expect(rows).toBe(0);
  const group = { choice: 'later', reason: 'NONE' };
  expect((await call('/review/group', { ...group, mark: 'x' })).json.error.code).toBe('REVIEW_CHANGED');
  expect((await call('/review/group', { ...group, mark })).json.said).toBe('0 rows are kept for later.');
  expect((await call('/deliveries/replay', { verdict: 'dead' })).json.refused).toBe('NOTHING_ENDED');
  expect((await call('/deliveries/replay', {})).json.error.message).toContain('expected a filter');
});

test('says what is wrong with a request', async () => {
  expect(await call('/runs/run-1')).toMatchObject({ status: 404, json: { error: { code: 'RUN_UNKNOWN' } } });
  expect(await call('/syncs/other/run', {})).toMatchObject({
    status: 404,
    json: { error: { code: 'SETTINGS_NAME_UNKNOWN' } },
  });
  for (const [path, body] of [['budget'], ['suspend', {}], ['resume', {}], ['try-key', {}]] as const)
    expect(await call(`/accounts/other/${path}`, body)).toMatchObject({
      status: 404,
      json: { error: { code: 'SETTINGS_NAME_UNKNOWN' } },
    });
  expect(await call('/runs?verdict=bad')).toMatchObject({
    status: 400,
    json: {
      error: anError('REQUEST_INVALID', /verdict: expected created, .*, got "bad"/),
    },
  });
  expect((await call('/runs/run-1/rows?after=x')).json.error.message).toBe(
    'The request is not valid: after: expected a number, got text that is not a number',
  );
  const notJson = await fetch(`${web.url}/api/v1/runs/x/resume`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{bad',
  });
  expect([notJson.status, await notJson.text()]).toEqual([400, expect.stringContaining('its body is not JSON')]);
  expect((await call('/accounts/acme/calls/contacts.create', { id: 'x' })).json.error.message).toContain(
    'id: expected a UUID',
  );
  expect(await pageAt(web, '/runs?status=bad')).toContain(
    'status: expected running, paused, done, failed or cancelled, got &quot;bad&quot;',
  );
  expect(await pageAt(web, '/runs/run-1/results/x')).toContain(
    'kind: expected results, created, updated, existing, invalid, rejected, review, unknown or unprocessed, got &quot;x&quot;',
  );
  expect(await call('/nothing')).toMatchObject({ status: 404, json: { error: { code: 'NOT_FOUND' } } });
  expect(await call('/runs/x/explode', {})).toMatchObject({ status: 400 });
  for (const id of ['x'.repeat(300), '%zz']) {
    expect(await call(`/runs/${id}`)).toMatchObject({
      status: 400,
      json: { error: anError('REQUEST_INVALID', /^The address is not valid: /) },
    });
    expect(await pageAt(web, `/runs/${id}`)).toMatch(/^The address is not valid: /);
  }
});

test.each([
  ['/runs?statuss=failed', undefined, 'statuss: unknown key; did you mean "status"?'],
  ['/syncs/nightly/pause', { reson: 'moving' }, 'reson: unknown key; did you mean "reason"?'],
  ['/accounts/acme/examine', { reason: 'x' }, 'reason: unknown key'],
  ['/syncs/nightly/run', { reason: 'moving' }, 'reason: only the action pause takes it'],
  ['/runs/run-1/cancel', { first: 10 }, 'first: only the action resume takes it'],
  ['/accounts/acme/resume', { reason: 'x' }, 'reason: only the action suspend takes it'],
  ['/deliveries/replay', { state: 'dead', target: 'crm' }, 'state: unknown key'],
  ['/runs/run-1/corrections', { cells: [{ row: 2, line: 2, column: 1, text: 'x' }] }, 'cells.0.row: unknown key'],
])('refuses a member that does not exist, and names it: %s', async (path, body, said) => {
  expect(await call(path, body)).toEqual({
    status: 400,
    json: { error: anError('REQUEST_INVALID', `The request is not valid: ${said}`) },
  });
  expect((await call('/activity')).json.actions).toEqual([]);
});

test('refuses a body that is not JSON where a file is not expected', async () => {
  expect(await call('/syncs/nightly/pause', 'reason\nmoving')).toMatchObject({
    status: 415,
    json: { error: { code: 'REQUEST_INVALID', message: expect.stringContaining('Content-Type') } },
  });
});

test('is described by an OpenAPI document', async () => {
  const { json } = await call('/openapi.json');
  expect(json.openapi).toBe('3.1.0');
  expect(JSON.stringify(json)).not.toContain('$defs'); // a reference to it names nothing in the document
  expect(Object.keys(json.paths)).toContain('/runs/{run}/{action}');
  const { schema } = json.paths['/syncs/{sync}/{action}'].post.requestBody.content['application/json'];
  expect(schema.additionalProperties).toBe(false);
  expect(json.paths['/runs'].get.parameters.map(({ name }: { name: string }) => name)).toContain('verdict');
});
