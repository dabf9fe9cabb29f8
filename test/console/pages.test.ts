/** The pages in a real browser. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Console } from '../../src/console/server.ts';
import { noteAttended } from '../../src/engine/ledger/attended-runs.ts';
import { addRows } from '../../src/engine/ledger/inputs.ts';
import { endRun, pauseRun } from '../../src/engine/ledger/run-status.ts';
import { addNote, recordProgress, startRun } from '../../src/engine/ledger/runs.ts';
import { keepSchedules, pauseSync } from '../../src/engine/ledger/schedules.ts';
import { makePool } from '../../src/storage/pool.ts';
import { WORKER } from '../engine/ledger/fresh-ledger.ts';
import { CHROMIUM, launch } from '../support/chromium.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';
import { startProxy } from '../support/tcp-proxy.ts';
import { expectSound, HOSTILE, openPage } from './browser.ts';
import { openConsole, SETTINGS } from './open-console.ts';

/** The longest name that the settings allow. */
const LONG = 'weekly__'.repeat(8);

const SYNCS = `${SETTINGS}
syncs:
  nightly: { type: contacts, account: acme, schedule: { cron: "0 2 * * *", timezone: Europe/Berlin } }
  by-hand: { type: contacts, account: acme }
  ${LONG}: { type: contacts, account: acme, schedule: { every: 1h } }
`;

const about = { type: 'contacts', account: 'acme', lane: 'batch', dryRun: false, options: {} } as const;

describe.runIf(CHROMIUM)('pages', () => {
  let database: FreshDatabase;
  let browser: Browser;
  let web: Console;
  beforeAll(async () => {
    database = await freshDatabase();
    browser = await launch();
    web = await openConsole({ database, text: SYNCS });
  });
  beforeEach(() =>
    database.pool.query('truncate ledger.runs, ledger.schedules, ledger.paused_syncs, ledger.console_actions cascade'),
  );
  afterAll(async () => {
    await browser?.close();
    await web?.close();
    await database.close();
  });

  const begin = async (sync: string, title?: string): Promise<string> => {
    const begun = await startRun(database.pool, {
      ...about,
      sync,
      resource: sync,
      phase: 'import-customers',
      ...(title && { title }),
    });
    return begun.run.id;
  };

  /** A run of each kind; each text that comes from outside is hostile. */
  async function fill(): Promise<{ readonly run: string; readonly waits: string }> {
    const { pool } = database;
    const old = new Date('2026-01-01T00:00Z');
    const schedule = { kind: 'every', everyMs: 3_600_000, jitterMs: 0, missed: 'skip' } as const;
    await keepSchedules(
      pool,
      [
        { sync: 'nightly', schedule },
        { sync: LONG, schedule },
      ],
      old,
    );
    const failed = await begin('failed', HOSTILE[0]);
    await endRun(pool, failed, 'failed', { code: 'SERVICE_AWAY', message: HOSTILE[2] ?? '' });
    const waits = await begin('waits');
    const writes = HOSTILE.map((text, n) => ({ n, sourceId: `row-${n}`, label: text, fields: { full_name: text } }));
    await addRows(pool, waits, writes);
    await pool.query(
      `insert into ledger.shown (run_id, n, source_id, source, write, was)
       select run_id, n, source_id, '', '', case when n % 2 = 0 then jsonb_build_object('full_name', 'Was ' || label) end
       from ledger.inputs where run_id = $1`,
      [waits],
    );
    await pauseRun(pool, waits, { code: 'AWAITS_CONFIRMATION', message: 'Look at it.' });
    await noteAttended(pool, [await begin('works')], WORKER);
    const run = await begin('nightly');
    const rows = HOSTILE.map((text, n) => ({
      n,
      sourceId: `row-${n}`,
      label: text,
      fields: { name: text },
      verdict: n % 2 === 0 ? ('rejected' as const) : ('review' as const),
      reason: n % 2 === 0 ? 'REFUSED' : 'AMBIGUOUS_MATCH',
      facts: { said: text },
    }));
    await addRows(pool, run, rows);
    for (const text of HOSTILE) await addNote(pool, run, text);
    await pool.query(
      `insert into ledger.attempts (run_id, n, at, outcome, sends)
       select $1, 0, clock_timestamp() - g * interval '1 s', 'acked', 1 from generate_series(0, 9) g`,
      [run],
    );
    await endRun(pool, run, 'done');
    return { run, waits };
  }

  test('are sound with hostile cells: light, dark, and on a phone', async () => {
    const { run, waits } = await fill();
    const { page, wrong, close } = await openPage(browser);
    const paths = [
      `/runs/${waits}`,
      `/runs/${waits}/plan?kind=updates`,
      '/',
      '/runs',
      `/runs/${run}`,
      `/runs/${run}/rows`,
      `/runs/${run}/rows/row-0`,
      `/runs/${run}/rows/row-3`,
    ];
    for (const path of [
      ...paths,
      '/syncs',
      '/activity',
      `/confirm?action=cancel&run=${run}`,
      '/confirm?action=retry',
    ]) {
      await page.goto(web.url + path);
      await expectSound(page, path);
    }
    await page.goto(`${web.url}/runs/${run}`);
    await page.locator('.u-legend', { hasText: 'Rows sent a second' }).waitFor();
    expect(await page.locator('.plotted tbody tr').count()).toBeGreaterThanOrEqual(10);
    expect(wrong).toEqual([]);
    await close();
  });

  test('that say what is wrong are sound: light, dark, and on a phone', async () => {
    const { page, close } = await openPage(browser);
    for (const path of ['/nothing', `/load/${HOSTILE[4]}`, '/records/none/orders']) {
      expect((await page.goto(web.url + path))?.ok()).toBe(false);
      await expectSound(page, path);
    }
    await close();
  });

  test('tell a first-time user what to do, and what is wrong', async () => {
    const { page, wrong, close } = await openPage(browser);
    await page.goto(web.url);
    expect(await page.textContent('main')).toContain('lockstep doctor --account acme');
    // The earlier start comes first, which depends on the day.
    expect(await page.textContent('main')).toMatch(
      /syncs (?:(?:weekly__)+, nightly|nightly, (?:weekly__)+).*no scheduler starts them.*lockstep start/s,
    );
    const schedule = { kind: 'every', everyMs: 3_600_000, jitterMs: 0, missed: 'skip' } as const;
    await keepSchedules(database.pool, [{ sync: 'nightly', schedule }], new Date('2026-01-01T00:00Z'));
    await page.reload();
    expect(await page.textContent('main')).toMatch(
      /sync nightly.*it was due and has not started.*sync weekly__.*no scheduler starts it.*lockstep start/s,
    );
    expect(await page.textContent('main')).toContain('lockstep doctor --account acme');
    await expectSound(page);
    await page.goto(`${web.url}/runs`);
    expect(await page.textContent('main')).toContain('Nothing has run yet');
    expect(wrong).toEqual([]);
    await close();
  });

  test('select a command to copy where the browser lets no page copy', async () => {
    const { page, wrong, close } = await openPage(browser);
    await page.goto(`${web.url}/runs`);
    await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    await page.getByRole('button', { name: 'Copy: lockstep runs' }).click();
    expect(await page.evaluate('getSelection().toString()')).toBe('lockstep runs');
    expect(wrong).toEqual([]);
    await close();
  });

  test('say of a dry run what would be written', async () => {
    const run = await startRun(database.pool, {
      ...about,
      dryRun: true,
      sync: 'nightly',
      resource: 'nightly',
      phase: 'scan-contacts',
    });
    await endRun(database.pool, run.run.id, 'done');
    await database.pool.query(`update ledger.runs set counts = '{"created": 2}' where id = $1`, [run.run.id]);
    const { page, close } = await openPage(browser);
    for (const path of ['/runs', `/runs/${run.run.id}`]) {
      await page.goto(web.url + path);
      expect(await page.textContent('main')).toContain('2 would be created');
    }
    expect(await page.locator('.phase').allInnerTexts()).toEqual([
      expect.stringMatching(/^Reading contacts\n0 rows read\ntook 0\.\d s, began /),
    ]);
    await close();
  });

  test('show progress by themselves and keep the focus, with times in the zone of the viewer, and UTC beside them', async () => {
    const run = await begin('nightly');
    await database.pool.query(`update ledger.runs set created_at = '2026-11-22T20:00:05Z' where id = $1`, [run]);
    await noteAttended(database.pool, [run], WORKER);
    const { page, close } = await openPage(browser);
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

  test('work as plain forms without scripts: pause a sync, start a run, and cancel it', async () => {
    const { page, close } = await openPage(browser, { javaScriptEnabled: false });
    await page.goto(`${web.url}/syncs`);
    await page.getByLabel('Reason to pause nightly').fill('moving <b>');
    await page.getByLabel('Reason to pause nightly').press('Enter');
    expect(await page.textContent('main')).toContain('moving <b>');
    await page.getByRole('button', { name: 'Run now' }).first().click();
    expect(await page.textContent('[role=status]')).toContain('A run of nightly has begun');
    await page.goto(`${web.url}/syncs`);
    await page.getByRole('button', { name: 'Run now' }).first().click();
    expect(await page.textContent('[role=status]')).toContain('Nothing was started');
    await page.getByRole('link', { name: 'Cancel the run' }).click();
    expect(await page.textContent('main')).toContain('retry the load or run the sync again'); // a load has no next run
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    expect(await page.textContent('.headline .chip')).toBe('cancelled');
    expect(await page.textContent('.notice')).toMatch(
      /^2\d{3}-\d\d-\d\d \d\d:\d\d:\d\d UTC: Cancelled by operator in the console: nothing more is sent\.$/,
    );
    await page.goto(`${web.url}/activity`);
    expect(await page.locator('tbody tr td:nth-child(3)').allTextContents()).toEqual([
      'Cancel run',
      'Run',
      'Run',
      'Pause sync',
    ]);
    await close();
  });

  test('say that the database is away, and continue when it is back', async () => {
    const proxy = await startProxy(database.connection);
    const pool = makePool({ ...database.connection, ...proxy.address });
    const own = await openConsole({ database: { ...database, pool }, text: SYNCS });
    const run = await begin('nightly');
    await noteAttended(database.pool, [run], WORKER);
    const { page, close } = await openPage(browser);
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
    const { page, wrong, close } = await openPage(browser);
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
    const { page, wrong, close } = await openPage(browser);
    const tabs = [page];
    for (let tab = 1; tab < 9; tab++) tabs.push(await page.context().newPage());
    for (const tab of tabs) await tab.goto(`${web.url}/syncs`);
    await pauseSync(database.pool, 'nightly', 'moving');
    for (const tab of tabs) await tab.getByText('moving').waitFor();
    expect(wrong).toEqual([]);
    await close();
  });
});
