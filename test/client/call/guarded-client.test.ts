import { describe, expect, test } from 'vitest';
import { createBreaker, FAILURES_TO_OPEN } from '../../../src/client/call/breaker.ts';
import type { CallOptions, Client } from '../../../src/client/call/client.ts';
import { guardClient } from '../../../src/client/call/guarded-client.ts';
import type { Outcome } from '../../../src/client/call/outcome.ts';
import type { OperationName } from '../../../src/contract/operations.ts';

const APPLIED: Outcome = { status: 'applied', httpStatus: 200, content: null };
const DOWN: Outcome = { status: 'unknown', message: 'HTTP 500', reason: 'server-error' };
const REFUSED: Outcome = { status: 'refused', httpStatus: 404, message: 'no' };
const LIMITED: Outcome = { status: 'limited', httpStatus: 429, retryAfterMs: 1_000 };
const NO_TOKEN: Outcome = { status: 'not-sent', message: 'no token', reason: 'budget' };
const ABORTED: Outcome = { status: 'unknown', message: 'aborted', reason: 'aborted' };
const BATCH: CallOptions = { lane: 'batch' };

/** A guarded client with its own clock, for a service that is up or down, after this many failures in a row. */
async function afterFailures(failures = FAILURES_TO_OPEN) {
  const world = { isUp: false, answers: undefined as Outcome | undefined, nowMs: 0, seen: [] as string[] };
  const answer = (operation: OperationName | 'probe') => {
    world.seen.push(operation);
    return world.answers ?? (world.isUp ? APPLIED : DOWN);
  };
  const client: Client = {
    call: async (operation) => answer(operation),
    stream: async () => ({ status: 'applied', httpStatus: 200, records: 0 }),
    inspect: async (operation) => ({ outcome: answer(operation), body: '', durationMs: 0 }),
    learntPrefixes: () => ({}),
    close: async () => {},
  };
  const guarded = guardClient(client, {
    breaker: createBreaker(),
    probe: async () => answer('probe'),
    now: () => world.nowMs,
  });
  for (let i = 0; i < failures; i++) await guarded.call('orders.create', BATCH);
  world.seen.length = 0;
  return { world, call: guarded.call };
}

describe('after several failures in a row', () => {
  test('batch work returns at once with the time to come back, and nothing is sent', async () => {
    const { world, call } = await afterFailures();
    expect(await call('orders.create', BATCH)).toMatchObject({
      status: 'not-sent',
      reason: 'breaker',
      retryAfterMs: 1_000,
      message: expect.stringContaining('HTTP 500'),
    });
    expect(world.seen).toEqual([]);
  });

  test('sends a person’s first try of a read, and holds back a second one and every write', async () => {
    const { world, call } = await afterFailures();
    await call('orders.getall', { lane: 'interactive' });
    await call('orders.getall', { lane: 'interactive', isRetry: true });
    await call('orders.create', { lane: 'interactive' });
    expect(world.seen).toEqual(['orders.getall']);
  });

  test('a create waits for a read that shows that the service is back', async () => {
    const { world, call } = await afterFailures();
    Object.assign(world, { nowMs: 1_000, isUp: true });
    expect(await call('orders.create', BATCH)).toEqual(APPLIED);
    expect(world.seen).toEqual(['probe', 'orders.create']);
  });

  test('a create is not sent where that read fails', async () => {
    const { world, call } = await afterFailures();
    world.nowMs = 1_000;
    expect(await call('orders.create', BATCH)).toMatchObject({ status: 'not-sent', retryAfterMs: 2_000 });
    expect(world.seen).toEqual(['probe']);
  });

  test('a read is its own probe, and only one of several is sent', async () => {
    const { world, call } = await afterFailures();
    Object.assign(world, { nowMs: 1_000, isUp: true });
    await Promise.all([call('contacts.getall', BATCH), call('contacts.getall', BATCH)]);
    expect(world.seen).toEqual(['contacts.getall']);
    await call('contacts.getall', BATCH);
    expect(world.seen).toHaveLength(2);
  });

  test('other calls wait during a probe, and a probe without a result is repeated', async () => {
    const { world, call } = await afterFailures();
    world.nowMs = 1_000;
    world.answers = NO_TOKEN;
    const both = await Promise.all([call('orders.create', BATCH), call('orders.create', BATCH)]);
    expect(both).toMatchObject([{ retryAfterMs: 1 }, { retryAfterMs: 1_000 }]);
    await call('orders.create', BATCH);
    expect(world.seen).toEqual(['probe', 'probe']);
  });

  test.each<[Outcome]>([[REFUSED], [LIMITED]])('%j shows that the service is back', async (answer) => {
    const { world, call } = await afterFailures();
    Object.assign(world, { nowMs: 1_000, answers: answer });
    expect(await call('orders.create', BATCH)).toEqual(answer);
    expect(world.seen).toEqual(['probe', 'orders.create']);
  });
});

test.each<[Outcome]>([[NO_TOKEN], [ABORTED]])('%j is no failure of the service', async (answer) => {
  const { world, call } = await afterFailures(0);
  world.answers = answer;
  for (let i = 0; i <= FAILURES_TO_OPEN; i++) await call('orders.create', BATCH);
  expect(world.seen).toHaveLength(FAILURES_TO_OPEN + 1);
});

test('with one failure less everything is sent', async () => {
  const { world, call } = await afterFailures(FAILURES_TO_OPEN - 1);
  world.isUp = true;
  await call('orders.create', BATCH);
  expect(world.seen).toEqual(['orders.create']);
});
