import { expect, test } from 'vitest';
import { createOwnPace, type OwnPace } from '../../src/client/own-pace.ts';

const lane = 'interactive';

/** A pace whose clock moves only as far as callers wait. */
function paceOnOwnClock(limits: OwnPace) {
  let now = 0;
  const wait = async (ms: number) => {
    now += ms;
  };
  const pace = createOwnPace(limits, { nowMs: () => now, wait });
  const take = async () => {
    const taken = await pace.take({ lane });
    if (taken.status !== 'taken') throw new Error('without a limit to its patience a call waits');
    return { ...taken.permit, atMs: now };
  };
  return { pace, take };
}

test('sends calls at even intervals', async () => {
  const { take } = paceOnOwnClock({ requestsPerSecond: 10, concurrency: 100 });
  const permits = await Promise.all([take(), take(), take(), take()]);
  expect(permits.map(({ atMs }) => atMs)).toEqual([0, 100, 200, 300]);
});

test('keeps calls in flight within the limit', async () => {
  const { take } = paceOnOwnClock({ requestsPerSecond: 1_000, concurrency: 2 });
  const first = await take();
  await take();
  const seen: string[] = [];
  const third = take().then(() => seen.push('third call'));
  await new Promise(setImmediate);
  seen.push('first call has ended');
  first.release();
  await third;
  expect(seen).toEqual(['first call has ended', 'third call']);
});

test('does not make a call that is aborted while it waits for another call', async () => {
  const { pace, take } = paceOnOwnClock({ requestsPerSecond: 1_000, concurrency: 1 });
  await take();
  const stop = new AbortController();
  const waiting = pace.take({ lane, signal: stop.signal });
  await new Promise(setImmediate);
  stop.abort();
  await expect(waiting).rejects.toThrow('aborted');
});

test('sends no call after a 429 before the given time', async () => {
  const { take } = paceOnOwnClock({ requestsPerSecond: 10, concurrency: 100 });
  await (await take()).limited(5_000);
  expect([(await take()).atMs, (await take()).atMs]).toEqual([5_000, 5_100]);
});

test('tells a caller that cannot wait that long when to come back', async () => {
  const { pace, take } = paceOnOwnClock({ requestsPerSecond: 1, concurrency: 100 });
  await take();
  expect(await pace.take({ lane, maxWaitMs: 400 })).toEqual({ status: 'wait', retryAfterMs: 1_000 });
});
