/** The page of an account in a real browser, at a real service. */
import { afterAll, describe, expect, test } from 'vitest';
import { listActions } from '../../src/engine/ledger/console/console-actions.ts';
import { readRun, startRun } from '../../src/engine/ledger/runs.ts';
import { addBudgetUse, budgetHistory } from '../../src/engine/ledger/scopes/budget-minutes.ts';
import { bindAccount } from '../../src/engine/ledger/scopes/scopes.ts';
import { liftSuspension, suspendAccount, suspensionOf } from '../../src/engine/ledger/scopes/suspensions.ts';
import { lastExamination } from '../../src/operator/examination.ts';
import { CHROMIUM } from '../support/chromium.ts';
import { openOrdersHarness } from '../support/harness/orders.ts';
import { PATIENT } from '../support/patient.ts';
import { browserPages, expectSound } from './browser.ts';
import { pageAt } from './requests.ts';

/** How many lines the rate of the first budget on Home has. */
const LINES_OF_RATE = `(() => {
  const range = document.createRange();
  range.selectNodeContents(document.querySelector('td.rate'));
  return new Set([...range.getClientRects()].map(({ top }) => top)).size;
})()`;

const harness = await openOrdersHarness({ account: 'budget: { requests: 500, per: 1s }' });
const web = await harness.workspace.serveConsole();
afterAll(() => harness.close());

describe.runIf(CHROMIUM)('an account', () => {
  const openPage = browserPages();

  test('is examined from its page, which shows the verdict and the findings', async () => {
    const { page, wrong, close } = await openPage();
    await page.goto(`${web.url}/accounts/test`);
    expect(await page.textContent('main')).toContain('The service has not been examined yet.');
    await page.getByRole('button', { name: 'Examine the service now' }).click();
    await page.getByText('Account test is usable').waitFor();
    await page.getByText('All findings with their evidence').click();
    expect(await page.getByRole('row', { name: /^address/ }).textContent()).toContain('certain');
    await expectSound(page);
    expect(wrong).toEqual([]);
    expect((await lastExamination(harness.database.pool, 'test'))?.report.calls).toBeGreaterThan(10);
    const [last] = await listActions(harness.database.pool, { limit: 1 });
    expect(last).toMatchObject({ action: 'examine-account', about: 'test' });
    await close();
  });

  test('shows its budget over time: as a table, and as a chart where scripts run', async () => {
    const { pool } = harness.database;
    const use = { calls: 600, limited: 2, waitedMs: 90_000, perSecond: 20 };
    await addBudgetUse(pool, 'test', use);
    await addBudgetUse(pool, 'test', { ...use, perSecond: 15 });
    const [minute] = (await budgetHistory(pool, ['test'], { minutes: 2, stepMinutes: 2 })).get('test') ?? [];
    expect(minute).toMatchObject({ limited: 4, perSecond: 15 });
    const plain = await openPage({ javaScriptEnabled: false });
    await plain.page.goto(`${web.url}/accounts/test?range=hour`);
    expect(await plain.page.textContent('main')).toContain('the service asked to slow down 4 times');
    expect(await plain.page.locator('.plotted td[data-value="15"]').isVisible()).toBe(true);
    await plain.close();
    const { page, wrong, close } = await openPage();
    await page.goto(web.url);
    expect(await page.evaluate(LINES_OF_RATE)).toBe(2); // what the service allows, and the settings
    await addBudgetUse(pool, 'test', { ...use, perSecond: 15, pausedForMs: 60_000 }); // may be in another minute
    // Pages that are opened at nearly the same time share what was read for the first one.
    await expect
      .poll(async () => {
        await page.goto(web.url);
        return page.textContent('td.rate');
      })
      .toContain('waits for the rate limit until');
    await page.goto(`${web.url}/accounts`);
    const card = await page.locator('.card', { hasText: 'test' }).textContent();
    expect(card).toMatch(/waits for the rate limit until .*15 calls a second when last used \(at most/);
    expect(card).not.toContain('no problem');
    await page.goto(`${web.url}/accounts/test?range=hour`);
    await page.goto(`${web.url}/accounts/test?range=hour`);
    await page.locator('.u-legend').waitFor();
    expect(await page.locator('.plotted table').isVisible()).toBe(false);
    await expectSound(page);
    expect(wrong).toEqual([]);
    await close();
  });

  test('records the calls that its budget granted', async () => {
    const { pool } = harness.database;
    const count = async () =>
      ((await budgetHistory(pool, ['test'], { minutes: 60, stepMinutes: 60 })).get('test') ?? []).reduce(
        (sum, { calls }) => sum + calls,
        0,
      );
    const before = await count();
    const account = await harness.workspace.accounts.open('test');
    await account.client.call('tasks.getall', { lane: 'interactive' });
    await expect.poll(count, PATIENT).toBeGreaterThan(before);
  });

  test('is suspended with a reason and resumed without scripts; nothing is sent in between', async () => {
    const { pool } = harness.database;
    const { page, close } = await openPage({ javaScriptEnabled: false });
    await page.goto(`${web.url}/accounts/test`);
    await page.getByLabel('Reason').fill('the service is moving');
    await page.getByRole('button', { name: 'Suspend' }).click();
    expect(await page.textContent('main')).toContain('Suspended by operator in the console: the service is moving.');
    expect(await page.getByRole('button', { name: 'Examine the service now' }).count()).toBe(0);
    await page.goto(`${web.url}/records/test/contacts`);
    expect(await page.textContent('main')).toContain('is suspended, so nothing is sent');
    await page.goto(`${web.url}/accounts`);
    await page.getByRole('button', { name: 'Resume the account' }).click();
    expect(await page.textContent('[role=status]')).toBe('test is resumed: its runs continue.');
    expect(await suspensionOf(pool, 'test')).toBe(undefined);
    await close();
  });

  test('whose key is refused says when a worker tries it again, and that one does', async () => {
    const { pool } = harness.database;
    const { page, wrong, close } = await openPage();
    await suspendAccount(pool, 'test', 'The key is refused.');
    await page.goto(`${web.url}/accounts/test`);
    expect(await page.textContent('main')).toContain('A worker tries the key again at');
    await page.getByRole('button', { name: 'Try the key now' }).click();
    await page.getByText('A worker tries the key now.').waitFor();
    await expectSound(page);
    expect(wrong).toEqual([]);
    await liftSuspension(pool, 'test');
    await close();
  });

  test('that left the settings names the command that lists it', async () => {
    const { pool } = harness.database;
    await pool.query(`insert into ledger.scopes (id) values ('gone')`);
    await bindAccount(pool, 'gone', 'gone');
    const html = await pageAt(web, '/accounts/gone');
    expect(html).toMatch(/not in the settings.*<code>lockstep accounts[ <]/s);
    expect(html).not.toContain('lockstep doctor');
    await pool.query(`delete from ledger.accounts where name = 'gone'`);
  });

  test('whose key or address has changed is confirmed by a person, as the same tenant or as another one, without scripts', async () => {
    const { pool } = harness.database;
    const { page, close } = await openPage({ javaScriptEnabled: false });
    await harness.workspace.accounts.open('test');
    const pause = async () => {
      const sync = { sync: 'nightly', type: 'contacts', account: 'test', resource: 'nightly', phase: 'scan-contacts' };
      const { run } = await startRun(pool, { ...sync, options: {}, lane: 'batch', dryRun: false });
      await pool.query(
        `update ledger.runs set status = 'paused', error_code = 'IDENTITY_CHANGED', error = $2 where id = $1`,
        [
          run.id,
          'Account "test" may be a different tenant now. If it is the same tenant: `lockstep accounts rebind test`.',
        ],
      );
      await pool.query(`update ledger.identities set fingerprint = md5(fingerprint)`);
      await page.goto(`${web.url}/runs/${run.id}`);
      expect(await page.locator('.acts .primary').allTextContents()).toEqual(['Confirm account test']);
      await page.goto(`${web.url}/accounts`);
      expect(await page.locator('.card').textContent()).toMatch(/to be confirmed.*may be a different tenant now/s);
      expect(await page.getByText('no problem').count()).toBe(0);
      return async () => (await readRun(pool, run.id)).status;
    };
    const statusOfFirst = await pause();
    await page.goto(`${web.url}/accounts/test`);
    expect(await page.textContent('main')).toMatch(/Tenanttest since/); // its only address is that of the settings
    await page.getByRole('button', { name: 'It is the same tenant' }).click();
    expect(await page.textContent('[role=status]')).toMatch(/is tenant test\. 1 paused run continues\./);
    expect(await page.getByText('to be confirmed').count()).toBe(0);
    expect(await statusOfFirst()).toBe('running');
    await pool.query(`update ledger.runs set status = 'cancelled', phase = null, ended_at = now()`);
    const statusOfSecond = await pause();
    await page.getByLabel('Leave its links and history behind').check();
    await page.getByRole('button', { name: 'It is another tenant' }).click();
    expect(await page.textContent('[role=status]')).toMatch(
      /another tenant, test~2, .* 1 unfinished run of the earlier tenant/,
    );
    expect(await statusOfSecond()).toBe('cancelled');
    await close();
  });
});
