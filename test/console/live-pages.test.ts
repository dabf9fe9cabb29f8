/** Open pages follow what changes, in a real browser, also when the database or the server was away. */
import { describe, expect, test } from 'vitest';
import { noteAttended } from '../../src/engine/ledger/attended-runs.ts';
import { addRows } from '../../src/engine/ledger/inputs.ts';
import { endRun } from '../../src/engine/ledger/run-status.ts';
import { recordProgress } from '../../src/engine/ledger/runs.ts';
import { pauseSync } from '../../src/engine/ledger/schedules.ts';
import { makePool } from '../../src/storage/pool.ts';
import { WORKER } from '../engine/ledger/fresh-ledger.ts';
import { CHROMIUM } from '../support/chromium.ts';
import { startProxy } from '../support/tcp-proxy.ts';
import { browserPages } from './browser.ts';
import { openConsole } from './open-console.ts';
import { openSyncsConsole, SYNCS } from './syncs-console.ts';

const { database, web, begin } = await openSyncsConsole();

describe.runIf(CHROMIUM)('open pages', () => {
  const openPage = browserPages();

  test('show progress by themselves and keep the focus, with times in the zone of the viewer, and UTC beside them', async () => {
    const run = await begin('nightly');
    await database.pool.query(`update ledger.runs set created_at = '2026-11-22T20:00:05Z' where id = $1`, [run]);
    await noteAttended(database.pool, [run], WORKER);
    const { page, close } = await openPage();
    await page.goto(`${web.url}/runs/${run}`);
    const started = page.locator('.headline time');
    expect([await started.textContent(), await started.getAttribute('title')]).toEqual([
      '2026-11-23 05:00:05',
      '2026-11-22 20:00:05 UTC',
    ]);
    await page.getByRole('link', { name: 'Download as CSV' }).focus();
    await addRows(database.pool, run, [{ n: 1, sourceId: '1', label: 'Ann' }]);
    await recordProgress(database.pool, run, { rowsSeen: 1 });
    await page.getByText('1 row', { exact: true }).waitFor();
    expect(await page.locator('a:focus').textContent()).toBe('Download as CSV'); // for those who use the keyboard
    expect(await started.textContent()).toBe('2026-11-23 05:00:05');
    await page.goto(`${web.url}/runs`);
    const listed = page.locator('.list time').first();
    expect([await listed.textContent(), await listed.getAttribute('title')]).toEqual([
      '2026-11-23 05:00',
      '2026-11-22 20:00:05 UTC',
    ]);
    await close();
  });

  test('say that the database is away, and continue when it is back', async () => {
    const proxy = await startProxy(database.connection);
    const pool = makePool({ ...database.connection, ...proxy.address });
    const own = await openConsole({ database: { ...database, pool }, text: SYNCS });
    const run = await begin('nightly');
    await noteAttended(database.pool, [run], WORKER);
    const { page, close } = await openPage();
    const [open, late] = [page, await page.context().newPage()];
    await open.goto(`${own.url}/runs/${run}`);
    proxy.cut();
    await open.getByText('The database is unavailable.').waitFor();
    expect((await late.goto(own.url))?.status()).toBe(503);
    expect(await late.textContent('main')).toMatch(/This page tries again every 5 seconds\..*DATABASE_LOST/s);
    const sent = await fetch(`${own.url}/runs/${run}/cancel`, { method: 'POST', headers: { origin: own.url } });
    const answer = await sent.text();
    expect(answer).toContain('It is not known whether what you sent was done.');
    expect(answer).not.toContain('command'); // a person in the browser started none
    proxy.restore();
    await addRows(database.pool, run, [{ n: 1, sourceId: '1', label: 'Ann' }]);
    await open.getByText('1 row', { exact: true }).waitFor();
    await expect.poll(() => open.locator('#away').isHidden()).toBe(true);
    await late.getByRole('heading', { name: 'Running now' }).waitFor();
    await close();
    await own.close();
    await pool.end();
    await proxy.close();
  });

  test('continue when the server was restarted, keep what a person is writing, and hold no stream while hidden', async () => {
    const listen = (port: string) => SYNCS.replace('127.0.0.1:0', `127.0.0.1:${port}`);
    const first = await openConsole({ database, text: SYNCS });
    const run = await begin('nightly');
    await noteAttended(database.pool, [run], WORKER);
    const { page, wrong, close } = await openPage();
    await page.goto(`${first.url}/runs/${run}`);
    const written = await page.context().newPage();
    await written.goto(`${first.url}/syncs`);
    await written.getByLabel('Reason to pause nightly').fill('moving');
    await first.close();
    await page.getByText('Lockstep does not answer.').waitFor();
    await addRows(database.pool, run, [{ n: 1, sourceId: '1', label: 'Ann' }]);
    const again = await openConsole({ database, text: listen(new URL(first.url).port) });
    await page.getByText('1 row', { exact: true }).waitFor();
    await expect.poll(() => page.locator('#away').isHidden()).toBe(true);
    await endRun(database.pool, run, 'done');
    await page.locator('.headline .chip', { hasText: 'done' }).waitFor();
    expect(await written.getByLabel('Reason to pause nightly').inputValue()).toBe('moving');
    const ended = page.waitForEvent('requestfailed', (request) => request.url().includes('seen='));
    await page.evaluate(`Object.defineProperty(document, 'hidden', { value: true });
      document.dispatchEvent(new Event('visibilitychange'))`);
    await ended;
    // A server that is closing answers with 503, and then there is none.
    expect(wrong.filter((text) => !/net::ERR_|status of 503/.test(text))).toEqual([]);
    await close();
    await again.close();
  });

  test('in more tabs of one browser than it keeps connections all receive what changes', async () => {
    const { page, wrong, close } = await openPage();
    const tabs = [page];
    for (let tab = 1; tab < 9; tab++) tabs.push(await page.context().newPage());
    for (const tab of tabs) await tab.goto(`${web.url}/syncs`);
    await pauseSync(database.pool, 'nightly', 'moving');
    for (const tab of tabs) await tab.getByText('moving').waitFor();
    expect(wrong).toEqual([]);
    await close();
  });
});
