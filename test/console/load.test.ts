/** A file that is loaded in a real browser: read, planned against the service, approved, and its results. */
import { readFile, utimes } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { encodeText } from '../../src/csv/encoding.ts';
import { CHROMIUM } from '../support/chromium.ts';
import { ordersCsv } from '../support/harness/orders.ts';
import { browserPages, expectSound } from './browser.ts';
import { HOSTILE, openLoads } from './load-browser.ts';
import { openConsole, SETTINGS } from './open-console.ts';
import { pageAt, postForm } from './requests.ts';

/** As a program writes it for a German spreadsheet: the column of the customer has a name that says nothing. */
const MIXED = ['Bestellnummer;Wer;Betrag', 'A-1;1;10,50', 'A-2;2;1.200,00', 'A-3;99;3,00', 'A-4;2;viel'].join('\r\n');

const at = await openLoads();
const { choose, restart, breakOff, uploaded, said } = at;

describe.runIf(CHROMIUM)('a file', () => {
  const openPage = browserPages();

  test('is mapped, planned, approved and created, and its results are downloaded by verdict', async () => {
    const { page, wrong, close } = await openPage();
    const body = new FormData();
    body.set('account', 'test');
    body.set('file', new File([MIXED], '../../x.csv'));
    const sent = await postForm(at.web, '/load', body);
    await page.goto(at.web.url + sent.headers.get('location'));
    expect(await page.textContent('h1')).toBe('x.csv');
    expect(await said(page)).toMatch(/^CSV_NO_CUSTOMER_COLUMN An order needs its customer(?!.*--)/);
    expect(await page.textContent('.load-columns')).toMatch(/"Betrag", detected.*10,50/s);
    await restart();
    await page.goto(`${at.web.url}/load`);
    await page.getByRole('link', { name: 'x.csv' }).click(); // waits there, although its page was closed
    expect(await page.getByRole('button', { name: 'Check and plan' }).isDisabled()).toBe(true);
    await page.getByLabel('Column of client_id').selectOption('Wer');
    await page.getByLabel('An order that exists already').selectOption('update it');
    await page.getByRole('button', { name: 'Read it again' }).last().click();
    await page.goto(`${at.web.url}/load`);
    await page.getByRole('link', { name: 'x.csv' }).click(); // as it was read last
    const chosen = 'orders load x.csv --account test --map client_id=Wer --existing update';
    expect(await page.textContent('footer')).toContain(chosen);
    expect(await page.textContent('.load-columns')).toContain('as chosen; 4 of 4 cells fit');
    expect(await page.textContent('main')).toMatch(/1 of the first 4 rows is not valid.*5.*"viel" is not a number/s);
    await page.getByRole('button', { name: 'Check and plan' }).click();
    await page.getByRole('heading', { name: 'The plan' }).waitFor();
    expect(await page.textContent('#live')).toMatch(/2 orders.*Not written1 invalid \(never sent\)1 rejected/);
    expect(await at.harness.orders()).toEqual([]);
    await page.getByRole('link', { name: 'Only problems' }).click();
    expect(await page.locator('tbody tr').count()).toBe(2);
    await page.goBack();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('created (2)').waitFor();
    expect(new Set((await at.harness.orders()).map(({ amount }) => amount))).toEqual(new Set([10.5, 1200]));
    const [invalid] = await Promise.all([page.waitForEvent('download'), page.getByText('invalid (1)').click()]);
    expect(invalid.suggestedFilename()).toBe('x.invalid.csv');
    expect(await readFile(await invalid.path(), 'utf8')).toMatch(
      /^lockstep_line;.*\r\n5;invalid;AMOUNT_.*;A-4;2;viel\r\n$/,
    );
    const beside = page.getByRole('link', { name: 'CSV', exact: true });
    const results = (kind: string) => `${new URL(page.url()).pathname}/results/${kind}`;
    const files = await beside.evaluateAll((links) => links.map((link) => link.getAttribute('href')));
    expect(files).toEqual(['invalid', 'rejected'].map(results)); // with the cells of the lines
    expect(await page.getByText('Download as CSV').count()).toBe(0);
    await expect
      .poll(() => page.textContent('.phases'))
      .toMatch(/4 rows readtook .* began .*waiting for approval.*Sendingtook .*Reading back what was senttook /);
    await page.getByRole('link', { name: /viel/ }).click();
    const drawer = page.getByRole('dialog', { name: 'A-4' });
    expect(await drawer.textContent()).toMatch(/AMOUNT_CUT_OFF.*Cells of the file.*viel/s);
    await expectSound(page);
    await page.keyboard.press('Escape');
    expect(await page.evaluate('document.activeElement.textContent')).toContain('viel');

    await page.goto(`${at.web.url}/activity`);
    expect(await page.locator('tbody tr td:nth-child(3)').allTextContents()).toEqual([
      'Approve run',
      'Begin load',
      'Upload file',
    ]);
    expect(await page.textContent('main')).toContain('x.csv for test');
    expect((await uploaded()).filter((name) => name.endsWith('.csv'))).toEqual([]);
    expect(wrong).toEqual([]);
    await close();
  });

  test('is dropped beside its field, and uploaded', async () => {
    const { page, wrong, close } = await openPage();
    await page.goto(`${at.web.url}/load`);
    const dataTransfer = await page.evaluateHandle(`(() => {
      const dropped = new DataTransfer();
      dropped.items.add(new File(['order_id,client_id,amount\\nA-1,1,5\\n'], 'dropped.csv'));
      return dropped;
    })()`);
    await page.dispatchEvent('h1', 'dragover', { dataTransfer });
    await page.dispatchEvent('h1', 'drop', { dataTransfer });
    await page.getByRole('button', { name: 'Upload' }).click();
    await page.getByRole('heading', { name: 'dropped.csv' }).waitFor();
    expect(wrong).toEqual([]);
    await close();
  });

  test('in Shift_JIS is read in the encoding whose text a person clicks', async () => {
    const { page, wrong, close } = await openPage();
    const text = ['注文番号,顧客番号,金額,状態', 'A-1,1,1200,新規', 'A-2,2,3400,完了'].join('\n');
    await choose(page, 'orders.csv', encodeText(text, 'shift_jis'));
    expect(await said(page)).toContain('CSV_ENCODING_UNCLEAR');
    await page.getByRole('link', { name: '注文番号 (shift_jis)' }).click();
    await expect.poll(() => page.inputValue('[name=encoding]')).toBe('shift_jis');
    expect(await page.getByText('CSV_ENCODING_UNCLEAR').count()).toBe(0);
    expect(wrong).toEqual([]);
    await close();
  });

  test('that was pasted and is refused stays in its field', async () => {
    const { page, close } = await openPage();
    await page.goto(`${at.web.url}/load`);
    const text = page.getByLabel('Or paste its lines');
    await text.fill('order_id,client_id,amount');
    await page.evaluate("document.querySelector('select[name=account]').options[0].value = 'gone'");
    await page.getByRole('button', { name: 'Upload' }).click();
    expect(await said(page)).toContain('gone');
    expect(await text.inputValue()).toBe('order_id,client_id,amount');
    await page.reload();
    expect(await text.inputValue()).toBe('order_id,client_id,amount');
    await page.getByRole('link', { name: 'Load a file' }).click();
    expect(await text.inputValue()).toBe('');
    await close();
  });

  test('that is not a CSV, is cut off or too large is refused with the reason, and nothing is kept of it', async () => {
    const { page, close } = await openPage();
    await choose(page, 'orders.xlsx', Buffer.from('PK\u0003\u0004\u0000\u0000binary\u0000'));
    expect(await said(page)).toContain('CSV_BINARY');
    expect(await page.getByRole('button', { name: 'Read it again' }).count()).toBe(0); // no choice makes it a table
    await choose(page, 'blank.csv', '\n \r\n');
    expect(await said(page)).toContain('CSV_EMPTY');
    expect(await page.getByRole('link', { name: 'Choose another file' }).count()).toBe(2);
    expect(await page.getByRole('button', { name: 'Read it again' }).count()).toBe(0);
    await choose(page, 'orders.csv', '<!doctype html><p>Sign in</p>\n');
    expect(await said(page)).toContain('is HTML or XML, not CSV');
    expect(await page.getByRole('button', { name: 'Read it again' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Choose another file' }).first().click();
    await page.getByRole('button', { name: 'Remove orders.xlsx' }).click();
    expect(await page.textContent('.said.good')).toContain('orders.xlsx was removed');
    expect(await page.getByRole('link', { name: 'orders.xlsx' }).count()).toBe(0);
    await choose(page, 'orders.csv.gz', Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1]));
    expect(await said(page)).toContain('CSV_GZIP_BROKEN');
    await choose(page, 'orders.csv', 'order_id;client_id;amount\nA;1;1\nB;2;"2');
    await page.getByRole('button', { name: 'Check and plan' }).click();
    await page.getByRole('heading', { name: 'The plan' }).waitFor();
    expect(await page.textContent('#live')).toContain('Not written1 invalid (never sent)');
    for (const name of await uploaded()) await utimes(path.join(at.harness.dataDir, 'uploads', name), 0, 0);
    await choose(page, 'empty.csv', '');
    expect(await said(page)).toContain('the file is empty');
    const { database, dataDir } = at.harness;
    const text = SETTINGS.replace(
      'accounts: {',
      'accounts: { first: { url: "https://first.example", apiKey: { env: KEY } },',
    );
    const small = await openConsole({ database, dataDir, text, maxUploadBytes: 1024 * 1024 });
    await page.goto(`${small.url}/load`);
    await page.goto(`${small.url}/records`);
    await expectSound(page, '/records');
    await page.goBack();
    const account = page.locator('select[name=account]');
    await account.selectOption('acme');
    const buffer = Buffer.alloc(3 * 1024 * 1024, 'a,b\n');
    await page.getByLabel('drop it here').setInputFiles({ name: 'big.csv', mimeType: 'text/csv', buffer });
    await page.getByRole('button', { name: 'Upload' }).click();
    expect(await said(page)).toContain('has more than 1 MiB');
    expect(await account.inputValue()).toBe('acme');
    expect(await uploaded()).toEqual([]); // what was abandoned is deleted with the next upload
    await breakOff(small.url);
    await page.goto(`${small.url}/activity`);
    await expect.poll(() => page.reload().then(() => page.textContent('main'))).toContain('UPLOAD_BROKEN_OFF');
    expect(await uploaded()).toEqual([]);
    await small.close();
    await close();
  });

  test('that was loaded before is recognised at once, and loading it again creates nothing twice', async () => {
    const run = await at.harness.load(ordersCsv(3));
    const { page, close } = await openPage();
    await choose(page, 'orders-1.csv', ordersCsv(3));
    expect(await page.textContent('.notice')).toContain(`Run ${run.id} has this file already`);
    await page.getByRole('button', { name: 'Check and plan' }).click();
    await page.getByText('nothing is created twice').waitFor();
    expect(await page.textContent('.notice')).toContain('choose “Check every row again”');
    await page.getByRole('link', { name: 'See that run' }).click();
    expect(page.url()).toBe(`${at.web.url}/runs/${run.id}`);
    await choose(page, 'orders-1.csv', ordersCsv(3));
    await page.getByLabel('Check every row again').check();
    await page.getByRole('button', { name: 'Check and plan' }).click();
    await page.getByText('existing (3)').waitFor();
    expect([...(await at.harness.orderCommits()).values()]).toEqual([1, 1, 1]);
    await close();
  });

  test('of many rows is pasted and approved without scripts, by typing the number of orders', async () => {
    const { page, close } = await openPage({ javaScriptEnabled: false });
    await page.goto(`${at.web.url}/load`);
    await page.getByLabel('Or paste its lines').fill(ordersCsv(1_000));
    await page.getByRole('button', { name: 'Upload' }).click();
    await page.getByRole('button', { name: 'Check and plan' }).click();
    const approve = page.getByRole('link', { name: 'Approve', exact: true });
    const isPlanned = () => page.reload().then(() => approve.isVisible());
    await expect.poll(isPlanned, { interval: 250 }).toBe(true);
    await approve.click();
    await page.getByLabel('Type 1,000').fill('100');
    await page.getByRole('button', { name: 'Approve' }).click();
    expect(await said(page)).toContain('Nothing was approved');
    await page.getByLabel('Type 1,000').fill('1,000');
    await page.getByRole('button', { name: 'Approve' }).click();
    expect(await page.textContent('.said.good')).toContain('was approved.');
    const areCreated = () => page.reload().then(() => page.getByText('created (1,000)').isVisible());
    await expect.poll(areCreated, { interval: 250 }).toBe(true);
    await close();
  });

  test('is approved for its first orders, and then for the others', async () => {
    const { page, wrong, close } = await openPage();
    await choose(page, 'orders.csv', ordersCsv(12));
    await page.getByRole('button', { name: 'Check and plan' }).click();
    await page.getByLabel('Try it with the first orders').fill('3');
    await expectSound(page);
    await page.getByRole('button', { name: 'Approve only these' }).click();
    expect(await page.textContent('.said.good')).toContain(
      'was approved for the first 3 orders. It then waits for approval of the others.',
    );
    await page.getByText('The first orders were approved before.').waitFor();
    expect(await page.textContent('#live')).toMatch(/Create\s*9 orders.*Written already\s*3 orders/);
    expect(await page.textContent('.phases')).toContain('done for 3 rows, not begun for the others');
    expect((await at.harness.orders()).length).toBe(3);
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByText('created (12)').waitFor();
    const late = await pageAt(at.web, `${new URL(page.url()).pathname}/rows/12`);
    expect(late).toMatch(/Replaced verdicts.*NOT_APPROVED_YET(?!.*Fix)/s);
    expect([...(await at.harness.orderCommits()).values()]).toEqual(Array(12).fill(1));
    await page.goto(`${at.web.url}/activity`);
    expect(await page.locator('tbody td:nth-child(3)').allTextContents()).toEqual([
      'Approve run',
      'Approve first orders',
      'Begin load',
      'Upload file',
    ]);
    expect(wrong).toEqual([]);
    await close();
  });

  test('is loaded in part: only the orders with a value in a column', async () => {
    const { page, close } = await openPage({ javaScriptEnabled: false });
    await page.goto(`${at.web.url}/load`);
    await page
      .getByLabel('Or paste its lines')
      .fill('order_id,client_id,amount,status\nA,1,5,Paid\nA,1,2,Paid\nB,1,6,Failed\n');
    await page.getByRole('button', { name: 'Upload' }).click();
    await page.getByLabel('Only orders whose').selectOption('status');
    await page.getByLabel('is', { exact: true }).fill('Paid');
    await page.getByLabel('Several lines of one order').selectOption('add their amounts');
    await page.getByRole('button', { name: 'Read it again' }).first().click();
    expect(await page.textContent('footer')).toContain('--where status=Paid');
    expect(await page.textContent('main')).toContain('only orders where "status" is Paid');
    await page.getByRole('button', { name: 'Check and plan' }).click();
    expect(await page.textContent('main')).toMatch(
      /Checked 2 lines and combined them into 1 row\..*leaves out 1 of 2 orders/s,
    );
    await page.getByRole('link', { name: 'See the plan' }).click();
    const isPlanned = () => page.reload().then(() => page.textContent('main'));
    await expect.poll(isPlanned, { interval: 250 }).toMatch(/Create\s*1 order/);
    await close();
  });

  test('whose plan is not approved is not written', async () => {
    const { page, close } = await openPage();
    await choose(page, 'orders.csv', ordersCsv(2));
    await page.getByRole('button', { name: 'Check and plan' }).click();
    await page.getByRole('link', { name: 'Decline' }).click();
    expect(await page.textContent('main')).toContain('Nothing more is written.');
    await page.getByRole('button', { name: 'Decline' }).click();
    await page.getByText('not approved').first().waitFor();
    expect(await at.harness.orders()).toEqual([]);
    await page.goto(`${at.web.url}/activity`);
    expect(await page.locator('tbody tr td:nth-child(3)').first().textContent()).toBe('Decline run');
    await close();
  });

  test('has sound pages with hostile cells: light, dark, and on a phone', async () => {
    const { page, wrong, close } = await openPage();
    const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;
    const header = ['order_id', 'client_id', 'description', ...HOSTILE, 'amount'].map(cell).join(',');
    const rows = `A,1,${HOSTILE.map(cell).join(',')},x,5\nB,7,b,c,d,e,5\nC,1,b,c,d,e,five\n`;
    await page.goto(`${at.web.url}/load`);
    await expectSound(page);
    await choose(page, `${HOSTILE[0]}.csv`, `${header}\n${rows}`);
    await expectSound(page);
    await page.getByRole('button', { name: 'Check and plan' }).click();
    await page.getByRole('heading', { name: 'The plan' }).waitFor();
    await expectSound(page);
    const run = page.url();
    await page.goto(`${run}/approve`);
    await page.getByRole('heading', { name: 'Approve' }).waitFor();
    await expectSound(page, '/runs/:run/approve');
    await page.goto(`${run}/fix`);
    await page.getByRole('link', { name: 'Go to the cell' }).click();
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('amount, line 4');
    expect(await page.evaluate('getComputedStyle(document.querySelector("td.problem")).position')).toBe('sticky');
    expect(wrong).toEqual([]);
    await close();
  });
});
