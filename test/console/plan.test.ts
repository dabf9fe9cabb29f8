/** What a run would write, on its page and on the pages of its plan. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { readRun } from '../../src/engine/ledger/runs.ts';
import { ended } from '../support/harness/ended.ts';
import { csvOf, type LoadHow, ordersCsv } from '../support/harness/orders.ts';
import { openLoadConsole } from './load-console.ts';
import { pageAt } from './requests.ts';

const SYNC = 'job: contacts, options: { approveAbove: 1 }';

const { harness, web } = await openLoadConsole({ syncs: { contacts: SYNC } });
beforeEach(async () => {
  await harness.reset();
  await harness.addNumberedCustomers(3);
});
afterAll(() => harness.close());

/** The words of a page, without its tags. */
async function look(at: string): Promise<{ readonly words: string; readonly next: string | undefined }> {
  const html = await pageAt(web, at);
  const words = html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
  return { words, next: /href="([^"]+)" rel="next"/.exec(html)?.[1]?.replaceAll('&amp;', '&') };
}

/** The run of a load that waits for its approval. */
async function planned(csv: string, how: LoadHow): Promise<string> {
  const { begun } = await harness.takeIn(csv, { confirm: true, ...how });
  await (await harness.workspace.work()).attend(begun.run);
  return (await ended(harness.database, begun.run.id)).id;
}

test('a plan shows the name of a customer to create as it will be written', async () => {
  const run = await planned('order_id,customer_name,amount\nN-1,Ana Pérez,5\n', { createCustomers: true });
  expect((await look(`/runs/${run}`)).words).toContain('N-1 line 2 Ana Pérez is created first');
});

test('a load shows what it creates, what it updates from old to new, what it skips, and the customers to make', async () => {
  await harness.load(ordersCsv(3));
  const changed = [
    'O-1,2,,Order 1,9.5,paid',
    'O-2,,customer3@example.com,<b>Second</b>,2.25,new',
    'O-3,1,,Order 3,3.25,new',
  ];
  const more = Array.from({ length: 60 }, (_, i) => `O-${i + 4},1,,Order,${i + 4}.25,new`);
  const made = 'N-1,,ann@example.com,Order,5,new';
  const csv = csvOf('order_id,client_id,customer_email,description,amount,status', [...changed, ...more, made]);
  const run = await planned(csv, { existing: 'update', createCustomers: true });
  const { words } = await look(`/runs/${run}`);
  expect(words).toContain('Create 61 orders, and 1 customer first');
  expect(words).toContain('Update 2 orders');
  expect(words).toContain('Not written 1 existing');
  expect(words).toContain('Calls about 70');
  expect(words).toMatch(/The first 5 to create · all 61 .*O-4 line 5 1 amount 4\.25/);
  expect(words).toMatch(/To update .*O-1 .*amount 1\.25 → becomes 9\.50 status new → becomes paid/);
  expect(words).toContain('description Order 2 → becomes &lt;b&gt;Second&lt;/b&gt;');
  expect(words).toMatch(/O-2 line 3 customer3@example\.com customer 3 /);
  expect(words).not.toContain('(none)');
  const exported = await pageAt(web, `/runs/${run}/rows.csv`);
  expect(exported).toContain('The service shows amount 1.25 instead of 9.5, status new instead of paid.');
  const first = await look(`/runs/${run}/plan?kind=new`);
  expect(first.words).toContain('O-53');
  expect(first.words).not.toContain('O-54');
  const second = await look(first.next ?? '');
  expect(second.words).toMatch(/O-54 .*N-1 line 65 ann@example\.com is created first/);
  expect(second.next).toBeUndefined();
  const updates = await look(`/runs/${run}/plan?kind=updates`);
  expect([updates.words.includes('O-2'), updates.words.includes('O-4')]).toEqual([true, false]);
});

test('a sync of contacts that waits for approval shows which customers it creates and changes', async () => {
  await harness.addContacts([
    { first_name: 'Ann', last_name: 'Lee', email: 'customer1@example.com' },
    { first_name: 'Ben', last_name: 'Roe', email: 'ben@example.com' },
    { first_name: 'Cat', last_name: 'Poe', email: 'cat@example.com' },
  ]);
  const run = await harness.runSync();
  expect((await readRun(harness.database.pool, run.id)).status).toBe('paused');
  const { words } = await look(`/runs/${run.id}`);
  expect(words).toContain('Create 2 customers');
  expect(words).toMatch(/To create .*Ben Roe .*new .*email ben@example\.com/);
  expect((await look(`/runs/${run.id}/plan`)).words).toContain('cat@example.com');
});

test('a plan whose run has ended is not stored any more, and its page says so', async () => {
  await harness.load(ordersCsv(1), { confirm: true });
  const run = await harness.load(ordersCsv(1), { confirm: true }); // approves it
  const ended = await look(`/runs/${run.id}/plan`);
  expect(ended.words).toContain('A plan is stored until its run has ended.');
  expect(ended.words).toContain('No plan is stored');
  expect(ended.words).not.toContain('As it was shown');
});

test('the page of a row leads to its record as it is now, and to the decision about it', async () => {
  const created = await harness.load(ordersCsv(1));
  const link = (html: string, id: string) => new RegExp(`id="${id}[^"]*" href="([^"]+)"`).exec(html)?.[1] ?? '';
  const record = link(await pageAt(web, `/runs/${created.id}/rows/2`), 'record-/records/test/orders/');
  expect((await look(record)).words).toContain('O-1');
  const differs = await harness.load(ordersCsv(1).replace('1.25', '7'));
  const decision = link(await pageAt(web, `/runs/${differs.id}/rows/2`), 'decide');
  expect((await look(decision)).words).toContain('DIFFERS');
});
