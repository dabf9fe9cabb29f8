/** Records that people see and change by hand, in a real browser, at a real service. */
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { listActions } from '../../src/engine/ledger/console/console-actions.ts';
import { suspendAccount } from '../../src/engine/ledger/scopes/suspensions.ts';
import { createPipeline } from '../../src/service/administration.ts';
import { CHROMIUM } from '../support/chromium.ts';
import { browserPages, expectSound, HOSTILE } from './browser.ts';
import { openRecordsConsole } from './records-console.ts';

const { harness, web, open } = await openRecordsConsole();

describe.runIf(CHROMIUM)('records', () => {
  const openPage = browserPages();
  const makeBoard = () =>
    createPipeline(harness.database.pool, harness.tenantId, {
      name: 'Sales',
      columns: [{ name: 'Lead', cards: [{ title: 'Ann' }, { title: 'Bob' }] }, { name: 'Won' }],
    });
  const cards = (page: Page) =>
    page.locator('.board-column').evaluateAll((columns) =>
      columns.map((column) =>
        // as: in the browser
        [
          ...(column as { querySelectorAll(css: string): Iterable<{ textContent: string }> }).querySelectorAll(
            '.board-card > bdi',
          ),
        ].map((card) => card.textContent),
      ),
    );

  test('of a contact show what the mapping of its sync makes of them', async () => {
    await harness.addContacts([{ first_name: HOSTILE[0] ?? '', email: 'ann@example.com' }, { country: 'US' }]);
    const { page, wrong, close } = await openPage();
    await page.goto(`${web.url}/syncs`);
    await page.getByRole('link', { name: 'Mapping, with live examples' }).click();
    await page.waitForURL('**/mapping');
    const [first, second] = await page.locator('section').allTextContents();
    expect(first).toContain(HOSTILE[0]);
    expect(first).toMatch(/email.*ann@example\.com/);
    expect(second).toContain('could not be recognised');
    expect(first).not.toContain('From the contact'); // the settings map no field
    await expectSound(page, '/syncs/:sync/mapping');
    expect(wrong).toEqual([]);
    const answer = await fetch(`${web.url}/api/v1/syncs/contacts/mapping`);
    expect(await answer.json()).toMatchObject({ read: 2, contacts: [{ contact: '1' }, { contact: '2' }] });
    await close();
  });

  test('are a board whose cards move by drag, by arrow keys and by buttons, and take comments', async () => {
    const { id } = await makeBoard();
    const { page, wrong, close } = await openPage();
    await open(page, `pipelines/${id}`);
    expect(await cards(page)).toEqual([['Ann', 'Bob'], []]);
    await page.locator('.board-card', { hasText: 'Bob' }).locator('summary').click();
    await page.getByLabel('Comment on Bob').fill('half');
    await page.locator('.board-card', { hasText: 'Ann' }).dragTo(page.getByRole('region', { name: 'Won' }));
    await page.locator('[aria-label=Won] .board-card').waitFor();
    expect(await cards(page)).toEqual([['Bob'], ['Ann']]);
    expect(await page.getByLabel('Comment on Bob').inputValue()).toBe('half'); // is not lost
    await page.locator('.board-card', { hasText: 'Bob' }).press('ArrowRight');
    await page.locator('[aria-label=Won] .board-card', { hasText: 'Bob' }).waitFor();
    await expect.poll(() => page.locator('.board-card:focus').textContent()).toContain('Bob');
    await page.locator('.board-card', { hasText: 'Bob' }).press('ArrowUp');
    await expect.poll(() => cards(page)).toEqual([[], ['Bob', 'Ann']]);
    await close();
    const plain = await openPage({ javaScriptEnabled: false });
    await open(plain.page, `pipelines/${id}`);
    await plain.page.getByRole('button', { name: 'Move Ann to Lead' }).click();
    expect(await cards(plain.page)).toEqual([['Ann'], ['Bob']]);
    await plain.page.locator('#card-1 summary').click();
    await plain.page.getByLabel('Comment on Ann').fill('called <b>');
    await plain.page.locator('#card-1').getByRole('button', { name: 'Add' }).click();
    expect(await plain.page.textContent('.comments')).toBe('called <b>');
    expect([...wrong, ...plain.wrong]).toEqual([]);
    const [last] = await listActions(harness.database.pool, { limit: 1 });
    expect(last).toMatchObject({
      who: 'operator',
      via: 'page',
      action: 'pipelines.comment',
      about: 'test: module_type card, module_id 1',
    });
    await plain.close();
  });

  test('are found, opened and changed without scripts: customers, tasks and their subtasks', async () => {
    await harness.addNumberedCustomers(60);
    const { page, close } = await openPage({ javaScriptEnabled: false });
    await open(page, 'customers');
    expect(await page.locator('tbody tr').count()).toBe(50);
    await page.getByRole('link', { name: 'Next' }).click();
    expect(await page.locator('tbody tr').count()).toBe(10);
    await page.getByLabel('Find customers').fill('  ');
    await page.getByRole('button', { name: 'Find' }).click();
    expect(await page.locator('tbody tr').count()).toBe(50);
    await page.getByLabel('Find customers').fill('customer57@ ');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByRole('link', { name: 'Customer 57' }).click();
    await page.getByText('Change the customer').click();
    await page.getByLabel('full_name').fill('Ann');
    await page.getByLabel('organization').fill('Acme');
    await page.getByRole('button', { name: 'Save' }).click();
    expect(await page.textContent('h1')).toBe('Ann');
    const names = await page.locator('dl.facts dt').allTextContents();
    expect(names.slice(0, 3)).toEqual(['full_name', 'email', 'organization']); // as in the form
    expect(names).toContain('created_at');
    await open(page, 'tasks/new');
    await page.getByLabel('taskName').fill('Call Ann');
    await page.getByLabel('endDate').fill('2026-12-01T10:00:00');
    await page.getByRole('button', { name: 'Create the task' }).click();
    await page.getByRole('link', { name: 'Find it' }).click();
    expect(await page.textContent('footer')).toContain('lockstep call tasks.getall --account test');
    await page.getByRole('link', { name: 'Call Ann, id 1' }).click();
    await page.getByLabel('New subtask').fill('Find the number');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByRole('button', { name: 'Complete subtask 1' }).click();
    await page.getByRole('button', { name: 'Complete task' }).click();
    expect(await page.locator('.subtasks .chip').textContent()).toBe('completed');
    expect(await harness.call('tasks.getall')).toMatchObject([{ taskName: 'Call Ann', isCompleted: true }]);
    expect(await page.textContent('footer')).toContain('lockstep call tasks.get --account test --param id=1');
    await close();
  });

  test('that a person was changing are filled in again after Back: what was written, beside what another person has saved', async () => {
    await harness.addNumberedCustomers(1);
    const { page, wrong, close } = await openPage();
    await open(page, 'customers/1');
    await page.getByText('Change the customer').click();
    await page.getByLabel('organization').fill('Lee Ltd');
    await page.getByRole('link', { name: 'Home' }).click();
    await harness.call('customers.update', { id: 1, full_name: 'Ann' });
    await page.goBack();
    await page.getByLabel('organization').waitFor(); // it was folded
    expect(await page.getByLabel('organization').inputValue()).toBe('Lee Ltd');
    expect(await page.getByLabel('full_name').inputValue()).toBe('Ann');
    expect(wrong).toEqual([]);
    await close();
  });

  test('that were refused are filled in again on the page of the form: what was written, beside what another person has saved', async () => {
    await harness.addNumberedCustomers(1);
    const { page, close } = await openPage();
    await open(page, 'customers/1');
    await page.getByText('Change the customer').click();
    await page.getByLabel('organization').fill('Lee Ltd');
    await harness.call('customers.update', { id: 1, full_name: 'Ann' });
    await page.getByRole('button', { name: 'Save' }).click();
    expect(await page.textContent('main')).toContain('has changed since it was read');
    await page.getByRole('link', { name: 'Back to the page' }).click();
    expect(await page.getByLabel('full_name').inputValue()).toBe('Ann');
    await page.getByRole('button', { name: 'Save' }).click();
    expect(await harness.customers()).toMatchObject([{ full_name: 'Ann', organization: 'Lee Ltd' }]);

    await open(page, 'orders/new');
    await page.getByLabel('order_id').fill('A-1');
    await page.getByLabel('amount').fill('1,5');
    await page.getByRole('button', { name: 'Create the order' }).click();
    expect(await page.textContent('h1')).toBe('Not done');
    await page.getByRole('link', { name: 'Back to the page' }).click();
    await page.getByLabel('amount').fill('1.5');
    await page.getByLabel('client_id').fill('99');
    await page.getByRole('button', { name: 'Create the order' }).click();
    await page.getByRole('link', { name: 'Back to where it was entered' }).click();
    await page.getByLabel('client_id').fill('1');
    await page.getByRole('button', { name: 'Create the order' }).click();
    expect(await harness.orders()).toMatchObject([{ order_id: 'A-1', amount: 1.5, client_id: 1 }]);
    await open(page, 'orders/new');
    expect(await page.getByLabel('order_id').inputValue()).toBe('');
    await close();
  });

  test('that only the application of the service creates say so', async () => {
    const { page, close } = await openPage();
    await open(page, 'pipelines');
    expect(await page.textContent('main')).toContain('Create one in the application of the service');
    await close();
  });

  test('are named in Activity: those with an id by it, and a new one by its call, which has its content', async () => {
    await harness.addCustomers([{ full_name: 'Ann Lee' }]);
    const { page, close } = await openPage();
    await open(page, 'customers/new');
    await page.getByLabel('full_name').fill('Bob Ray');
    await page.getByRole('button', { name: 'Create the customer' }).click();
    const { id } = await makeBoard();
    await open(page, `pipelines/${id}`);
    await page.locator('.board-card', { hasText: 'Bob' }).press('ArrowUp');
    await page.getByText('The card was moved.').waitFor();
    await page.goto(`${web.url}/activity`);
    const about = page.locator('tbody td:nth-child(4)');
    expect(await about.nth(0).textContent()).toMatch(/^test: card_id \d+, column_id \d+$/);
    expect(await about.nth(1).textContent()).toBe('test');
    await about.nth(1).getByRole('link').click();
    expect(await page.textContent('main')).toContain('Bob Ray');
    await close();
  });

  test('say what is wrong with a field, what the service refused, and that an account is suspended', async () => {
    const { page, close } = await openPage();
    await open(page, 'orders/new');
    await page.getByRole('button', { name: 'Create the order' }).click();
    expect(await page.textContent('main')).toContain('Fill in at least one field');
    expect(await harness.orders()).toEqual([]);
    await harness.call('tasks.create', { taskName: 'Call' });
    await open(page, 'tasks/1');
    await page.getByLabel('New subtask').fill(' ');
    await page.getByRole('button', { name: 'Add' }).click();
    expect(await page.textContent('main')).toContain('Fill in at least one field');
    for (const [amount, said] of [
      ['1,5', 'amount: write digits, with a point before decimals'],
      ['9007199254740993', 'amount: write at most 15 digits'],
    ] as const) {
      await open(page, 'orders/new');
      await page.getByLabel('amount').fill(amount);
      await page.getByRole('button', { name: 'Create the order' }).click();
      expect(await page.textContent('main')).toContain(said);
    }
    await page.goBack();
    await page.getByLabel('amount').fill('1.5');
    await page.getByLabel('client_id').fill('99');
    await page.getByRole('button', { name: 'Create the order' }).click();
    expect(await page.textContent('main')).toContain('The service refused it (HTTP 4');
    const { scope } = await harness.workspace.accounts.open('test');
    await suspendAccount(harness.database.pool, scope, 'The key is refused.');
    await open(page, 'customers');
    expect(await page.textContent('main')).toContain('Account test is suspended');
    await page.getByRole('link', { name: 'See account test' }).click();
    expect(new URL(page.url()).pathname).toBe('/accounts/test');
    await close();
  });

  test('are sound pages with hostile values: light, dark, and on a phone', async () => {
    const { page, wrong, close } = await openPage();
    const [name = '', ...others] = HOSTILE;
    await harness.call('customers.create', { full_name: name, organization: others.join(' ') });
    await harness.call('contacts.create', { first_name: name, email: others[0], organization: 'x'.repeat(10_000) });
    await harness.call('tasks.create', { taskName: name, description: others.join('\n') });
    await harness.call('subtasks.create', { task_id: 1, item_name: others[1] });
    const { id } = await createPipeline(harness.database.pool, harness.tenantId, {
      name,
      columns: HOSTILE.map((text) => ({ name: text, cards: [{ title: text }] })),
    });
    const pages = {
      customers: '/records/:account/:kind',
      'customers/1': '/records/:account/:kind/:id',
      'contacts/new': '/records/:account/:kind/new',
      'tasks/1': '/records/:account/:kind/:id',
      [`pipelines/${id}`]: '/records/:account/pipelines/:id',
    };
    for (const [path, route] of Object.entries(pages)) {
      await open(page, path);
      await expectSound(page, route);
    }
    expect(wrong).toEqual([]);
    await close();
  });

  test('say that the service asks for a pause, and that the budget then has no call left', async () => {
    const { page, close } = await openPage();
    harness.front.set(async () => ({ status: 429, headers: { 'retry-after': '30' }, body: '' }));
    await open(page, 'customers');
    expect(await page.textContent('.notice')).toContain('The service asks for a pause of 30.0 s');
    await open(page, 'customers');
    expect(await page.textContent('.notice')).toContain('The rate budget of test has no call left for this page now');
    await close();
  });
});
