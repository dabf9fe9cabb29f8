/** The pages in a real browser. */
import { describe, expect, test } from 'vitest';
import { noteAttended } from '../../src/engine/ledger/attended-runs.ts';
import { addRows } from '../../src/engine/ledger/inputs.ts';
import { endRun, pauseRun } from '../../src/engine/ledger/run-status.ts';
import { addNote } from '../../src/engine/ledger/runs.ts';
import { keepSchedules } from '../../src/engine/ledger/schedules.ts';
import { WORKER } from '../engine/ledger/fresh-ledger.ts';
import { CHROMIUM } from '../support/chromium.ts';
import { browserPages, expectSound, HOSTILE } from './browser.ts';
import { pageAt } from './requests.ts';
import { LONG, openSyncsConsole } from './syncs-console.ts';

const { database, web, begin } = await openSyncsConsole();

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
  const failed = await begin('failed', { title: HOSTILE[0] ?? '' });
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

test('a later page of a list that has no entries does not say that the list has none', async () => {
  const run = await begin('nightly');
  for (const list of [
    ...['/activity', '/runs', '/deliveries', '/review/decisions', `/runs/${run}/rows`, `/runs/${run}/plan`].map(
      (path) => `${path}?after=${path === '/runs' ? 'beyond' : '99'}`,
    ),
    `/links?after=${encodeURIComponent(JSON.stringify(['zz', 'zz', 'zz']))}`,
  ])
    expect([list, await pageAt(web, list)]).toEqual([list, expect.stringContaining('Nothing follows here')]);
});

describe.runIf(CHROMIUM)('pages', () => {
  const openPage = browserPages();

  test('are sound with hostile cells: light, dark, and on a phone', async () => {
    const { run, waits } = await fill();
    const { page, wrong, close } = await openPage();
    const paths = [
      `/runs/${waits}`,
      `/runs/${waits}/plan?kind=updates`,
      '/',
      '/runs',
      `/runs/${run}`,
      `/runs/${run}/rows`,
      `/runs/${run}/rows/row-0`,
      `/runs/${run}/rows/row-3`,
      '/syncs',
      '/activity',
      `/confirm?action=cancel&run=${run}`,
      '/confirm?action=retry',
    ];
    for (const path of paths) {
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
    const { page, close } = await openPage();
    for (const path of ['/nothing', `/load/${HOSTILE[4]}`, '/records/none/orders']) {
      expect((await page.goto(web.url + path))?.ok()).toBe(false);
      await expectSound(page, path);
    }
    await close();
  });

  test('tell a first-time user what to do, and what is wrong', async () => {
    const { page, wrong, close } = await openPage();
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
    const { page, wrong, close } = await openPage();
    await page.goto(`${web.url}/runs`);
    await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    await page.getByRole('button', { name: 'Copy: lockstep runs' }).click();
    expect(await page.evaluate('getSelection().toString()')).toBe('lockstep runs');
    expect(wrong).toEqual([]);
    await close();
  });

  test('say of a dry run what would be written', async () => {
    const run = await begin('nightly', { dryRun: true, phase: 'scan-contacts' });
    await endRun(database.pool, run, 'done');
    await database.pool.query(`update ledger.runs set counts = '{"created": 2}' where id = $1`, [run]);
    const { page, close } = await openPage();
    for (const path of ['/runs', `/runs/${run}`]) {
      await page.goto(web.url + path);
      expect(await page.textContent('main')).toContain('2 would be created');
    }
    expect(await page.locator('.phase').allInnerTexts()).toEqual([
      expect.stringMatching(/^Reading contacts\n0 rows read\ntook 0\.\d s, began /),
    ]);
    await close();
  });

  test('work as plain forms without scripts: pause a sync, start a run, and cancel it', async () => {
    const { page, close } = await openPage({ javaScriptEnabled: false });
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
    await page.getByRole('button', { name: 'Cancel the run', exact: true }).click();
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
});
