/** Contacts with identical data, at a service that does not say which contact a customer came from, with faults. */
import { expect, onTestFinished, test } from 'vitest';
import { FAULT_KINDS } from '../../src/service/testbed/behaviour.ts';
import { openContactsHarness } from '../support/harness/contacts.ts';

const QUICK = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 300ms, settle: 900ms, concurrency: 8 }';

test('imports each of them once, and writes nothing the next night', async () => {
  const harness = await openContactsHarness({
    account: QUICK,
    behaviour: {
      customersCarryContactId: false,
      faults: { seed: 2, rate: 0.3, kinds: [...FAULT_KINDS], lateMs: 200 },
    },
  });
  onTestFinished(() => harness.close());
  const ann = { first_name: 'Ann', last_name: 'Lee', email: 'lee@example.com' };
  const hotel = { organization: 'Hotel Lee', phone: '+49 30 5550000' };
  const ben = { first_name: 'Ben', last_name: 'Lee' };
  await harness.addContacts([ann, ann, ann, hotel, hotel, ben, ben, ben, ben]);
  const run = await harness.runSync();
  expect([run.status, await harness.counts(run)]).toMatchObject(['done', { in: 9, created: 9 }]);
  const made = (await harness.customers()).map(({ full_name, phone_number }) => full_name ?? phone_number);
  const count = (name: unknown) => made.filter((one) => one === name).length;
  expect([count('Ann Lee'), count(hotel.phone), count('Ben Lee'), made.length]).toEqual([3, 2, 4, 9]);
  expect(await harness.counts(await harness.runSync())).toMatchObject({ in: 9, unchanged: 9 });
});
