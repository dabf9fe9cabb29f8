/** An API key is seen nowhere but in the process that uses it: a canary through a sync with faults, then a search. */
import { afterEach, expect, test } from 'vitest';
import { FAULT_KINDS } from '../../src/service/behaviour.ts';
import { everythingIn, everythingInRedis } from '../support/everything-in.ts';
import { people } from '../support/people.ts';
import { redisForTests } from '../support/redis.ts';
import { openSyncBed, type SyncBed, TEST_KEY } from '../support/sync-bed.ts';

let bed: SyncBed | undefined;
afterEach(async () => {
  await bed?.close();
  bed = undefined;
});

const stores = [
  ['Postgres', undefined],
  ...(redisForTests() ? [['Redis', redisForTests()?.url] as const] : []),
] as const;

test.each(stores)('the key is in no job, no row and no budget, with the queue on %s', async (_name, redisUrl) => {
  bed = await openSyncBed({
    behaviour: { faults: { seed: 3, rate: 0.2, kinds: [...FAULT_KINDS], onlyWrites: false, lateMs: 50 } },
    account: 'budget: { requests: 500, per: 1s, burst: 50, timeout: 300ms, settle: 500ms }',
    ...(redisUrl && { redisUrl }),
  });
  await bed.addContacts(people(40));
  const run = await bed.runSync();
  expect(run.status).toBe('done');
  const seen = await everythingIn(bed.database.pool);
  expect(seen).toContain(run.id); // the search does see what is there
  expect(seen).not.toContain(TEST_KEY);
  if (redisUrl) expect(await everythingInRedis(redisUrl)).not.toContain(TEST_KEY);
});
