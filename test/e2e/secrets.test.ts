/** An API key stays in the process that uses it: a canary key goes through a sync with faults and is then searched for. */
import { afterEach, expect, test } from 'vitest';
import { FAULT_KINDS } from '../../src/service/testbed/behaviour.ts';
import { everythingIn, everythingInRedis } from '../support/everything-in.ts';
import { type ContactsHarness, openContactsHarness } from '../support/harness/contacts.ts';
import { TEST_KEY } from '../support/harness/harness.ts';
import { people } from '../support/people.ts';
import { redisForTests } from '../support/redis.ts';

let harness: ContactsHarness | undefined;
afterEach(async () => {
  await harness?.close();
  harness = undefined;
});

const stores = [
  ['Postgres', undefined],
  ...(redisForTests() ? [['Redis', redisForTests()?.url] as const] : []),
] as const;

test.each(stores)('the key is in no job, no row and no budget, with the queue on %s', async (_name, redisUrl) => {
  harness = await openContactsHarness({
    behaviour: { faults: { seed: 3, rate: 0.2, kinds: [...FAULT_KINDS], onlyWrites: false, lateMs: 50 } },
    account: 'budget: { requests: 500, per: 1s, burst: 50, timeout: 300ms, settle: 500ms }',
    redisUrl,
  });
  await harness.addContacts(people(40));
  const run = await harness.runSync();
  expect(run.status).toBe('done');
  const seen = await everythingIn(harness.database.pool);
  expect(seen).toContain(run.id); // proves that the search sees what is there
  expect(seen).not.toContain(TEST_KEY);
  if (redisUrl) expect(await everythingInRedis(redisUrl)).not.toContain(TEST_KEY);
});
