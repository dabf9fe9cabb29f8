/**
 * The contact sync under random faults, dialects and shapes of contacts, with a worker that stops before the end.
 * Checked against the service's own commit log: every contact becomes one customer, or the violation is reported.
 */
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Run } from '../../src/engine/ledger/runs.ts';
import { type BehaviourOptions, FAULT_KINDS } from '../../src/service/testbed/behaviour.ts';
import { type ContactsHarness, openContactsHarness } from '../support/harness/contacts.ts';
import { ended } from '../support/harness/ended.ts';
import type { Needs } from '../support/harness/needs.ts';
import { people } from '../support/people.ts';
import { redisForTests } from '../support/redis.ts';

const CONTACTS = 60;
const QUICK = 'budget: { requests: 3000, per: 1s, burst: 300, timeout: 400ms, settle: 1200ms, concurrency: 16 }';

async function harnessWith(options: Needs): Promise<ContactsHarness> {
  const harness = await openContactsHarness({ account: QUICK, ...options });
  onTestFinished(() => harness.close());
  await harness.addContacts(people(CONTACTS));
  await expect.poll(() => areAllShown(harness, options.behaviour?.readLagMs ?? 0), { timeout: 10_000 }).toBe(true);
  return harness;
}

describe('random faults', () => {
  const days = fc.record({
    seed: fc.integer({ min: 1, max: 1_000 }),
    rate: fc.constantFrom(0.02, 0.1, 0.25),
    onlyWrites: fc.boolean(),
    lateMs: fc.constantFrom(50, 300, 800),
    isStopped: fc.boolean(),
    onRedis: fc.boolean(),
    more: fc.record<BehaviourOptions>(
      {
        customersCarryContactId: fc.boolean(),
        importBody: fc.constantFrom('contact_id', 'refused-404', 'refused-400'),
        importTwice: fc.constantFrom('create', 'refuse'),
        idType: fc.constantFrom('number', 'string'),
        order: fc.constantFrom('oldest', 'newest'),
        maxRowsPerPage: fc.constantFrom(9, 1_000),
        createAnswers: fc.constantFrom('nothing', 'envelope', 'id', 'record'),
        listShape: fc.constantFrom('bare', 'content'),
        readLagMs: fc.constantFrom(0, 300),
      },
      { requiredKeys: [] },
    ),
  });
  // A fixed sample, so that each day is a test with its own name.
  const sample = fc.sample(days, { numRuns: 24, seed: 20_261_121 });

  test.each(sample)('day %#: $rate of the calls go wrong, $more', async ({ isStopped, onRedis, more, ...faults }) => {
    const redis = onRedis ? redisForTests() : undefined;
    const behaviour: BehaviourOptions = { ...more, faults: { ...faults, kinds: [...FAULT_KINDS] } };
    const harness = await harnessWith({ behaviour, ...(redis && { redisUrl: redis.url }) });
    const run = await runThrough(harness, isStopped);
    expect([run.status, run.error]).toEqual(['done', undefined]);
    const counts = await harness.counts(run);
    expect(counts).toMatchObject({ in: CONTACTS, created: CONTACTS });
    expect(await harness.customers()).toHaveLength(CONTACTS);
  });
});

describe('commits later than the settle time', () => {
  test.each([true, false])(
    'make duplicate customers, and the next run reports each (contact ids shown: %s)',
    async (carry) => {
      const harness = await harnessWith({
        account: 'budget: { requests: 3000, per: 1s, burst: 300, timeout: 300ms, settle: 300ms }',
        behaviour: {
          customersCarryContactId: carry,
          faults: { seed: 4, rate: 0.2, kinds: ['late-commit'], lateMs: 2_500, operations: ['customers.import'] },
        },
      });
      const run = await harness.runSync();
      const late = harness.service.faults().get('late-commit') ?? 0;
      expect([run.status, late > 0]).toEqual(['done', true]);
      await expect.poll(async () => (await harness.customers()).length, { timeout: 15_000 }).toBe(CONTACTS + late);
      const next = await harness.runSync();
      const reported = (await harness.rows(next)).filter(({ reason }) => reason === 'DUPLICATE');
      const surplus = reported.reduce((sum, { detail }) => sum + (detail.match(/\d+/g)?.length ?? 0) - 1, 0);
      expect(surplus).toBe(late);
      expect(await harness.customers()).toHaveLength(CONTACTS + late);
    },
  );
});

/** Runs the sync. With `isStopped`, the process that began it stops before the end and another process resumes it. */
async function runThrough(harness: ContactsHarness, isStopped: boolean): Promise<Run> {
  if (!isStopped) return harness.runSync();
  const { run } = await harness.workspace.startSync('contacts', { lane: 'batch', dryRun: false });
  await harness.workspace.work();
  await expect.poll(() => harness.service.traffic.total(), { timeout: 20_000, interval: 1 }).toBeGreaterThan(20);
  await harness.workspace.close();
  await (await harness.anotherWorkspace()).work();
  return ended(harness.database, run.id);
}

/** A service with read lag shows contacts shortly after they were made. */
async function areAllShown({ database }: ContactsHarness, lagMs: number): Promise<boolean> {
  const found = await database.pool.query<{ shown: boolean }>(
    `select max(created_at) < clock_timestamp() - $1 * interval '1 ms' as shown from service.contacts`,
    [lagMs],
  );
  return found.rows[0]?.shown ?? false;
}
