/** Records are created once, or as often as a person confirms it. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { CHROMIUM } from '../support/chromium.ts';
import { anError } from '../support/matchers.ts';
import { browserPages, expectSound } from './browser.ts';
import { openRecordsConsole } from './records-console.ts';
import { apiOf } from './requests.ts';

const { harness, web, open } = await openRecordsConsole();

test('records are read and written through the API, a write with the same id once', async () => {
  const api = async (path: string, body: object) => (await apiOf(web)(path, body)).json;
  const create = { id: randomUUID(), body: { full_name: 'Ann', email: 'ann@example.com' } };
  const both = [
    api('/accounts/test/calls/customers.create', create),
    api('/accounts/test/calls/customers.create', create),
  ];
  for (const answer of await Promise.all(both)) expect(answer).toMatchObject({ id: create.id });
  expect(await api('/accounts/test/calls/customers.getall', {})).toMatchObject({
    status: 'applied',
    content: [{ id: 1, full_name: 'Ann' }],
  });
  expect(await api(`/calls/${create.id}/applied`, {})).toMatchObject({ error: { code: 'CALL_SETTLED' } });
  const { error } = await api('/accounts/test/calls/orders.create', { body: { amount: 'a lot' } });
  expect(error.message).toBe('The request is not valid: amount: expected a number, got text');
});

describe.runIf(CHROMIUM)('in a browser, records', () => {
  const openPage = browserPages();

  test('a contact is imported once by hand, also by a form that is sent twice, and not if a customer is like it', async () => {
    await harness.call('contacts.create', { first_name: 'Ann', email: 'ann@example.com' });
    const [contact] = (await harness.call('contacts.getall')) as { id: number }[]; // as: the contract's records
    const { page, wrong, close } = await openPage();
    await open(page, `contacts/${contact?.id}`);
    const button = page.getByRole('button', { name: 'Import as an order customer' });
    await button.dblclick();
    await page.getByText('The contact was imported as a customer.').waitFor();
    await button.click();
    expect(await page.textContent('main')).toContain('has the same e-mail address or phone number');
    expect(await harness.call('customers.getall')).toMatchObject([{ email: 'ann@example.com' }]);
    await expectSound(page);
    expect(wrong).toEqual([]);
    await close();
  });

  test('are created once by a form that is sent twice', async () => {
    const { page, close } = await openPage();
    await open(page, 'customers/new');
    await page.getByLabel('full_name').fill('Ann');
    const send = "fetch(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form)) })";
    await page.evaluate(`((form) => Promise.all([${send}, ${send}]))(document.querySelector('form.write'))`);
    await page.getByRole('button', { name: 'Create the customer' }).click();
    await page.getByRole('link', { name: 'Ann' }).waitFor();
    expect([...(await harness.commitsBy('customers.create')).values()]).toEqual([1]);
    await close();
  });

  test.each([
    ['customers', { full_name: 'Ann' }],
    ['contacts', { email: 'ann@example.com' }],
    ['orders', { client_id: '1', amount: '12.50' }],
    ['tasks', { taskName: 'Call Ann' }],
  ] as const)('%s are created a second time after going back only if a person confirms it', async (kind, fields) => {
    if (kind === 'orders') await harness.addNumberedCustomers(1);
    const { page, wrong, close } = await openPage();
    const made = async () => ((await harness.call(`${kind}.getall`)) as unknown[]).length; // as: the contract's lists
    const one = kind.slice(0, -1);
    const create = async () => {
      for (const [name, text] of Object.entries(fields)) await page.getByLabel(name, { exact: true }).fill(text);
      await page.getByRole('button', { name: `Create the ${one}` }).click();
    };
    await open(page, `${kind}/new`);
    await create();
    await page.getByText('It was created.').waitFor();
    for (const all of [2, 3]) {
      await (all === 2 ? page.goBack() : open(page, `${kind}/new`));
      await create();
      await page.getByText('Nothing was sent now').waitFor();
      await page.getByText('Records with this content').waitFor();
      expect(await made()).toBe(all - 1);
      await page.getByRole('button', { name: `Create a second ${one}` }).click();
      await page.getByText('It was created.').waitFor();
      expect(await made()).toBe(all);
    }
    await page.goBack(); // to the question
    await page.getByRole('button', { name: `Create a second ${one}` }).click();
    await page.getByText('Nothing was sent now').waitFor();
    expect(await made()).toBe(3);
    await expectSound(page, '/calls/:call');
    expect(wrong).toEqual([]);
    await close();
  });

  test.each([
    ['subtasks', 'tasks/1', 'New subtask', 'Add'],
    ['comments', 'contacts/1', 'comment_text', 'Add the comment'],
  ] as const)('%s are created a second time only if a person confirms it', async (kind, at, label, button) => {
    await harness.call('tasks.create', { taskName: 'Call Ann' });
    await harness.addContacts([{ email: 'ann@example.com' }]);
    const { page, close } = await openPage();
    const operation = kind === 'subtasks' ? 'subtasks.create' : 'contacts.comment';
    const made = async () => [...(await harness.commitsBy(operation)).values()].reduce((sum, n) => sum + n, 0);
    const create = async () => {
      await open(page, at);
      await page.getByLabel(label).fill('Call on Monday');
      await page.getByRole('button', { name: button, exact: true }).click();
    };
    await create();
    await page.getByRole('status').waitFor();
    await create();
    await page.getByText('Nothing was sent now').waitFor();
    expect(await made()).toBe(1);
    await page.getByRole('button', { name: 'Send it a second time' }).click();
    await page.getByRole('status').waitFor();
    expect(await made()).toBe(2);
    await close();
  });

  test.each([
    ['that was applied is found at the service and not sent again', true],
    ['that was not applied is sent again only after a look at the service', false],
  ])('a create without an answer %s', async (_case, isApplied) => {
    await harness.addNumberedCustomers(1);
    harness.front.set(async ({ method }, pass) => {
      if (method === 'GET') return pass();
      if (isApplied) await pass();
      return { status: 502, body: '' };
    });
    const { page, close } = await openPage();
    const create = async () => {
      await open(page, 'orders/new');
      await page.getByLabel('order_id').fill('A-1');
      await page.getByLabel('client_id').fill('1');
      await page.getByLabel('amount').fill('12.50');
      await page.getByRole('button', { name: 'Create the order' }).click();
    };
    await create();
    expect(await page.textContent('main')).toContain('It is unknown whether the service applied it');
    expect(await page.textContent('footer')).toContain('lockstep call orders.getall --account test'); // to create it again could make it twice
    const call = page.url();
    const endsIn = (seconds: number) =>
      harness.database.pool.query(`update ledger.hand_calls set ended_at = clock_timestamp() + $1 * interval '1 s'`, [
        seconds,
      ]);
    await endsIn(60);
    const early = await apiOf(web)(`/calls/${call.split('/').at(-1)}/again`, {});
    expect(early.json.error).toEqual(anError('CALL_TOO_EARLY', /From 20.*Z on, look for it there/));
    harness.front.set();
    await endsIn(0);
    await create();
    expect(page.url()).toBe(call);
    const look = page.getByRole('link', { name: 'Look for it at the service' });
    await look.click(); // the page shows it once a look proves something
    if (isApplied) {
      expect(await page.textContent('.notice')).toContain('A-1, id 1');
      await page.getByRole('button', { name: 'It was applied' }).click();
    } else {
      expect(await page.textContent('.notice')).toContain('has no record with this content');
      await page.getByRole('button', { name: 'send it again' }).click();
    }
    await page.getByRole('link', { name: 'A-1' }).waitFor();
    expect([...(await harness.orderCommits()).values()]).toEqual([1]);
    await close();
  });
});
