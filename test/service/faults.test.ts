import { afterAll, describe, expect, test, vi } from 'vitest';
import type { FaultKind } from '../../src/service/testbed/behaviour.ts';
import { testBed } from '../../src/service/testbed/faults.ts';
import { PATIENT } from '../support/patient.ts';
import { type Received, type StartedService, startedService } from './started-service.ts';

const at = await startedService();
afterAll(() => at.close());

/** The outcome of one create under one fault: what the caller saw, and what was written by then. */
async function createUnder(
  kind: FaultKind,
): Promise<{ seen: Received | Error; written: boolean; other: StartedService }> {
  const other = await at.another({ faults: { rate: 1, kinds: [kind], limit: 1, lateMs: 150 } });
  const full_name = `under ${kind} ${Math.random()}`;
  const pending = other.call('customers.create', { body: { full_name } }).catch((error: Error) => error);
  const isSilent = kind.startsWith('hang');
  if (isSilent) await vi.waitFor(() => expect(other.service.faults().get(kind)).toBe(1), PATIENT);
  if (kind === 'hang-after') await vi.waitFor(async () => expect(await isWritten(full_name)).toBe(true), PATIENT);
  const seen = isSilent ? new Error('no answer') : await pending;
  return { seen, written: await isWritten(full_name), other };
}

async function isWritten(full_name: string): Promise<boolean> {
  const { rows } = await at.pool.query("select id from service.customers where fields->>'full_name' = $1", [full_name]);
  return rows.length === 1;
}

describe('a request that goes wrong', () => {
  test.each([
    ['reset-before', /reset|closed|other side/i, false],
    ['reset-after', /reset|closed|other side/i, true],
    ['hang-before', /no answer/, false],
    ['hang-after', /no answer/, true],
    ['5xx-before', 503, false],
    ['5xx-after', 502, true],
    ['truncate', /terminated|aborted|closed|other side/i, true],
  ] as const)('by %s is seen as %s and written: %s', async (kind, expected, written) => {
    const outcome = await createUnder(kind);
    if (outcome.seen instanceof Error) expect(outcome.seen.message).toMatch(expected as RegExp);
    else expect(outcome.seen.status).toBe(expected);
    expect(outcome.written).toBe(written);
    expect((await outcome.other.call('customers.create', { body: {} })).status).toBe(200);
  });

  test('by late-commit is answered with a 504 or a reset first, and written later', async () => {
    const other = await at.another({ faults: { rate: 1, kinds: ['late-commit'], lateMs: 150 } });
    const names = ['late 1', 'late 2'];
    const [first, second] = [await tryCreate(other, 'late 1'), await tryCreate(other, 'late 2')];
    expect([first instanceof Error || first.status, second instanceof Error]).toEqual([504, true]);
    expect(await isWritten('late 1')).toBe(false);
    await vi.waitFor(async () => expect(await Promise.all(names.map(isWritten))).toEqual([true, true]), PATIENT);
  });

  test('does not affect reads, or operations other than the named ones', async () => {
    const kinds: FaultKind[] = ['5xx-before'];
    const writes = await at.another({ faults: { rate: 1, kinds } });
    expect((await writes.call('customers.getall')).status).toBe(200);
    expect((await writes.call('pipelines.getall')).status).toBe(200);
    const named = await at.another({ faults: { rate: 1, kinds, operations: ['orders.create'] } });
    expect((await named.call('customers.create', { body: {} })).status).toBe(200);
    const all = await at.another({ faults: { rate: 1, kinds, onlyWrites: false } });
    expect((await all.call('customers.getall')).status).toBe(503);
  });

  test('can break off a list in the middle', async () => {
    const other = await at.another({ faults: { rate: 1, kinds: ['truncate'], onlyWrites: false } });
    await expect(other.call('customers.getall')).rejects.toThrow();
  });
});

function tryCreate(service: StartedService, full_name: string): Promise<Received | Error> {
  return service.call('customers.create', { body: { full_name } }).catch((error: Error) => error);
}

const ANSWER = { httpStatus: 200, headers: {}, body: '' };

test('the same seed lets the same requests go wrong, at about the given rate', async () => {
  const run = async (seed: number): Promise<string[]> => {
    const faults = {
      seed,
      rate: 0.2,
      kinds: ['reset-before', '5xx-before'] as FaultKind[],
      onlyWrites: true,
      lateMs: 0,
    };
    const harness = testBed({ faults, latencyMs: 0 });
    const served = [];
    for (let n = 0; n < 1_000; n++) served.push((await harness.around('orders.create', async () => ANSWER)).status);
    return [...served, JSON.stringify([...harness.counts()])];
  };
  expect(await run(7)).toEqual(await run(7));
  expect(await run(8)).not.toEqual(await run(7));
  const wrong = (await run(7))
    .at(-1)
    ?.match(/\d+(?=\])/g)
    ?.reduce((sum, count) => sum + Number(count), 0);
  expect(wrong).toBeGreaterThan(150);
  expect(wrong).toBeLessThan(250);
});

test('closing ends connections that will never be answered, and drops late commits that have not begun', async () => {
  const faults = { rate: 1, kinds: ['hang-before', 'late-commit'] as FaultKind[], lateMs: 600_000 };
  const other = await at.another({ faults });
  const calls = Array.from({ length: 6 }, (_, n) => tryCreate(other, `closing ${n}`));
  await vi.waitFor(() => expect([...other.service.faults().values()].reduce((sum, n) => sum + n, 0)).toBe(6), PATIENT);
  const startedAt = performance.now();
  await other.service.close();
  expect(performance.now() - startedAt).toBeLessThan(4_500); // not by the grace period's end
  await Promise.all(calls);
  const { rows } = await at.pool.query("select 1 from service.customers where fields->>'full_name' like 'closing%'");
  expect(rows).toEqual([]);
});
