/** Review in a real browser. */
import { describe, expect, test } from 'vitest';
import { CHROMIUM } from '../support/chromium.ts';
import { browserPages, expectSound } from './browser.ts';
import { openConsole, SETTINGS } from './open-console.ts';
import { HOSTILE } from './outbox-console.ts';
import { ITEM, openReviewConsole } from './review-console.ts';

const { database, web, inReview, ordersInReview, decisions, call } = await openReviewConsole();

describe.runIf(CHROMIUM)('review', () => {
  const openPage = browserPages();

  test('the pages are sound with hostile rows: light, dark, and on a phone', async () => {
    await inReview(['Ann Lee', HOSTILE], ['Bob']);
    const { mark } = (await call(ITEM)).json.item;
    await call(`${ITEM}/decide`, { choice: 'later', note: HOSTILE.slice(0, 900), mark });
    const { page, wrong, close } = await openPage();
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
    const { page, wrong, close } = await openPage();
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
    const { page, wrong, close } = await openPage();
    await page.goto(`${web.url}/review`);
    await page.getByRole('link', { name: 'A-1' }).click();
    await page.getByRole('link', { name: 'The row' }).focus();
    await page.keyboard.press('Tab'); // before the buttons that decide
    await page.keyboard.press('Space');
    const same = page.getByLabel('Decide the same for 2 other orders of this load with the same customer');
    expect(await same.isChecked()).toBe(true);
    await expectSound(page, '/review/items/:id');
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
    const run = await page.getByRole('cell', { name: 'waits for a retry of' }).getByRole('link').textContent();
    expect(run).toMatch(/^run-/);
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
    const { page, close } = await openPage();
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
    const { page, close } = await openPage({ javaScriptEnabled: false });
    await page.goto(`${web.url}/review`);
    await page.getByRole('link', { name: 'Ignore all' }).click();
    expect(await page.textContent('footer')).toContain('lockstep review decide acme/contact-1 acme/contact-2 --ignore');
    const late = await page.context().newPage();
    await late.goto(page.url());
    await page.getByLabel('Note').fill('test data');
    await page.getByRole('button', { name: 'Ignore' }).click();
    expect(await page.textContent('[role=status]')).toContain('2 contacts will be ignored');
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
