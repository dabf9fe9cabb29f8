/** Contact syncs that would write more than the settings allow without approval. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { readRun, resumeRun } from '../../src/engine/ledger/runs.ts';
import { type ContactsHarness, openContactsHarness } from '../support/harness/contacts.ts';
import { ended } from '../support/harness/ended.ts';
import { people } from '../support/people.ts';

let harness: ContactsHarness;
beforeAll(async () => {
  harness = await openContactsHarness({
    syncs: { contacts: 'job: contacts, options: { approveAbove: 5, approveAboveShare: 0.9 }' },
  });
});
beforeEach(() => harness.reset());
afterAll(() => harness.close());

const resumed = async (id: string) => {
  expect(await resumeRun(harness.database.pool, id)).toBe(true);
  await (await harness.workspace.work()).attend(await readRun(harness.database.pool, id));
  return ended(harness.database, id);
};

test('pauses before it sends anything, and after approval writes what was approved', async () => {
  await harness.addContacts(people(8));
  const paused = await harness.runSync();
  expect([paused.status, paused.errorCode]).toEqual(['paused', 'AWAITS_CONFIRMATION']);
  expect(paused.error).toContain('It would write 8 of 8 contacts (100%)');
  expect(await harness.customers()).toEqual([]);
  expect((await resumed(paused.id)).status).toBe('done');
  expect((await harness.customers()).length).toBe(8);
});

test('asks again if more than what was approved would be written by then', async () => {
  await harness.addContacts(people(8));
  const paused = await harness.runSync();
  await harness.addContacts([{ first_name: 'Late', email: 'late@example.com' }]);
  const again = await resumed(paused.id);
  expect([again.status, again.error]).toEqual(['paused', expect.stringContaining('It would write 9 of 9 contacts')]);
  expect(await harness.customers()).toEqual([]);
  expect((await resumed(paused.id)).status).toBe('done');
  expect((await harness.customers()).length).toBe(9);
});

test('a run below the limits, and a dry run, need no approval', async () => {
  await harness.addContacts(people(8));
  expect((await harness.runSync({ dryRun: true })).status).toBe('done');
  await harness.reset();
  await harness.addContacts(people(3));
  expect((await harness.runSync()).status).toBe('paused'); // all of them: more than the share
  await harness.reset();
  await harness.addCustomers(
    people(3).map(({ first_name, last_name, email }) => ({ full_name: `${first_name} ${last_name}`, email })),
  );
  await harness.addContacts([...people(3), { first_name: 'New', email: 'new@example.com' }]);
  expect((await harness.runSync()).status).toBe('done');
});
