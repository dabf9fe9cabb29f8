/** Deliveries, accounts and settings: the API, and in a real browser. */
import { describe, expect, test } from 'vitest';
import { suspendAccount } from '../../src/engine/ledger/scopes/suspensions.ts';
import { disableTarget, noteFailing } from '../../src/mirror/outbox/target-states.ts';
import { aRun } from '../engine/ledger/fresh-ledger.ts';
import { CHROMIUM } from '../support/chromium.ts';
import { startHttpServer } from '../support/http-server.ts';
import { browserPages, expectSound } from './browser.ts';
import { openConsole } from './open-console.ts';
import { HOSTILE, openOutboxConsole, TEXT } from './outbox-console.ts';
import { pageAt } from './requests.ts';

const { database, web, deliver, states, call, htmlAt } = await openOutboxConsole();

test('the API imports, finds and removes links', async () => {
  const csv = 'task_id,item_id\n1,11\nsubtask:2,12\n3,not an item\n';
  const file = { target: 'issues', account: 'acme', csv };
  expect((await call('/links/import', { ...file, dryRun: true })).json.said).toContain(
    'Nothing was written. 3 rows: 2 new',
  );
  const imported = (await call('/links/import', file)).json;
  expect(imported).toMatchObject({ refused: 'ROWS_REFUSED' });
  expect(imported.said).toContain('3 rows: 2 new, 0 already linked, 0 replaced, 1 refused');
  const first = (await call('/links?limit=1')).json;
  const rest = (await call(`/links?limit=1&after=${encodeURIComponent(first.next)}`)).json;
  expect([...first.links, ...rest.links].map(({ task }) => task).toSorted()).toEqual(['subtask:2', 'task:1']);
  expect(rest.next).toBe(null);
  expect((await call('/links?q=BTASK')).json.links).toMatchObject([
    { task: 'subtask:2', itemId: expect.stringContaining('12') },
  ]);
  const link = { target: 'issues', account: 'acme', task: 'task:1' };
  expect((await call('/links/remove', link)).status).toBe(200);
  expect(await call('/links/remove', link)).toMatchObject({ status: 404, json: { error: { code: 'LINK_UNKNOWN' } } });
});

test('the API lists deliveries by page, sends one again, and enables a target', async () => {
  await deliver(['dead', 'delivered', null]);
  await disableTarget(database.pool, 'hook', { reason: 'GONE', detail: 'it answered 410', now: undefined });
  const first = (await call('/deliveries?limit=2')).json;
  const rest = (await call(`/deliveries?limit=2&after=${first.next}`)).json;
  const ids = [...first.deliveries, ...rest.deliveries].map(({ id }: { id: string }) => id);
  expect([ids, rest.next]).toEqual([['msg_0', 'msg_1', 'msg_2'], null]);
  const [hook] = (await call('/targets')).json.targets;
  expect(hook).toMatchObject({ target: 'hook', open: 1, dead: 1, disabled: {} });
  expect(hook.lag.longestMs.map((ms: number) => ms > 0)).toEqual([...Array(23).fill(false), true]);
  expect((await call('/deliveries/msg_0/replay', {})).json.said).toContain(
    '1 delivery is due now. A worker sends it at once, or within a minute while its target is failing. Enabled: hook.',
  );
  expect((await call('/deliveries/msg_0/replay', {})).json.said).toBe(
    '1 delivery is due now. A worker sends it at once, or within a minute while its target is failing.',
  );
  expect((await call('/deliveries/msg_9/replay', {})).json.error.code).toBe('DELIVERY_UNKNOWN');
  expect((await call('/targets/hook/enable', {})).json.refused).toBe('NOT_DISABLED');
  expect((await call('/targets/other/enable', {})).json.error.code).toBe('SETTINGS_NAME_UNKNOWN');
  expect(await states()).toEqual(['waiting', 'ended', 'waiting']);
});

test('the API shows accounts with their tenant, what suspends them, and the dialect of the settings', async () => {
  await suspendAccount(database.pool, 'acme', 'the key is refused');
  expect((await call('/accounts')).json.accounts).toMatchObject([
    {
      account: 'acme',
      url: 'https://sales.example',
      allowed: 'at most 30 calls a minute',
      identity: null,
      suspended: { message: 'the key is refused' },
      dialect: { 'idField.contacts': 'nr' },
    },
  ]);
});

test('does not say of an account that it has no problem before it was used, and shows the command of a failure as one', async () => {
  const shown = await htmlAt('/accounts');
  expect(shown).toContain('not used yet');
  expect(shown).not.toContain('no problem');
  expect(await htmlAt('/runs/run-x')).toContain('<code>lockstep runs</code>');
  await aRun(database, { account: 'acme' });
  expect(await htmlAt('/accounts')).toContain('no problem');
});

test('the settings are shown without secrets, with warnings; problems of the file only to operators', async () => {
  const own = await openConsole({
    database,
    text: `${TEXT.replace('{ env: KEY }', 'very-secret-key').replace('listen:', 'tokens: { dash: { token: { env: TOKEN }, role: viewer } }, listen:')}`,
    env: { TOKEN: 'a-token-that-is-long-enough' },
    checkSettings: async () => ({ problem: 'line 3 is wrong', warnings: ['a warning'] }),
  });
  const html = await pageAt(own, '/settings');
  expect(html).toContain('sales.example');
  expect(html).toContain('line 3 is wrong');
  expect(html).toContain('a warning');
  expect(html).not.toContain('very-secret-key');
  const viewed = await fetch(`${own.url}/settings`, {
    headers: { authorization: 'Bearer a-token-that-is-long-enough' },
  });
  const text = await viewed.text();
  expect([viewed.status, text.includes('line 3'), text.includes('An operator sees')]).toEqual([200, false, true]);
  await own.close();
});

describe.runIf(CHROMIUM)('in a browser', () => {
  const openPage = browserPages();

  test('the pages are sound with hostile texts: light, dark, and on a phone', async () => {
    await deliver(['dead', 'delivered', null]);
    await suspendAccount(database.pool, 'acme', HOSTILE);
    await database.pool.query(
      `insert into ledger.links (scope, kind, source_id, record_id, run_id) values ('acme', 'item:issues', 'task:1', $1, '')`,
      [HOSTILE],
    );
    await noteFailing(database.pool, 'hook', { detail: HOSTILE, now: undefined });
    await disableTarget(database.pool, 'hook', { reason: 'GONE', detail: HOSTILE, now: undefined });
    const { page, wrong, close } = await openPage();
    for (const path of [
      '/deliveries',
      '/deliveries?verdict=dead',
      '/deliveries/msg_0',
      '/deliveries/confirm?verdict=dead',
      '/targets/hook',
      '/links',
      '/accounts',
      '/accounts/acme',
      '/queues',
      '/settings',
    ]) {
      await page.goto(web.url + path);
      await expectSound(page, path);
    }
    expect(wrong).toEqual([]);
    await close();
  });

  test('a page names a command only if the command shows the same', async () => {
    const { page, close } = await openPage({ javaScriptEnabled: false });
    const shown = async (path: string) => {
      await page.goto(`${web.url}${path}`);
      return page.getByText('The same on the command line').count();
    };
    expect([await shown('/accounts'), await shown('/confirm?action=retry')]).toEqual([1, 0]);
    await close();
  });

  test('a target shows how long its deliveries took, and that its secret is rotated; the key of an account is tried', async () => {
    await deliver(['delivered', 'delivered']);
    await suspendAccount(database.pool, 'acme', 'The key is refused.');
    await database.pool.query(`update ledger.suspensions set probe_at = now() + interval '1 hour'`);
    const { page, close } = await openPage({ javaScriptEnabled: false });
    await page.goto(`${web.url}/targets/hook`);
    expect(await page.getByRole('img').getAttribute('aria-label')).toMatch(/^hook: at most 1 min|^hook: at most 60/);
    expect(await page.textContent('main')).toContain('The secret is being rotated: signed with both.');
    await page.goto(`${web.url}/accounts`);
    await page.getByRole('button', { name: 'Try the key now' }).click();
    expect(await page.textContent('[role=status]')).toContain('A worker tries the key of acme now');
    const due = await database.pool.query('select probe_at <= clock_timestamp() as "isDue" from ledger.suspensions');
    expect(due.rows).toEqual([{ isDue: true }]);
    await close();
  });

  test('a channel for alerts and a webhook get a test message, and a target is checked, from their pages', async () => {
    const receiver = await startHttpServer({ status: 204, body: '' });
    const own = await openConsole({
      database,
      env: { HOOK: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
      targets: {
        open: async () => ({
          deliver: async () => ({ status: 'delivered' }),
          test: async () => ({ status: 'later', reason: 'TIMEOUT', detail: 'no answer in time' }),
          check: async () => [{ what: 'token', status: 'problem', detail: HOSTILE, remedy: 'renew `TOKEN`' }],
          close: async () => undefined,
        }),
      },
      text: `${TEXT}\nalerts: { pager: { type: webhook, url: "${receiver.url}", secret: { env: HOOK }, allowPrivate: true } }\n`,
    });
    const { page, wrong, close } = await openPage();
    await page.goto(`${own.url}/targets/alerts.pager`);
    await page.getByRole('button', { name: 'Send a test message' }).click();
    expect(await page.textContent('[role=status]')).toBe('alerts.pager accepted a test message.');
    expect(receiver.requests).toHaveLength(1);
    expect(await page.textContent('.facts')).toContain('alerts.pager.secret: the environment variable HOOK;');
    await page.goto(`${own.url}/targets/hook`);
    await page.getByRole('button', { name: 'Send a test message' }).click();
    expect(await page.textContent('[role=status]')).toBe('hook did not accept the test message: no answer in time');
    await page.goto(`${own.url}/targets/issues`);
    expect(await page.getByRole('button', { name: 'Send a test message' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Check the target now' }).click();
    expect(await page.textContent('.notes')).toContain('problem token: <img');
    expect(await page.textContent('.notes .fix')).toBe('Fix renew TOKEN');
    await expectSound(page);
    expect(wrong).toEqual([]);
    await close();
    await own.close();
    await receiver.close();
  });

  test('links are imported from a file, and downloaded as a file that can be imported', async () => {
    const { page, close } = await openPage();
    await page.goto(`${web.url}/links`);
    await page.getByText('Link many tasks at once').click();
    const buffer = Buffer.from('task_id;item_id\n1;11\n2;12');
    await page.getByLabel('File').setInputFiles({ name: '../../links.csv', mimeType: 'text/csv', buffer });
    await page.getByRole('button', { name: 'Import' }).click();
    expect(await page.textContent('[role=status]')).toContain('2 rows: 2 new');
    const download = await htmlAt('/links.csv?target=issues');
    expect(download.split('\r\n').map((line) => line.split(',').slice(0, 3))).toEqual([
      ['task_id', 'item_id', 'target'],
      ['task:1', expect.stringContaining('11'), 'issues'],
      ['task:2', expect.stringContaining('12'), 'issues'],
      [''],
    ]);
    const again = (await call('/links/import', { target: 'issues', account: 'acme', csv: download })).json;
    expect(again.said).toContain('2 rows: 0 new, 2 already linked');
    await page.getByText('Link many tasks at once').click();
    const long = { name: `${'links'.repeat(45)}.csv`, mimeType: 'text/csv', buffer };
    await page.getByLabel('File').setInputFiles(long);
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByRole('button', { name: 'Import what was checked' }).click();
    expect(await page.textContent('[role=status]')).toContain('2 rows: 0 new, 2 already linked');
    await close();
  });

  test('links are imported and removed without scripts', async () => {
    const { page, close } = await openPage({ javaScriptEnabled: false });
    await page.goto(`${web.url}/links`);
    await page.getByText('Link many tasks at once').click();
    await page.getByLabel('lines, with the header').fill('task_id,item_id\n1,11\n2,12');
    await page.getByRole('button', { name: 'Check' }).click();
    expect(await page.textContent('[role=status]')).toContain('Nothing was written. 2 rows: 2 new');
    await page.getByRole('button', { name: 'Import what was checked' }).click();
    expect(await page.textContent('[role=status]')).toContain('2 rows: 2 new');
    expect(await page.locator('tbody tr').count()).toBe(2);
    await page.getByRole('button', { name: 'Remove the link of task:1' }).click();
    expect(await page.textContent('[role=status]')).toContain('task:1 of acme is no longer linked with');
    expect(await page.locator('tbody tr').count()).toBe(1);
    await close();
  });

  test('dead letters are sent again after a question, without scripts; what is queued later is not', async () => {
    await deliver(['dead', 'dead', 'delivered']);
    const { page, close } = await openPage({ javaScriptEnabled: false });
    await page.goto(`${web.url}/deliveries`);
    await page.getByRole('link', { name: '2', exact: true }).click();
    await page.getByRole('link', { name: 'Send all of these again' }).click();
    expect(await page.textContent('main')).toContain('2 deliveries to hook to send again.');
    await database.pool.query(
      `update ledger.deliveries set created_at = now() + interval '1 minute' where id = 'msg_1'`,
    );
    await page.getByRole('button', { name: 'Send again' }).click();
    expect(await page.textContent('[role=status]')).toContain(
      '1 delivery is due now. A worker sends it at once, or within a minute while its target is failing.',
    );
    expect(await states()).toEqual(['waiting', 'ended', 'ended']);
    await page.goto(`${web.url}/deliveries/msg_1`);
    await page.getByRole('button', { name: 'Send again' }).click();
    expect(await states()).toEqual(['waiting', 'waiting', 'ended']);
    await close();
  });
});
