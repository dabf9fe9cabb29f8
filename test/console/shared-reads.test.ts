/** Reads that viewers of a page share. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { sharedRead } from '../../src/console/live/shared-reads.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** Counts its reads; each takes this long. */
function counter(tookMs: number) {
  const owner = {};
  let reads = 0;
  const read = async () => {
    reads += 1;
    const value = reads;
    await new Promise((resolve) => setTimeout(resolve, tookMs));
    return value;
  };
  const start = (freshMs = 0, slowMs = 0) => sharedRead(owner, 'run-1', read, { freshMs, slowMs });
  /** What a viewer sees, and whether it had to wait. */
  const see = async (freshMs = 0, slowMs = 0) => {
    let isWaiting = true;
    const value = start(freshMs, slowMs).finally(() => {
      isWaiting = false;
    });
    await vi.advanceTimersByTimeAsync(0);
    const hadToWait = isWaiting;
    await vi.advanceTimersByTimeAsync(tookMs);
    return [await value, hadToWait];
  };
  return { start, see };
}

test('viewers that read at the same time share a read', async () => {
  const { start } = counter(20);
  const all = Promise.all([start(), start(), start()]);
  await vi.advanceTimersByTimeAsync(20);
  expect(await all).toEqual([1, 1, 1]);
});

test('a fast read is made again once it is not fresh', async () => {
  const { see } = counter(20);
  expect(await see()).toEqual([1, true]);
  expect(await see()).toEqual([2, true]);
  expect(await see(500)).toEqual([2, false]);
  await vi.advanceTimersByTimeAsync(500);
  expect(await see(500)).toEqual([3, true]);
});

test('a slow read whose old value may be shown is used again for ten times as long, and then while it is made again', async () => {
  const { see } = counter(1_000);
  expect(await see(0, 60_000)).toEqual([1, true]);
  await vi.advanceTimersByTimeAsync(8_000);
  expect(await see(0, 60_000)).toEqual([1, false]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(await see(0, 60_000)).toEqual([1, false]);
  expect(await see(0, 60_000)).toEqual([2, false]);
});

test('an old value of a slow read is not shown', async () => {
  const { see } = counter(1_000);
  expect(await see(0, 60_000)).toEqual([1, true]);
  await vi.advanceTimersByTimeAsync(80_000);
  expect(await see(0, 60_000)).toEqual([2, true]);
});

test('a slow read is made again at once if only its newest value may be shown', async () => {
  const { see } = counter(1_000);
  expect(await see()).toEqual([1, true]);
  expect(await see()).toEqual([2, true]);
});

test('a read that failed is made again by the next viewer', async () => {
  const owner = {};
  await expect(sharedRead(owner, 'home', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect(await sharedRead(owner, 'home', async () => 'back')).toBe('back');
});
