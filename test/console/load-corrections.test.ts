/** Refused lines of a file that is loaded in a real browser, and how a person corrects them. */
import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { CHROMIUM } from '../support/chromium.ts';
import { browserPages, expectSound } from './browser.ts';
import { HOSTILE, openLoads } from './load-browser.ts';
import { openConsole, SETTINGS } from './open-console.ts';

const at = await openLoads();
const { choose, said } = at;

describe.runIf(CHROMIUM)('a file', () => {
  const openPage = browserPages();

  test('with a title, two headers and a total is read once its header is clicked, and corrected lines name its columns', async () => {
    const { page, close } = await openPage();
    await at.harness.addNumberedCustomers(1);
    const lines = [
      'Export;;;;;',
      'Auftrag;;Kunde;Betrag;;',
      'Nr.;Name;E-Mail;netto (EUR);Zustand;Bemerkung',
      'A-1;Ann;customer1@example.com;1.234,50;offen;',
      'A-2;Ben;new@example.com;x;offen;',
      'Summe;;;1.234,50;;',
    ];
    await choose(page, 'export.csv', lines.join('\n'));
    expect(await page.textContent('main')).toContain('Click the line that is the header, or choose below');
    await page.locator('.load-lines a').nth(2).click();
    expect(await said(page)).toContain('the column "netto (EUR)" has amounts');
    await page.getByRole('link', { name: 'Choose the columns' }).click();
    expect(new URL(page.url()).hash).toBe('#columns');
    await page.getByLabel('Column of amount').selectOption('netto (EUR)');
    await page.getByLabel('Column of order_id').selectOption('Nr.');
    await page.getByRole('button', { name: 'Read it again' }).last().click();
    await page.getByRole('button', { name: 'Check and plan' }).click();
    await page.getByRole('link', { name: 'Correct 2 rows' }).click();
    expect(await page.textContent('footer')).toMatch(
      /--map order_id=Nr\. .*--map 'amount=netto \(EUR\)'.* --header-row 3 --results/,
    );
    await close();
  });

  test('marks each wrong cell of a refused line, and says what to do about each', async () => {
    const { page, close } = await openPage();
    await choose(page, 'two.csv', 'order_id,customer_email,amount\nA-1,no mail,12x\nA-2,ann@example.org,3\n');
    await page.getByRole('button', { name: 'Check and plan' }).click();
    await page.getByRole('link', { name: /^Correct/ }).click();
    const marked = await page.locator('[aria-invalid]').evaluateAll((cells) => cells.map((cell) => cell.ariaLabel));
    expect(marked).toEqual(['customer_email, line 2', 'amount, line 2']);
    expect(await page.locator('.load-fix tbody tr').first().locator('.fix').allInnerTexts()).toEqual([
      expect.stringContaining('Write digits'),
      expect.stringContaining('Give exactly one address'),
    ]);
    await close();
  });

  test('with more columns than the page shows has the cells of its fields on it, wherever they are', async () => {
    const { page, close } = await openPage();
    const more = Array.from({ length: 50 }, (_, i) => `extra ${i}`);
    const lines = [
      ['order_id', 'client_id', ...more, 'amount'],
      ['A-1', '1', ...more, '12x'],
      ['A-2', '2', ...more, '9y'],
    ];
    await choose(page, 'wide.csv', lines.map((cells) => cells.join(',')).join('\n'));
    const wrong = page.getByLabel('Rows that are not valid').getByRole('row');
    expect((await wrong.allInnerTexts()).map((cells) => cells.split('\t').at(-1))).toEqual(['amount', '12x', '9y']);
    await page.getByRole('button', { name: 'Check and plan' }).click();
    await page.getByRole('link', { name: /^Correct/ }).click();
    expect(await page.textContent('main')).toContain('13 columns in the new file, not shown here');
    await page.getByRole('link', { name: 'Go to the cell' }).first().click();
    await page.getByLabel('amount, line 2').fill('12');
    for (const cell of await page.getByRole('textbox', { name: / line 3$/ }).all()) await cell.fill('');
    await page.getByRole('button', { name: 'Make the new file' }).click();
    const [first, ...others] = await page.locator('.load-rows tbody tr').allTextContents();
    expect([first?.startsWith('A-1'), others]).toEqual([true, []]);
    expect(await page.textContent('main')).not.toMatch(/of the first \d+ row/);
    await close();
  });

  test('of which two people have corrected lines names the other file to each of them', async () => {
    const { page, close } = await openPage();
    await choose(page, 'two.csv', 'order_id,client_id,amount\nA-1,1,12x\nA-2,1,3\n');
    await page.getByRole('button', { name: 'Check and plan' }).click();
    await page.getByRole('link', { name: /^Correct/ }).click();
    const fix = page.url();
    await page.getByRole('button', { name: 'Make the new file' }).click();
    const first = new URL(page.url()).pathname;
    await page.goto(fix);
    await page.getByRole('button', { name: 'Make the new file' }).click();
    await page.getByText('are also in').waitFor();
    await page.locator('.notice a', { hasText: 'two.corrected.csv' }).click();
    expect(new URL(page.url()).pathname).toBe(first);
    await expectSound(page);
    await page.getByRole('link', { name: 'remove it' }).click();
    await expectSound(page, '/load/:upload/remove');
    await page.getByRole('button', { name: 'Remove' }).click();
    expect(await page.textContent('.said.good')).toContain('two.corrected.csv was removed');
    await page.getByRole('link', { name: 'Remove two.corrected.csv' }).click();
    await page.getByRole('button', { name: 'Remove' }).click();
    expect(await page.getByRole('link', { name: 'two.corrected.csv' }).count()).toBe(0);
    await close();
  });

  test('leaves out a line whose cells are emptied, although it has a cell that cannot be edited', async () => {
    const { page, close } = await openPage();
    await choose(
      page,
      'two.csv',
      'order_id,client_id,amount,description\nA-1,1,x,"two\nlines"\nA-2,1,y,"two\nlines"\n',
    );
    await page.getByRole('button', { name: 'Check and plan' }).click();
    await page.getByRole('link', { name: /^Correct/ }).click();
    for (const name of ['order_id', 'client_id', 'amount']) await page.getByLabel(`${name}, line 2`).fill('');
    await page.getByLabel('amount, line 4').fill('7');
    await page.getByRole('button', { name: 'Make the new file' }).click();
    await page.getByRole('button', { name: 'Check and plan' }).click();
    await page.getByRole('heading', { name: 'The plan' }).waitFor();
    expect(await page.textContent('#live')).toContain('Create1 order');
    expect(await page.textContent('#live')).not.toContain('Not written');
    await close();
  });

  test('with refused lines is corrected by cell and all at once, as a new file; a click on a line makes it the header', async () => {
    const { page, wrong, close } = await openPage();
    const csv = `Orders of May\nMade by hand\nno,client_id,amount\nA-1,1,10.50\nA-2,,12x\nA-3,,13\nA-4,1,8,9\nA-5,1\n"${HOSTILE[1]?.replaceAll('"', '""')}",,7\nTotal,,99z\n`;
    await choose(page, 'orders.csv', csv);
    await page.getByRole('link', { name: 'no,client_id,amount' }).click();
    expect(new URL(page.url()).searchParams.get('header')).toBe('3');
    await page.getByLabel('Column of order_id').selectOption('no');
    await page.getByLabel('An order that exists already').selectOption('fail');
    await page.getByRole('button', { name: 'Check and plan' }).click();
    await page.getByRole('button', { name: /^Approve/ }).click();
    await page.getByRole('link', { name: 'Correct 6 rows' }).click();
    expect(await page.locator('[aria-invalid]').first().getAttribute('aria-label')).toBe('amount, line 5');
    await page.getByLabel('amount, line 5').fill('12');
    await page.getByLabel('#4, line 7').fill('');
    await page.getByLabel('amount, line 8').fill('14');
    await page.getByLabel('client_id, line 9').fill('3');
    for (const name of ['no', 'amount']) await page.getByLabel(`${name}, line 10`).fill('');
    await page.getByLabel('Column').selectOption('client_id');
    await page.getByLabel('with').fill('2');
    await expectSound(page);
    await page.getByRole('button', { name: 'Make the new file' }).click();
    expect(await page.textContent('h1')).toBe('orders.corrected.csv');
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByText('download it').click()]);
    expect(file.suggestedFilename()).toBe('orders.corrected.csv');
    expect(await readFile(await file.path(), 'utf8')).toContain('"A-2","2","12"');
    expect(await page.getByLabel('Column of order_id').inputValue()).toBe('no');
    expect(await page.getByLabel('Decimal sign').inputValue()).toBe('.');
    expect(await page.getByLabel('An order that exists already').inputValue()).toBe('fail');
    await page.getByRole('button', { name: 'Check and plan' }).click();
    await page.getByRole('button', { name: /^Approve/ }).click();
    await page.getByText('created (5)').waitFor();
    expect(await page.getByText('not valid').count()).toBe(0);
    const orders = (await at.harness.orders()).map(({ order_id, client_id, amount }) => [order_id, client_id, amount]);
    expect(orders.toSorted()).toEqual([
      [HOSTILE[1], 3, 7],
      ['A-1', 1, 10.5],
      ['A-2', 2, 12],
      ['A-3', 2, 13],
      ['A-4', 1, 8],
      ['A-5', 1, 14],
    ]);
    expect(wrong).toEqual([]);
    await close();
  });

  test('with only invalid lines offers their correction, and no retry', async () => {
    const run = await at.harness.load('order_id,client_id,amount\nA-1,1,10\nA-2,1,12x\n');
    const { page, close } = await openPage();
    await page.goto(`${at.web.url}/runs/${run.id}`);
    await page.getByRole('link', { name: 'Correct 1 row' }).waitFor();
    expect(await page.getByText('Retry what failed').count()).toBe(0);
    expect(await page.textContent('main')).not.toContain('missing customers'); // no row lacks one
    expect(await page.locator('.headline .chip').getAttribute('class')).toBe('chip warn');
    expect(await page.locator('.phase.over').count()).toBe(3);
    const again = await at.harness.load('order_id,client_id,amount\nA-1,1,10\nA-3,1,1x\n');
    await page.goto(`${at.web.url}/runs/${again.id}`);
    expect(await page.locator('.phase.over').count()).toBe(1);
    expect(await page.locator('.phase.left-out').allInnerTexts()).toEqual([
      'Sending\nnot needed',
      'Reading back what was sent\nnot needed',
    ]);
    await close();
  });

  test('leads from a refused row to its correction, where missing customers can be created, too', async () => {
    const run = await at.harness.load(
      'order_id,customer_email,amount\nA-1,new@example.org,10\nA-2,new@example.org,12x\n',
    );
    const { page, close } = await openPage();
    await page.goto(`${at.web.url}/runs/${run.id}`);
    expect(await page.textContent('main')).toMatch(/or create missing customers\./); // no option of a command
    await page.goto(`${at.web.url}/runs/${run.id}/rows/3`);
    await page.getByRole('link', { name: 'Correct it' }).click();
    expect(await page.locator('tbody th').allTextContents()).toEqual(['3']);
    await page.goto(`${at.web.url}/runs/${run.id}/rows/2`);
    await page.getByRole('link', { name: 'Correct it' }).click();
    await page.getByLabel('amount, line 3').fill('12');
    await page.getByLabel('Create the customers that are missing').check();
    await page.getByRole('button', { name: 'Make the new file' }).click();
    expect(await page.getByLabel('Create missing customers').isChecked()).toBe(true);
    await page.getByRole('button', { name: 'Check and plan' }).click();
    await page.getByRole('heading', { name: 'The plan' }).waitFor();
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    const note = page.locator('.notes').getByText('Created customers in run');
    await note.getByRole('link').click();
    expect(await page.textContent('h1')).toContain('customers for');
    await page.goto(`${at.web.url}/runs/${run.id}/rows/2`);
    expect(await page.textContent('main')).toMatch(/Run run-\S+ has the corrected lines/);
    await close();
  });

  test('leads to its corrected lines: the file that is not loaded yet, and the load that has them after a second correction', async () => {
    const run = await at.harness.load('order_id,client_id,amount\nA-1,1,11x\nA-2,1,12x\n');
    const { page, wrong, close } = await openPage();
    const correct = async () => {
      await page.getByRole('link', { name: /^Correct \d/ }).click();
      await page
        .getByRole('textbox', { name: /^amount, line/ })
        .first()
        .fill('11');
      await page.getByRole('button', { name: 'Make the new file' }).click();
    };
    await page.goto(`${at.web.url}/runs/${run.id}`);
    await correct();
    await page.goto(`${at.web.url}/runs/${run.id}`);
    expect(await page.textContent('main')).toContain('has the corrected lines of this file, and is not loaded yet.');
    await page.getByRole('link', { name: /corrected\.csv$/ }).click();
    await page.getByRole('button', { name: 'Check and plan' }).click();
    await page.getByRole('heading', { name: 'The plan' }).waitFor();
    await correct();
    await page.getByRole('button', { name: 'Check and plan' }).click();
    await page.getByRole('heading', { name: 'The plan' }).waitFor();
    const last = new URL(page.url()).pathname.replace('/runs/', '');
    await page.goto(`${at.web.url}/runs/${run.id}`);
    expect(await page.locator('.notice').allTextContents()).toEqual([
      `Run ${last} has the corrected lines of this file.`,
    ]);
    expect(await page.getByText(/^Correct \d/).count()).toBe(0);
    await page.goto(`${at.web.url}/load?account=acme`);
    await page.getByLabel('Or paste its lines').fill('order_id,client_id,amount\nA-1,1,11x\nA-2,1,12x\n');
    await page.getByRole('button', { name: 'Upload' }).click();
    await page.getByText(`Run ${last} has the corrected lines of this file. The plan shows`).waitFor();
    expect(wrong).toEqual([]);
    await close();
  });

  test('is corrected by a person whose session ends meanwhile, and who signs in again', async () => {
    const { database } = at.harness;
    const run = await at.harness.load(
      'order_id,customer_email,amount\nA-1,new@example.org,10\nA-2,new@example.org,12x\n',
    );
    const text = SETTINGS.replace('0" }', '0", password: { env: PW } }');
    const web = await openConsole({ database, text, env: { PW: 'correct horse' } });
    const { page, wrong, close } = await openPage();
    const signIn = async () => {
      await page.getByLabel('Password').fill('correct horse');
      await page.getByRole('button', { name: 'Sign in' }).click();
    };
    await page.goto(`${web.url}/runs/${run.id}/fix`);
    await signIn();
    await page.getByLabel('amount, line 3').fill('12');
    await page.getByLabel('Column').selectOption('amount');
    await page.getByLabel('Create the customers that are missing').check();
    await database.pool.query('delete from ledger.console_sessions');
    await page.getByRole('button', { name: 'Make the new file' }).click();
    expect(await said(page)).toContain('nothing was done');
    await signIn();
    await page.waitForURL(`${web.url}/runs/${run.id}/fix`);
    expect(await page.getByLabel('amount, line 3').inputValue()).toBe('12');
    expect(await page.getByLabel('Column').inputValue()).toBe('2');
    expect(await page.getByLabel('Create the customers that are missing').isChecked()).toBe(true);
    await page.getByLabel('amount, line 3').fill('13');
    await page.getByLabel('Column').selectOption('order_id');
    await page.getByRole('link', { name: 'Runs' }).click();
    await page.goBack();
    await page.reload();
    expect(await page.getByLabel('amount, line 3').inputValue()).toBe('13');
    expect(await page.getByLabel('Column').inputValue()).toBe('0');
    await page.getByRole('link', { name: 'Back', exact: true }).click();
    await page.getByRole('link', { name: /^Correct \d/ }).click();
    expect(await page.getByLabel('amount, line 3').inputValue()).toBe('12x');
    expect(wrong).toEqual([]);
    await web.close();
    await close();
  });

  test('leads to decisions about its rows once they can be decided', async () => {
    for (const email of ['two@example.org', 'two@example.org', 'one@example.org'])
      await at.harness.call('customers.create', { full_name: 'Ann', email });
    const { page, close } = await openPage();
    await choose(page, 'orders.csv', 'order_id,customer_email,amount\nA-1,two@example.org,5\nA-2,one@example.org,5\n');
    await page.getByRole('button', { name: 'Check and plan' }).click();
    await page.getByRole('heading', { name: '1 row in review' }).waitFor();
    const decide = page.getByRole('link', { name: 'Decide them' });
    expect(await decide.count()).toBe(0);
    await page.goto(`${page.url()}/rows/2`);
    expect(await page.textContent('h1')).toBe('A-1');
    expect(await page.textContent('main')).not.toMatch(/decide$|Customer, if it is missing/m);
    await page.goBack();
    await page.getByRole('button', { name: /^Approve/ }).click();
    await decide.click();
    await page.getByRole('link', { name: 'A-1' }).click();
    await page
      .getByRole('link', { name: /^Customer / })
      .first()
      .click(); // read from the service, beside the question
    expect(await page.getByRole('dialog', { name: 'Ann' }).textContent()).toMatch(/email\s*two@example.org/);
    await expectSound(page);
    await close();
  });
});
