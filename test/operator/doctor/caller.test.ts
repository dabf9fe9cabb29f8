import { expect, test } from 'vitest';
import type { Client } from '../../../src/client/call/client.ts';
import type { Outcome } from '../../../src/client/call/outcome.ts';
import { createCaller, NotProbed } from '../../../src/operator/doctor/caller.ts';

const APPLIED: Outcome = { status: 'applied', httpStatus: 200, content: [] };
const ALLOWED = { maxCalls: 3, withinMs: 60_000, timeoutMs: 1_000 };

/** Answers the outcomes one after the other, and repeats the last one. */
function answering(...outcomes: readonly Outcome[]): { asked: number; inspect: Client['inspect'] } {
  const client = {
    asked: 0,
    inspect: async () => {
      const outcome = outcomes[Math.min(client.asked++, outcomes.length - 1)] ?? APPLIED;
      return { outcome, body: '[1]', durationMs: 1 };
    },
  };
  return client;
}

test('makes no more calls than allowed', async () => {
  const client = answering(APPLIED);
  const calls = createCaller(client, ALLOWED);
  for (let n = 0; n < 3; n++) await calls.look('orders.getall');
  await expect(calls.look('orders.getall')).rejects.toThrow(NotProbed);
  expect([client.asked, calls.made()]).toEqual([3, 3]);
});

test('repeats a call that meets a rate limit, and counts each attempt', async () => {
  const client = answering({ status: 'limited', httpStatus: 429, retryAfterMs: 0 }, APPLIED);
  const calls = createCaller(client, ALLOWED);
  expect(await calls.look('orders.getall')).toMatchObject({ outcome: APPLIED, json: [1] });
  expect([calls.made(), calls.limited()]).toEqual([2, 1]);
});

test('asks nothing after its time limit', async () => {
  const client = answering(APPLIED);
  await expect(createCaller(client, { ...ALLOWED, withinMs: 0 }).look('orders.getall')).rejects.toThrow(
    /has used its 0 s/,
  );
  expect(client.asked).toBe(0);
});

test('a call that was not sent does not count', async () => {
  const calls = createCaller(answering({ status: 'not-sent', message: 'refused', reason: 'unreachable' }), ALLOWED);
  await calls.look('orders.getall');
  expect([calls.made(), calls.traces()]).toEqual([0, []]);
});
