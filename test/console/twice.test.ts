/** A load that a person corrects or approves twice in the console, or there and on the command line, is written once. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { readRun } from '../../src/engine/ledger/runs.ts';
import { reopenLoad } from '../../src/syncs/orders/reopen-load.ts';
import { writeResults } from '../../src/syncs/orders/results.ts';
import { ended } from '../support/harness/ended.ts';
import { openLoadConsole } from './load-console.ts';
import { pageAt, postForm } from './requests.ts';

const { harness, web } = await openLoadConsole({ hasFront: true });
beforeEach(async () => {
  await harness.reset();
  await harness.addNumberedCustomers(3);
});
afterAll(() => harness.close());

/** Sends a form, and returns the address of the next page, or the page itself. */
async function post(at: string, fields?: Readonly<Record<string, string>> | URLSearchParams): Promise<string> {
  const answer = await postForm(web, at, fields);
  return answer.headers.get('location') ?? answer.text();
}
const look = (at: string) => pageAt(web, at);

/** Loads the new file with the choices that it comes with; returns the address of the page that follows. */
function begin(upload: string): Promise<string> {
  const { pathname, searchParams } = new URL(upload, web.url);
  return post(pathname, searchParams);
}

const errorOf = async (run: string) => (await readRun(harness.database.pool, run)).errorCode;
const awaitsApproval = (run: string) => expect.poll(() => errorOf(run)).toBe('AWAITS_CONFIRMATION');

/** The run of an upload, once it is planned. */
async function planned(upload: string): Promise<string> {
  const { pathname } = new URL(upload, web.url);
  const runOf = async () => (await fetch(web.url + pathname)).url.split('/').at(-1) ?? '';
  await expect.poll(async () => errorOf(await runOf())).toBe('AWAITS_CONFIRMATION');
  return runOf();
}

/** The plan that the page of a run approves. */
async function planOn(run: string): Promise<string> {
  const [, plan = ''] = /name="plan" value="(\w+)"/.exec(await look(`/runs/${run}`)) ?? [];
  return plan;
}

async function approve(run: string): Promise<void> {
  await post(`/runs/${run}/resume`, { plan: await planOn(run) });
  await ended(harness.database, run);
}

const amounts = async () => (await harness.orders()).map(({ amount }) => amount);
/** Rows without an order_id, of which the second is not valid. */
const WITHOUT_IDS = 'client_id,amount,description\n1,10,a\n2,x,b\n';
const FIXED = { 'cell.3.1': '20', find: '', put: '' };
const FIXED_OTHERWISE = { 'cell.3.1': '21', find: '', put: '' };

test('lines that two people correct at once are loaded once; the second is led to the first', async () => {
  const run = await harness.load(WITHOUT_IDS);
  expect(await look('/')).toContain(run.id);
  const uploads = [await post(`/runs/${run.id}/fix`, FIXED), await post(`/runs/${run.id}/fix`, FIXED_OTHERWISE)];
  const pages = await Promise.all((await Promise.all(uploads.map(begin))).map(look));
  const refused = pages.findIndex((page) => page.includes('LINES_CORRECTED'));
  expect(refused).not.toBe(-1);
  const first = await planned(uploads[1 - refused] ?? '');
  expect(pages[refused]).toContain(first);
  await approve(first);
  expect(await look(`/runs/${run.id}/fix`)).toContain(`<a href="/runs/${first}">`);
  await expect.poll(() => look('/')).not.toContain(run.id); // viewers share what was read a moment ago
  expect(await post(`/runs/${run.id}/fix`, FIXED)).toContain('LINES_CORRECTED');
  expect((await amounts()).length).toBe(2);
});

test('lines that are corrected before the approval replace the plan, and each order is created once', async () => {
  const { begun } = await harness.takeIn(`${WITHOUT_IDS}3,30,c\n`, { confirm: true });
  const { id } = begun.run;
  await (await harness.workspace.work()).attend(begun.run);
  await ended(harness.database, id);
  expect(await look(`/runs/${id}`)).toContain('3 rows read');
  expect(await look(`/runs/${id}/fix`)).toContain('The plan of this run can then no longer be approved.');
  const upload = await post(`/runs/${id}/fix`, FIXED);
  expect((await readRun(harness.database.pool, id)).errorCode).toBe('NOT_APPROVED');
  await begin(upload);
  const corrected = await planned(upload);
  const page = await look(`/runs/${id}`);
  expect(page).toContain(`<a href="/runs/${corrected}">`);
  expect(page).not.toContain('action=retry'); // the corrected load has its lines
  expect(page).toContain('Correct lines');
  expect(page).not.toMatch(/Send it after all|Correct the \d+ row/);
  await approve(corrected);
  expect(await look(`/runs/${corrected}`)).toContain('Approve run');
  expect(await amounts()).toEqual([10, 20, 30]);
  await post(`/runs/${id}/retry`);
  expect((await ended(harness.database, id)).status).toBe('done');
  expect(await harness.tally(begun.run)).toEqual({ in: 3, existing: 2, invalid: 1 });
  expect(await amounts()).toEqual([10, 20, 30]);
});

test('a file that two people send with other options is loaded once, and the second is told so', async () => {
  const form = new FormData();
  form.set('account', 'test');
  form.set('file', new File(['order_id,client_id,amount\nA-1,1,10\n'], 'a.csv'));
  const upload = (await postForm(web, '/load', form)).headers.get('location') ?? '';
  const send = (fields: Readonly<Record<string, string>>) => postForm(web, upload, { existing: 'skip', ...fields });
  const said = (answer: Response) => {
    const cookie = /lockstep-said=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? '';
    return Buffer.from(cookie, 'base64url').toString();
  };
  expect(said(await send({}))).toBe('');
  expect(said(await send({}))).toBe('');
  expect(said(await send({ customers: 'yes' }))).toContain('Yours were not used');
  await planned(upload);
  expect(said(await send({ customers: 'yes' }))).toContain('Yours were not used');
  expect(said(await send({}))).toBe('');
});

test('lines of a load that is being written are not corrected yet', async () => {
  const { begun } = await harness.takeIn(WITHOUT_IDS, { confirm: true });
  await (await harness.workspace.work()).attend(begun.run);
  await ended(harness.database, begun.run.id);
  harness.front.set(async () => undefined); // no call is answered
  onTestFinished(() => harness.front.set());
  await post(`/runs/${begun.run.id}/resume`, { plan: await planOn(begun.run.id) });
  expect(await look(`/runs/${begun.run.id}/fix`)).toContain('LOAD_NOT_ENDED');
  expect(await post(`/runs/${begun.run.id}/fix`, FIXED)).toContain('LOAD_NOT_ENDED');
  await post(`/runs/${begun.run.id}/cancel`);
});

test('a correction that was not approved can be made again', async () => {
  const run = await harness.load(WITHOUT_IDS);
  const first = await post(`/runs/${run.id}/fix`, FIXED);
  await begin(first);
  await post(`/runs/${await planned(first)}/cancel`);
  const second = await post(`/runs/${run.id}/fix`, FIXED_OTHERWISE);
  await begin(second);
  await approve(await planned(second));
  expect(await amounts()).toEqual([10, 21]);
});

test('lines without an order_id that are corrected in a spreadsheet and in the console, each in its way, are one order', async () => {
  const run = await harness.load(WITHOUT_IDS);
  const dir = path.join(harness.dataDir, 'results');
  await writeResults(harness.database.pool, run.id, { dir, base: 'x' });
  const invalid = await readFile(path.join(dir, 'x.invalid.csv'), 'utf8');
  await harness.load(invalid.replace(',x,', ',20,'));
  const saved = invalid.replace(',x,', ',22,').replaceAll(',', ';').replaceAll('\n', '\r\n');
  const again = await harness.load(`\ufeff${saved}`);
  expect(await harness.loaded(again)).toMatchObject([{ verdict: 'review', reason: 'DIFFERS' }]);
  const upload = await post(`/runs/${run.id}/fix`, FIXED_OTHERWISE);
  await begin(upload);
  const last = (await look(new URL(upload, web.url).pathname)).match(/run-\d+-\d+-\w+/)?.[0] ?? '';
  await ended(harness.database, last);
  expect(await amounts()).toEqual([10, 20]);
});

test('a line without an order_id that two corrections, or a retry, give to different customers is one order', async () => {
  const run = await harness.load('customer_email,amount\nlate@example.com,10\n');
  expect(await harness.tally(run)).toEqual({ in: 1, rejected: 1 });
  const dir = path.join(harness.dataDir, 'corrected');
  await writeResults(harness.database.pool, run.id, { dir, base: 'x' });
  const rejected = await readFile(path.join(dir, 'x.rejected.csv'), 'utf8');
  const corrected = (customer: number) =>
    rejected.replace(',late@example.com,10', `,customer${customer}@example.com,10`);
  const both = await Promise.all([harness.load(corrected(1)), harness.load(corrected(3))]);
  const tallies = await Promise.all(both.map((one) => harness.tally(one)));
  expect(tallies).toContainEqual({ in: 1, created: 1 });
  expect(tallies).toContainEqual({ in: 1, review: 1 });
  const otherwise = [expect.objectContaining({ verdict: 'review', reason: 'CORRECTED_OTHERWISE' })];
  expect(await harness.loaded(await harness.load(corrected(2)))).toEqual(otherwise);
  await harness.addCustomers([{ full_name: 'Late', email: 'late@example.com' }]);
  expect(await reopenLoad(harness.database.pool, run.id)).toBe(1);
  await (await harness.workspace.work()).attend(await readRun(harness.database.pool, run.id));
  expect(await harness.loaded(await ended(harness.database, run.id))).toEqual(otherwise);
  const first = tallies[0]?.created === 1 ? 1 : 3;
  const again = await harness.load(corrected(first), { salt: 'again' });
  expect(await harness.tally(again)).toEqual({ in: 1, existing: 1 });
  expect(await amounts()).toEqual([10]);
});

test('the columns of a corrected file are not remembered for files with that header', async () => {
  const run = await harness.load('client_id,amount,description\n1,10,a\n2,x,b\n');
  const upload = await post(`/runs/${run.id}/fix`, FIXED);
  await begin(upload);
  await approve(await planned(upload));
  const other = await harness.takeIn('client_id,amount,description\n3,5,c\n', { dryRun: true });
  expect(await ended(harness.database, other.begun.run.id)).toMatchObject({ status: 'done' });
  const learnt = await harness.database.pool.query(`select name from ledger.learnt where name like 'columns:%'`);
  expect(learnt.rows).toEqual([]);
});

test('a page from before a load was dropped and planned again does not approve the new plan', async () => {
  const { begun } = await harness.takeIn('order_id,client_id,amount\nA,1,5\n', { confirm: true });
  const { id } = begun.run;
  await (await harness.workspace.work()).attend(begun.run);
  await awaitsApproval(id);
  const before = await planOn(id);
  await post(`/runs/${id}/cancel`);
  await post(`/runs/${id}/retry`);
  await awaitsApproval(id);
  for (const stale of [{ plan: before }, {}] as readonly Record<string, string>[]) {
    expect(await post(`/runs/${id}/resume`, stale)).toBe(`/runs/${id}`);
    expect(await errorOf(id)).toBe('AWAITS_CONFIRMATION');
  }
  expect(await harness.orders()).toEqual([]);
  await approve(id);
  expect(await amounts()).toEqual([5]);
});

test('a question whether to approve that is open since before the approval does not stop the run', async () => {
  const { begun } = await harness.takeIn('order_id,client_id,amount\nA,1,5\n', { confirm: true });
  const { id } = begun.run;
  await (await harness.workspace.work()).attend(begun.run);
  await awaitsApproval(id);
  const question = await look(`/confirm?action=cancel&run=${id}`);
  const [, kind = ''] = /name="kind" value="(\w+)"/.exec(question) ?? [];
  await harness.database.pool.query(`update ledger.runs set status = 'running', error_code = null where id = $1`, [id]);
  expect(await post('/confirm/cancel', { run: id, kind })).toBe(`/runs/${id}`);
  expect((await readRun(harness.database.pool, id)).status).toBe('running');
  expect(await look('/activity')).toContain('APPROVAL_OVER');
  await post('/confirm/cancel', { run: id, kind: 'cancel' });
  expect((await readRun(harness.database.pool, id)).status).toBe('cancelled');
});

test('a load that was not approved is planned and asked about again, also by its number of orders', async () => {
  const rows = Array.from({ length: 1_000 }, (_, i) => `A-${i},1,1\n`);
  const { begun } = await harness.takeIn(`order_id,client_id,amount\n${rows.join('')}`, { confirm: true });
  const { id } = begun.run;
  await (await harness.workspace.work()).attend(begun.run);
  await awaitsApproval(id);
  expect(await look(`/runs/${id}/approve`)).toContain('Type 1,000');
  await post(`/runs/${id}/cancel`);
  expect(await look(`/runs/${id}/approve`)).not.toContain('Type 1,000');
  await Promise.all([post(`/runs/${id}/retry`), post(`/runs/${id}/retry`)]);
  await awaitsApproval(id);
  expect(await post(`/runs/${id}/resume`)).toBe(`/runs/${id}/approve`);
  expect(await post(`/runs/${id}/approve`, { writes: '999' })).toBe(`/runs/${id}/approve`);
  expect(await harness.orders()).toEqual([]);
  expect(await look(`/runs/${id}`)).toContain('Retry run');
});
