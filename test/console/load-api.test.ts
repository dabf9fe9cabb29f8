/** A file of orders that a program loads with the JSON API. */
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { ordersCsv } from '../support/harness/orders.ts';
import { anError } from '../support/matchers.ts';
import { openLoadConsole } from './load-console.ts';
import { openConsole } from './open-console.ts';
import { apiOf, pageAt } from './requests.ts';

const { harness, web } = await openLoadConsole();
beforeEach(async () => {
  await harness.reset();
  await harness.addNumberedCustomers(3);
});
afterAll(() => harness.close());

const call = apiOf(web);
const api = async (path: string, body?: string | object) => (await call(path, body)).json;

/** Returns the run, which awaits approval. */
async function load(upload: string, form: object): Promise<string> {
  const { run } = await api(`/uploads/${upload}/load`, form);
  await expect.poll(async () => (await api(`/runs/${run}`)).state).toBe('awaiting-approval');
  return run;
}

test('is sent, read, planned and approved', async () => {
  const { id } = await api('/uploads?account=test&name=may.csv', ordersCsv(2));
  expect(await api(`/uploads/${id}`)).toMatchObject({
    status: 'here',
    name: 'may.csv',
    fields: { order_id: 'order_id', client_id: 'client_id' },
    problem: null,
  });
  expect(await api('/uploads')).toMatchObject({ uploads: [{ id, status: 'here' }] });
  const run = await load(id, {});
  expect(await api('/uploads')).toEqual({ uploads: [] });
  expect(await api(`/runs/${run}/resume`, { plan: 'another' })).toMatchObject({ error: { code: 'PLAN_REPLACED' } });
  const first = await api(`/runs/${run}/plan?limit=1&kind=new`);
  const second = await api(`/runs/${run}/plan?limit=1&kind=new&after=${first.next}`);
  expect([first, second]).toMatchObject([
    { plan: (await api(`/runs/${run}`)).plan, writes: [{ source: '2', action: 'create', customer: '2' }] },
    { writes: [{ source: '3' }], next: null },
  ]);
  expect(first.writes[0].changes).toContainEqual({ field: 'amount', to: expect.anything() });
  expect((await api(`/runs/${run}/plan?kind=updates`)).writes).toEqual([]);
  await api(`/runs/${run}/resume`, { plan: first.plan });
  await expect.poll(async () => (await harness.orders()).length).toBe(2);
});

test('is removed if no one loads it, and not once it is loaded', async () => {
  const [unwanted, wanted] = [
    await api('/uploads?account=test', 'x'),
    await api('/uploads?account=test', ordersCsv(2)),
  ];
  expect((await api(`/uploads/${unwanted.id}/remove`, {})).said).toBe(
    'orders.csv was removed. Nothing of it was loaded.',
  );
  expect((await api(`/uploads/${unwanted.id}`)).error.code).toBe('UPLOAD_UNKNOWN');
  const run = await load(wanted.id, {});
  expect((await api(`/uploads/${wanted.id}/remove`, {})).error).toEqual(
    anError('LOAD_BEGUN', /Cancel its run instead/),
  );
  await api(`/runs/${run}/cancel`, {});
});

test('is shown although how it is read cannot be kept, such as on a full disk', async () => {
  const { id } = await api('/uploads?account=test', ordersCsv(2));
  const dir = path.join(harness.dataDir, 'uploads');
  const inTheWay = path.join(dir, `${id}.form`);
  await mkdir(inTheWay);
  expect(await pageAt(web, `/load/${id}?decimal=.`)).toContain('Check and plan');
  expect((await readdir(dir)).filter((name) => name.includes(id) || !name.includes('.'))).toHaveLength(3);
  await rm(inTheWay, { recursive: true });
  await api(`/uploads/${id}/remove`, {});
});

test('offers each column that may be right with one click, and says once what to do about rows that are not valid', async () => {
  const rows = [1, 2, 3].map((n) => `V-2026-04${n},1,${n}.50`);
  const { id } = await api(
    '/uploads?account=test',
    `Zeichen,client_id,amount\n${rows.join('\n')}\nV-2026-044,1,x\nV-2026-045,1,y\n`,
  );
  const page = await pageAt(web, `/load/${id}`);
  const offered = [...page.matchAll(/<a class="button" href="(\/load\/[^"]+)">(.*?)<\/a>/g)].map(
    ([, path = '', words = '']) => ({
      path: path.replaceAll('&amp;', '&'),
      words: words.replaceAll(/<[^>]+>/g, '').replaceAll('&quot;', '"'),
    }),
  );
  expect(offered.map(({ words }) => words)).toEqual(['"Zeichen" for order_id V-2026-041', 'No column for order_id']);
  for (const { path } of offered) {
    const read = await pageAt(web, path);
    expect(read).not.toContain('CSV_NO_ORDER_COLUMN');
    expect(read.match(/Write digits with the decimal sign/g)).toHaveLength(1);
  }
  await api(`/uploads/${id}/remove`, {});
});

test('is begun once: other choices are refused, and the same ones lead to its run', async () => {
  const { id } = await api('/uploads?account=test', ordersCsv(2));
  const run = await load(id, {});
  expect(await call(`/uploads/${id}/load`, { customers: 'yes' })).toMatchObject({
    status: 409,
    json: { error: anError('LOAD_BEGUN', /with other columns or options/) },
  });
  expect(await call(`/uploads/${id}/load`, { createCustomers: true })).toMatchObject({
    status: 400,
    json: { error: anError('REQUEST_INVALID', 'createCustomers') },
  });
  const again = await api(`/uploads/${id}/load`, {});
  expect(again).toMatchObject({ run, status: 'checked' });
  expect(again).not.toHaveProperty('form');
});

test('that is cancelled while its file is read is not done under Activity', async () => {
  const { pool } = harness.database;
  await pool.query(
    `create function ledger.cancel_it() returns trigger language plpgsql as $$ begin
       update ledger.runs set status = 'cancelled', phase = null, ended_at = now() where id = new.run_id;
       return new;
     end $$;
     create trigger cancel_it before update on ledger.loads for each row execute function ledger.cancel_it()`,
  );
  onTestFinished(async () => void (await pool.query('drop function ledger.cancel_it cascade')));
  const { id } = await api('/uploads?account=test', ordersCsv(2));
  const { run } = await api(`/uploads/${id}/load`, {});
  const newest = async () => (await api('/activity?limit=1')).actions[0];
  await expect.poll(newest).toMatchObject({ action: 'begin-load', about: run, refused: 'CANCELLED' });
});

test('has amounts such as 12.00- as negative ones if its form says so, also once its lines are corrected', async () => {
  const { id } = await api('/uploads?account=test', 'order_id,client_id,amount\nA-1,1,12.00-\nA-2,2,x\n');
  const run = await load(id, { accounting: 'yes' });
  expect((await api(`/runs/${run}/plan?kind=new`)).writes[0].changes).toContainEqual({ field: 'amount', to: '-12' });
  const cells = [{ line: 3, column: 3, text: '(5.00)' }];
  const corrected = await api(`/runs/${run}/corrections`, { cells });
  expect(corrected.form).toMatchObject({ accounting: 'yes' });
  const again = await load(corrected.upload, corrected.form);
  expect((await api(`/runs/${again}`)).counts).toMatchObject({ in: 2, invalid: 0 });
});

test('is corrected: cells, a text in a column, and a line that is left out', async () => {
  const csv = 'order_id,client_id,amount\nA-1,1,10\nA-2,2,12x\nA-3,,13\nA-4,3,y\n';
  const { id } = await api('/uploads?account=test', csv);
  const run = await load(id, {});
  const first = await api(`/runs/${run}/refused?limit=2`);
  expect(first).toMatchObject({
    columns: ['order_id', 'client_id', 'amount'],
    orders: 3,
    lines: [
      { line: 3, order: 'A-2', cells: ['A-2', '2', '12x'], column: 3, reason: 'AMOUNT_NOT_A_NUMBER' },
      { line: 4, order: 'A-3' },
    ],
  });
  expect(await api(`/runs/${run}/refused?after=${first.next}`)).toMatchObject({ lines: [{ line: 5 }], next: null });
  const emptied = [1, 2, 3].map((column) => ({ line: 5, column, text: '' }));
  const corrected = await api(`/runs/${run}/corrections`, {
    cells: [{ line: 3, column: 3, text: '12' }, ...emptied],
    replace: { column: 2, find: '', put: '2' },
  });
  expect(await api(`/runs/${run}`)).toMatchObject({ status: 'cancelled' });
  const next = await load(corrected.upload, corrected.form);
  await api(`/runs/${next}/resume`, {});
  await expect.poll(async () => (await api(`/runs/${next}`)).status).toBe('done');
  const orders = (await harness.orders()).map(({ order_id, client_id, amount }) => [order_id, client_id, amount]);
  expect(orders.toSorted()).toEqual([
    ['A-1', 1, 10],
    ['A-2', 2, 12],
    ['A-3', 2, 13],
  ]);
  expect(await api(`/runs/${run}/corrections`, {})).toMatchObject({ error: { code: 'LINES_CORRECTED' } });
});

test('is refused if it is empty, too large, of another type, or for an unknown account, and nothing of it stays', async () => {
  // As curl sends it without a Content-Type.
  const form = await fetch(`${web.url}/api/v1/uploads?account=test`, {
    method: 'POST',
    body: new URLSearchParams('a,b'),
  });
  expect([form.status, await form.text()]).toEqual([415, expect.stringContaining('Content-Type is not accepted')]);
  expect(await api('/uploads?account=test', '')).toMatchObject({ error: { code: 'UPLOAD_EMPTY' } });
  expect(await api('/uploads?account=other', 'a,b')).toMatchObject({ error: { code: 'SETTINGS_NAME_UNKNOWN' } });
  const { database, dataDir } = harness;
  const small = await openConsole({ database, dataDir, maxUploadBytes: 1024 * 1024 });
  const refused = await apiOf(small)('/uploads?account=acme', 'a,b\n'.repeat(256 * 1024 + 1));
  expect(refused.json).toMatchObject({ error: { code: 'UPLOAD_TOO_LARGE' } });
  await small.close();
  const kept = await readdir(path.join(dataDir, 'uploads'));
  expect(kept.filter((name) => name.endsWith('.csv'))).toEqual([]);
});

/** Sends all of a body, whatever is answered meanwhile, as browsers do. */
async function sendAll(url: string, type: string, body: Buffer): Promise<number | undefined> {
  const headers = { origin: new URL(url).origin, 'content-type': type, 'content-length': body.length };
  const sending = request(url, { method: 'POST', headers });
  const answered = once(sending, 'response') as Promise<[IncomingMessage]>; // as: the event's documented argument
  await new Promise<void>((resolve, reject) => sending.write(body, (error) => (error ? reject(error) : resolve())));
  sending.end();
  const [answer] = await answered;
  answer.resume();
  return answer.statusCode;
}

test.each([
  ['a page cannot write', '/load', 500],
  ['the API finds too large', '/api/v1/uploads?account=acme', 409],
] as const)(
  'that %s is read to its end, so that its sender sees the refusal',
  { timeout: 30_000 },
  async (_why, to, status) => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'lockstep-test-'));
    const isPage = to === '/load';
    if (isPage) await writeFile(path.join(folder, 'uploads'), ''); // a file where the folder would be
    const small = await openConsole({ database: harness.database, dataDir: folder, maxUploadBytes: 1024 * 1024 });
    const form = new FormData();
    form.set('file', new File([Buffer.alloc(16 * 1024 * 1024, 'a,b\n')], 'big.csv'));
    const body = new Response(form);
    const type = isPage ? (body.headers.get('content-type') ?? '') : 'text/csv';
    expect(await sendAll(small.url + to, type, Buffer.from(await body.arrayBuffer()))).toBe(status);
    await small.close();
    await rm(folder, { recursive: true });
  },
);
