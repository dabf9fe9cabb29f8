/** Review in a real browser, and two people who decide about the same row. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { listDecisions } from '../../src/engine/ledger/decisions.ts';
import { addRows, type NewRow } from '../../src/engine/ledger/inputs.ts';
import { endRun } from '../../src/engine/ledger/run-status.ts';
import { startRun } from '../../src/engine/ledger/runs.ts';
import { asLoad } from '../engine/ledger/fresh-ledger.ts';
import { anAccount } from '../engine/worker/an-account.ts';
import { CHROMIUM, launch } from '../support/chromium.ts';
import { freshDatabase } from '../support/database.ts';
import { expectSound, openPage } from './browser.ts';
import { openConsole, SETTINGS } from './open-console.ts';
import { apiOf, pageAt } from './requests.ts';

const HOSTILE = `<img src=x onerror="alert(1)">"><svg onload=alert(2)> \u202egpj.exe \u001b[31m ${'x'.repeat(3_000)}`;

const AWAY = new Error('the service is away');
const REFUSED = { status: 'refused', httpStatus: 404, message: 'not found' } as const;

/** Ids of the customers that the service has; undefined: it is away. */
let customers: readonly number[] | undefined;
const database = await freshDatabase();
const account = anAccount(async (_, { query }) => {
  const id = customers?.find((one) => one === query?.id);
  return id === undefined ? REFUSED : { status: 'applied', httpStatus: 200, content: { id } };
});
const web = await openConsole({
  database,
  openAccount: () => (customers ? Promise.resolve(account) : Promise.reject(AWAY)),
});
beforeEach(() => database.pool.query('truncate ledger.runs, ledger.decisions, ledger.console_actions cascade'));
afterAll(async () => {
  await web.close();
  await database.close();
});

/** A finished run with contacts in review; each has two candidates, and the second may be its customer. */
async function inReview(labels: readonly string[], noKey: readonly string[] = []): Promise<void> {
  const { pool } = database;
  const about = { type: 'contacts', account: 'acme', lane: 'batch', dryRun: false, options: {} } as const;
  const { run } = await startRun(pool, { ...about, sync: 'nightly', resource: 'contacts', phase: 'scan-contacts' });
  const rows = [...labels, ...noKey].map((label, i) => ({
    n: i + 1,
    sourceId: String(i + 1),
    label,
    verdict: 'review' as const,
    reason: i < labels.length ? 'AMBIGUOUS_MATCH' : 'NO_KEY',
    facts: { ids: ['15', '16'] },
  }));
  await addRows(pool, run.id, rows);
  const asScanned = `update ledger.inputs set source_id = n::text, name = 'Ann Lee', email = 'ann@example.com' where run_id = $1`;
  await pool.query(asScanned, [run.id]);
  const customers = {
    15: { name: 'Ann Lee', email: 'ANN@example.com' },
    16: { name: HOSTILE, email: 'other@example.com' },
  };
  await pool.query('insert into ledger.evidence select run_id, n, $2 from ledger.inputs where run_id = $1', [
    run.id,
    customers,
  ]);
  await endRun(pool, run.id, 'done');
}

const ASKED = { reason: 'AMBIGUOUS_CUSTOMER', facts: { customers: ['15', '16'] } };

/** A load whose orders may each belong to two customers; `names`: of their customers, in the file. Returns the run. */
async function ordersInReview(
  names: readonly string[],
  asked: Pick<NewRow, 'reason' | 'facts'> = ASKED,
): Promise<string> {
  const { pool } = database;
  const about = { type: 'orders', account: 'acme', lane: 'batch', dryRun: false, options: {} } as const;
  const { run } = await startRun(pool, { ...about, sync: 'orders', resource: 'orders', phase: 'load-orders' });
  await asLoad(database, run);
  await addRows(
    pool,
    run.id,
    names.map((_, i) => ({ n: i + 1, label: `A-${i + 1}`, verdict: 'review', ...asked })),
  );
  await pool.query('update ledger.inputs set name = ($2::text[])[n] where run_id = $1', [run.id, names]);
  await endRun(pool, run.id, 'done');
  return run.id;
}

const decisions = async () =>
  (await listDecisions(database.pool)).map(({ subject, choice, record, note }) => [subject, choice, record, note]);

const call = apiOf(web);

const ITEM = `/review/items/${encodeURIComponent('acme/contact-1')}`;

test('a row that can only be ignored says what to do at the service, and its run has nothing to retry', async () => {
  const twice = await ordersInReview(['Ann'], { reason: 'DUPLICATE', facts: { what: 'order', ids: ['14', '15'] } });
  const [{ id }] = (await call('/review')).json.items;
  const page = await pageAt(web, `/review/items/${encodeURIComponent(id)}`);
  expect(page).toContain('Delete all but one at the service.');
  expect(page).toContain(
    '<p class="dim">Ignore sends nothing, and the row counts as existing. Later keeps it in review.</p>',
  );
  expect(await pageAt(web, `/runs/${twice}`)).not.toContain('action=retry');
  expect(await pageAt(web, `/runs/${await ordersInReview(['Bob'])}`)).toContain('action=retry');
});

test('the second of two people who decide about a row is told, and the first decision stays', async () => {
  await inReview(['Ann']);
  const { mark } = (await call(ITEM)).json.item;
  expect((await call(`${ITEM}/decide`, { choice: 'use', record: '15', mark })).json.said).toContain(
    'linked with customer 15',
  );
  const second = await call(`${ITEM}/decide`, { choice: 'ignore', mark });
  expect([second.status, second.json.error.code]).toEqual([409, 'REVIEW_DECIDED']);
  expect(second.json.error.message).toContain('operator in the console decided about acme/contact-1 meanwhile: use 15');
  expect(await decisions()).toEqual([['1', 'use', '15', null]]);
  const offersUndo = async () => (await pageAt(web, ITEM)).includes('Undo its decision below');
  const apply = (by: string | null) =>
    database.pool.query(
      'update ledger.decisions set applied_by = $1::text, applied_at = case when $1::text is not null then now() end',
      [by],
    );
  expect(await offersUndo()).toBe(true);
  await apply('run-2');
  expect(await offersUndo()).toBe(false);
  await apply(null);
  const { entry } = (await call(ITEM)).json.decisions[0];
  expect((await call(`${ITEM}/undo`, { entry })).status).toBe(200);
  expect((await call(`${ITEM}/undo`, { entry })).json.error.code).toBe('REVIEW_DECIDED');
});

test('the page of a run says how many of its rows people have decided, and offers no decision when none is left', async () => {
  await inReview(['Ann', 'Bob']);
  const { runs } = (await call('/runs')).json;
  const page = () => pageAt(web, `/runs/${runs[0].run}`);
  const decide = async (item: string) => {
    const { mark } = (await call(item)).json.item;
    expect((await call(`${item}/decide`, { choice: 'ignore', mark })).status).toBe(200);
  };
  expect(await page()).not.toContain('People have decided');
  await decide(ITEM);
  expect(await page()).toMatch(/Decide them.*People have decided about 1 of them/s);
  for (const path of ['/runs', `/confirm?action=retry&run=${runs[0].run}`])
    expect(await pageAt(web, path)).toContain('2 in review (1 of them decided)');
  await decide(`/review/items/${encodeURIComponent('acme/contact-2')}`);
  const html = await page();
  expect(html).toContain('People have decided about all of them');
  expect(html).not.toContain('Decide them');
});

test('a decision is refused if the evidence has changed, and if it is not possible', async () => {
  await inReview(['Ann']);
  const { mark } = (await call(ITEM)).json.item;
  await database.pool.query(`update ledger.evidence set customers = '{"15": null}'`);
  expect((await call(`${ITEM}/decide`, { choice: 'create', mark })).json.error.code).toBe('REVIEW_CHANGED');
  const now = (await call(ITEM)).json.item.mark;
  expect((await call(`${ITEM}/decide`, { choice: 'use', mark: now })).status).toBe(400);
  expect((await call(`${ITEM}/decide`, { choice: 'ignore', note: 'a\0b', mark: now })).status).toBe(400);
  expect((await call('/review/items/contact-9')).json.error.code).toBe('REVIEW_UNKNOWN');
  expect(await decisions()).toEqual([]);
});

test('a record that the service does not have is refused at once, and taken unchecked while the service is away', async () => {
  await inReview(['Ann']);
  const { mark } = (await call(ITEM)).json.item;
  const use99 = () => call(`${ITEM}/decide`, { choice: 'use', record: '99', mark });
  customers = [15, 16];
  const refused = (await use99()).json.error;
  expect([refused.code, refused.message]).toEqual([
    'CHOICE_NOT_POSSIBLE',
    'Contact 1 (Ann): the service of account "acme" has no customer 99.',
  ]);
  expect(await decisions()).toEqual([]);
  customers = undefined;
  expect((await use99()).json.said).toContain('The service could not be asked whether it has this record');
  expect(await decisions()).toEqual([['1', 'use', '99', null]]);
});

test('lists rows by page, with how many each reason has', async () => {
  await inReview(['a', 'b', 'c'], ['d']);
  const first = (await call('/review?limit=3')).json;
  const rest = (await call(`/review?limit=3&after=${encodeURIComponent(first.next)}`)).json;
  const labels = [...first.items, ...rest.items].map(({ label }: { label: string }) => label);
  expect([labels, rest.next, first.groups]).toEqual([['a', 'b', 'c', 'd'], null, { AMBIGUOUS_MATCH: 3, NO_KEY: 1 }]);
  expect((await call('/review?after=x')).status).toBe(400);
});

describe.runIf(CHROMIUM)('in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());

  test('the pages are sound with hostile rows: light, dark, and on a phone', async () => {
    await inReview(['Ann Lee', HOSTILE], ['Bob']);
    const { mark } = (await call(ITEM)).json.item;
    await call(`${ITEM}/decide`, { choice: 'later', note: HOSTILE.slice(0, 900), mark });
    const { page, wrong, close } = await openPage(browser);
    const confirm = '/review/confirm?choice=ignore&reason=AMBIGUOUS_MATCH';
    for (const path of ['/review', ITEM, ITEM.replace('-1', '-2'), '/review/decisions', confirm]) {
      await page.goto(web.url + path);
      await expectSound(page, path);
    }
    expect(wrong).toEqual([]);
    await close();
  });

  test('keys decide, and the next row follows; a key in a note is text', async () => {
    await inReview(['Ann', 'Bob', 'Cy']);
    const { page, wrong, close } = await openPage(browser);
    await page.goto(`${web.url}/review`);
    await page.getByRole('link', { name: 'Ann' }).click();
    await page.getByLabel('Note').fill('same');
    await page.getByLabel('Note').press('1');
    await page.getByRole('link', { name: 'The row' }).click();
    const drawer = page.getByRole('dialog', { name: 'Ann' });
    await drawer.getByRole('heading').first().click();
    await page.keyboard.press('i'); // decides nothing while the row lies over the page
    await drawer.getByRole('button', { name: 'Close' }).click();
    expect(await page.getByLabel('Note').inputValue()).toBe('same1');
    await page.getByRole('heading').first().click();
    await page.keyboard.press('2');
    await page.getByRole('heading', { name: 'Contact 2 (Bob)' }).waitFor();
    expect(await page.textContent('[role=status]')).toContain('Contact 1 (Ann): will be linked with customer 16.');
    await page.getByRole('link', { name: 'See it, or undo it' }).click();
    await page.getByRole('button', { name: 'Undo the decision about acme/contact-1' }).click();
    await page.getByText('is in review again').waitFor();
    await page.keyboard.press('2');
    await page.getByRole('heading', { name: 'Contact 2 (Bob)' }).waitFor();
    await page.keyboard.press('c');
    await page.getByRole('heading', { name: 'Contact 3 (Cy)' }).waitFor();
    await page.getByLabel('Another customer').fill('77');
    await page.getByLabel('Another customer').press('Enter');
    await page.getByRole('button', { name: 'Use it' }).click();
    await page.getByText('No row waits for a decision').waitFor();
    const made = [
      ['3', 'use', '77', null],
      ['2', 'create', null, null],
      ['1', 'use', '16', null],
      ['1', 'use', '16', 'same1'],
    ];
    expect([await decisions(), wrong]).toEqual([made, []]);
    await close();
  });

  test('one decision is about all orders of a load with the same customer, and can be undone for all', async () => {
    await ordersInReview(['Ann Lee', 'Ann Lee', 'Bob', 'Ann Lee']);
    const { page, wrong, close } = await openPage(browser);
    await page.goto(`${web.url}/review`);
    await page.getByRole('link', { name: 'A-1' }).click();
    await page.getByRole('link', { name: 'The row' }).focus();
    await page.keyboard.press('Tab'); // before the buttons that decide
    await page.keyboard.press('Space');
    const same = page.getByLabel('Decide the same for 2 other orders of this load with the same customer');
    expect(await same.isChecked()).toBe(true);
    await expectSound(page, 'an order');
    await page.getByRole('button', { name: 'Use 16' }).click();
    expect(await page.textContent('[role=status]')).toMatch(
      /^Order .* \(A-1\) and 2 other orders of the same customer:/,
    );
    expect(await page.textContent('h1')).toContain('(A-3)');
    expect((await decisions()).map(([subject, , record]) => [subject?.split('/')[1], record])).toEqual(
      ['4', '2', '1'].map((n) => [n, '16']),
    );
    await page.getByRole('link', { name: 'See it, or undo it' }).click();
    await expectSound(page, 'a decision about several orders');
    await page.getByRole('button', { name: 'Undo it and the 2 equal decisions' }).click();
    expect(await page.textContent('[role=status]')).toContain(
      'and 2 other orders are undone: they are in review again.',
    );
    expect([(await call('/review')).json.total, wrong]).toEqual([4, []]);
    await close();
  });

  test('keeps a note that is being written when the session ends, until the person has signed in', async () => {
    await inReview(['Ann']);
    const text = SETTINGS.replace('0" }', '0", password: { env: PW } }');
    const own = await openConsole({ database, text, env: { PW: 'correct horse' } });
    const { page, close } = await openPage(browser);
    const signIn = async () => {
      await page.getByLabel('Password').fill('correct horse');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.waitForURL(own.url + ITEM);
    };
    await page.goto(own.url + ITEM);
    await signIn();
    await page.getByLabel('Note').fill('Ask Bob');
    await database.pool.query('delete from ledger.console_sessions');
    await page.waitForURL(/login/);
    await signIn();
    expect(await page.getByLabel('Note').inputValue()).toBe('Ask Bob');
    await own.close();
    await close();
  });

  test('works without scripts: a reason is ignored after a question, and one decision undone', async () => {
    await inReview([], ['Ann', 'Bob']);
    const { page, close } = await openPage(browser, { javaScriptEnabled: false });
    await page.goto(`${web.url}/review`);
    await page.getByRole('link', { name: 'Ignore all' }).click();
    expect(await page.textContent('footer')).toContain('lockstep review decide acme/contact-1 acme/contact-2 --ignore');
    const late = await page.context().newPage();
    await late.goto(page.url());
    await page.getByLabel('Note').fill('test data');
    await page.getByRole('button', { name: 'Ignore' }).click();
    expect(await page.textContent('[role=status]')).toContain('2 rows will be ignored');
    await late.getByRole('button', { name: 'Ignore' }).click();
    expect(await late.textContent('[role=status]')).toContain('Nothing was decided');
    await page.getByRole('link', { name: 'See the decisions, or undo them' }).click();
    await page.getByRole('button', { name: 'Undo the decision about acme/contact-1' }).click();
    expect(await page.textContent('main')).toContain('is in review again');
    await page.goto(`${web.url}/activity`);
    expect(await page.locator('tbody tr td:nth-child(3)').allTextContents()).toEqual([
      'Undo decision',
      'Decide ignore',
      'Decide ignore',
    ]);
    await close();
  });
});
