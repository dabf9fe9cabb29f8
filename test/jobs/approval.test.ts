/** Contact syncs that would write more than the settings allow without approval. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { approvalOf, approveRun } from '../../src/engine/ledger/approval.ts';
import { decide, lockDecisions } from '../../src/engine/ledger/decisions.ts';
import { resumeRun } from '../../src/engine/ledger/run-status.ts';
import { readRun } from '../../src/engine/ledger/runs.ts';
import { reviewItems } from '../../src/engine/ledger/views/review-items.ts';
import { inTransaction } from '../../src/storage/transaction.ts';
import { openContactsHarness } from '../support/harness/contacts.ts';
import { ended } from '../support/harness/ended.ts';
import { people } from '../support/people.ts';
import { wordedRows } from '../support/worded-rows.ts';

const harness = await openContactsHarness({
  syncs: { contacts: 'job: contacts, options: { approveAbove: 5, approveAboveShare: 0.9 }' },
});
beforeEach(() => harness.reset());
afterAll(() => harness.close());

const continued = async (id: string) => {
  await (await harness.workspace.work()).attend(await readRun(harness.database.pool, id));
  return ended(harness.database, id);
};

const approved = async (id: string) => {
  const run = await readRun(harness.database.pool, id);
  expect(await approveRun(harness.database.pool, run, 'ann@office')).toBe(true);
  return continued(id);
};

const reasons = async (run: { readonly id: string }) =>
  (await wordedRows(harness.database.pool, run))
    .filter(({ reason }) => reason)
    .map(({ label, reason }) => [label, reason]);

test('pauses before it sends anything, and after approval writes what was approved', async () => {
  await harness.addContacts(people(8));
  const paused = await harness.runSync();
  expect([paused.status, paused.errorCode]).toEqual(['paused', 'AWAITS_CONFIRMATION']);
  expect(paused.error).toContain(
    'The run would write 8 of 8 contacts (100%), and needs approval to write more than 5.',
  );
  expect(await harness.customers()).toEqual([]);
  const done = await approved(paused.id);
  expect(done.status).toBe('done');
  expect(await approvalOf(harness.database.pool, done.id)).toEqual({ by: 'ann@office', at: expect.any(Date) });
  expect((await harness.customers()).length).toBe(8);
});

test('writes nothing that the person has not seen, and the next run writes it', async () => {
  await harness.addContacts(people(8));
  const paused = await harness.runSync();
  await harness.editContact(1, { first_name: 'Edited', email: 'edited@example.com' });
  await harness.addContacts([{ first_name: 'Late', email: 'late@example.com' }]);
  const done = await approved(paused.id);
  expect(await reasons(done)).toEqual([
    [expect.stringContaining('edited@example.com'), 'PLAN_MOVED'],
    [expect.stringContaining('late@example.com'), 'NOT_IN_PLAN'],
  ]);
  expect((await harness.customers()).map(({ contact_id }) => contact_id)).toEqual([2, 3, 4, 5, 6, 7, 8]);
  expect((await harness.runSync()).status).toBe('done');
  expect((await harness.customers()).length).toBe(9);
});

test('asks again if it was resumed without an approval, and shows what it would write by then', async () => {
  await harness.addContacts(people(8));
  const paused = await harness.runSync();
  await harness.addContacts([{ first_name: 'Late', email: 'late@example.com' }]);
  expect(await resumeRun(harness.database.pool, paused.id)).toBe(true);
  const again = await continued(paused.id);
  expect([again.status, again.error]).toEqual([
    'paused',
    expect.stringContaining('The run would write 9 of 9 contacts'),
  ]);
  expect((await approved(paused.id)).status).toBe('done');
  expect((await harness.customers()).length).toBe(9);
});

test('a run of an earlier version, which has not stored what it showed, asks again', async () => {
  await harness.addContacts(people(8));
  const paused = await harness.runSync();
  await harness.database.pool.query('delete from ledger.shown');
  expect((await approved(paused.id)).errorCode).toBe('AWAITS_CONFIRMATION');
  expect((await approved(paused.id)).status).toBe('done');
  expect((await harness.customers()).length).toBe(8);
});

test('applies a decision of a person although it had to wait for approval', async () => {
  const twins = people(2).map(({ email: _, ...person }) => ({ ...person, email: 'twins@example.com' }));
  await harness.addCustomers(twins.map((_, n) => ({ full_name: `Twin ${n}`, email: 'twins@example.com' })));
  await harness.addContacts([...twins.slice(0, 1), ...people(12).slice(2)]);
  expect((await approved((await harness.runSync()).id)).status).toBe('done');
  const { pool } = harness.database;
  const [item] = await reviewItems(pool);
  if (item === undefined) throw new Error('nothing is in review');
  await inTransaction(pool, async (db) => {
    await lockDecisions(db);
    await decide(db, [{ item, choice: 'create', record: undefined, note: undefined }], 'ann@office');
  });
  await harness.addContacts(people(60).slice(12));
  const paused = await harness.runSync();
  expect(paused.status).toBe('paused');
  const done = await approved(paused.id);
  expect([await reasons(done), await reviewItems(pool)]).toEqual([[], []]);
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
