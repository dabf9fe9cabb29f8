import { expect, test } from 'vitest';
import { repeat } from '../../src/base/repeat.ts';

test('work that fails is repeated, and closing waits for the work in progress', async () => {
  const failures: unknown[] = [];
  let times = 0;
  let finish = (): void => undefined;
  const work = async (signal: AbortSignal) => {
    if (++times === 1) throw new Error('once');
    await new Promise<void>((resolve) => {
      finish = resolve;
    });
    expect(signal.aborted).toBe(true);
  };
  const repeated = repeat(work, { pauseMs: () => 0, failed: (error) => failures.push(error) });
  await expect.poll(() => times).toBe(2);
  let isClosed = false;
  const closing = repeated.close().then(() => {
    isClosed = true;
  });
  await Promise.resolve();
  expect(isClosed).toBe(false);
  finish();
  await closing;
  expect([times, failures]).toEqual([2, [new Error('once')]]);
});
