/** A load on a terminal: a person sees its plan, and approves or declines it. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { command } from '../cli/command.ts';
import { ordersCsv } from '../support/harness/orders.ts';
import { openCommandHarness } from './commands.ts';

const harness = await openCommandHarness({ syncs: { contacts: 'job: contacts, options: { approveAbove: 1 }' } });
beforeEach(async () => {
  await harness.reset();
  await harness.addNumberedCustomers(3);
  await harness.file('orders.csv', ordersCsv(4));
});
afterAll(() => harness.close());

const LOAD = ['orders', 'load', 'orders.csv', '--account', 'test', '--config', 'lockstep.yaml'];

function load(answers: string) {
  return command(LOAD, { ...harness.around, isTTY: true, answers });
}

async function latest() {
  return (await harness.here('runs', 'show')).json;
}

test('declined, it ends as not approved, and nothing was sent; the same command plans it again', async () => {
  const { code, stdout, stderr } = await load('n\n');
  expect([code, await harness.orders()]).toEqual([3, []]);
  expect(stdout).toContain('Of 4 rows: 4 orders to create.');
  expect(stdout).toMatch(/O-1 +1\.25 {2}2\n/);
  expect(stderr).toMatch(/Not approved by .+@.+: nothing was sent\./);
  expect(await latest()).toMatchObject({ state: 'not-approved', unsettled: { sent: 0, neverSent: 4 } });
  expect((await load('y\n')).code).toBe(0);
  expect((await harness.orders()).length).toBe(4);
});

test('approved, its phases say how long each took, and that it waited for the approval', async () => {
  await load('y\n');
  expect((await latest()).phases).toMatchObject([
    { phase: 'load-orders', waits: [{ for: 'approval' }] },
    { phase: 'create-orders', waits: [] },
    { phase: 'settle-orders', waits: [] },
  ]);
  const { stdout } = await command(['runs', 'show', '--config', 'lockstep.yaml'], harness.around);
  expect(stdout).toMatch(/Phases\n {2}reading customers and orders +[\d.]+ s.*\n {2}sending +[\d.]+ s\n/);
});

test('declined, the command that its summary names sends it after all', async () => {
  const { stdout } = await load('n\n');
  expect((await harness.paste(stdout, 'To send what is left')).code).toBe(0);
  expect((await harness.orders()).length).toBe(4);
});

test('declined, a retry on a terminal shows the plan and its invalid rows once, and asks again', async () => {
  await harness.file('orders.csv', `${ordersCsv(4)}O-9,1,Order 9,much,new\n`);
  await load('n\n');
  const { run } = await latest();
  const resumed = await harness.here('runs', 'resume', String(run));
  expect(resumed.stderr).toContain(`Run ${run} was not approved.`);
  const retry = ['runs', 'retry', String(run), '--config', 'lockstep.yaml'];
  const declined = await command(retry, { ...harness.around, isTTY: true, answers: 'n\n' });
  expect(declined.stdout).toMatch(/Of 5 rows: 4 orders to create; 1 invalid \(never sent\)\.[\s\S]*Write that\?/);
  expect(declined.stdout.match(/1 row invalid/g)).toHaveLength(1);
  expect([declined.code, await harness.orders()]).toEqual([3, []]);
  expect((await command(retry, { ...harness.around, isTTY: true, answers: 'y\n' })).code).toBe(1);
  expect((await harness.orders()).length).toBe(4);
});

test('approved, resumed and retried in two terminals at once, it is sent once', async () => {
  const each = async (terminals: readonly Promise<unknown>[]) => {
    await Promise.all(terminals);
    return [...(await harness.orderCommits()).values()];
  };
  await load('');
  const { run } = await latest();
  const resume = () => harness.here('runs', 'resume', String(run));
  expect(await each([load('y\n'), resume(), load('y\n')])).toEqual([1, 1, 1, 1]);
  await harness.file('orders.csv', ordersCsv(4, { from: 5 }));
  await load('n\n');
  const declined = String((await latest()).run);
  const retry = () => harness.here('runs', 'retry', declined);
  expect(await each([retry(), retry()])).toEqual(Array(8).fill(1));
});

test('a sync shows examples of what it would write, and says what an answer of no does', async () => {
  await harness.addContacts([
    { first_name: 'Ann', email: 'ann@example.com' },
    { first_name: 'Ben', email: 'ben@example.com' },
  ]);
  const { code, stdout } = await command(['run', 'contacts', '--config', 'lockstep.yaml'], {
    ...harness.around,
    isTTY: true,
    answers: 'n\n',
  });
  expect([code, (await latest()).state]).toEqual([3, 'not-approved']);
  expect(stdout).toMatch(
    /AWAITS_APPROVAL.*Ann <ann@example\.com>, Ben[\s\S]*Write that\? If not, run run-\S+ ends and nothing is written\. \[y\/N\]/,
  );
  expect(stdout.match(/Ann <ann@example\.com>/g)).toHaveLength(1);
});

test('without an answer, it awaits approval; the time of waiting is not working time', async () => {
  const { code, stdout } = await load('');
  expect([code, await harness.orders()]).toEqual([3, []]);
  expect(stdout).toMatch(/waits for approval/);
  expect(await latest()).toMatchObject({ status: 'paused', state: 'awaiting-approval' });
  await harness.database.pool.query(
    `update ledger.runs set created_at = created_at - interval '1 h', attended_at = attended_at - interval '1 h'`,
  );
  expect((await load('n\n')).code).toBe(3);
  expect((await latest()).durationMs).toBeLessThan(60_000);
});
