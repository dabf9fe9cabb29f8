import { expect, test } from 'vitest';
import type { CallOptions } from '../../src/client/client.ts';
import type { Outcome } from '../../src/client/outcome.ts';
import { readCall } from '../../src/worker/reads.ts';
import { RetryLater, RunFailed } from '../../src/worker/trouble.ts';
import { anAccount } from './an-account.ts';

const DONE: Outcome = { status: 'applied', httpStatus: 200, content: [] };
const LIMITED: Outcome = { status: 'limited', httpStatus: 429, retryAfterMs: 5 };
const BROKEN: Outcome = { status: 'unknown', message: 'it broke off', reason: 'broken-off' };
const HTML: Outcome = { status: 'unknown', message: 'a page', reason: 'html' };
const UNREACHED: Outcome = { status: 'not-sent', message: 'refused', reason: 'unreachable' };
const CLOSED: Outcome = { status: 'not-sent', message: 'closed', reason: 'closed' };

/** Reads from a service that answers so, one after another; gives the options of each try. */
async function reading(answers: readonly Outcome[], signal?: AbortSignal) {
  const tries: CallOptions[] = [];
  const account = anAccount(async (_operation, options) => {
    tries.push(options);
    return answers[tries.length - 1] ?? DONE;
  });
  const reading = readCall(account, 'contacts.getall', { lane: 'batch', ...(signal && { signal }) });
  const ended = await reading.catch((error: unknown) => error);
  return { ended, tries };
}

test('a read that breaks off is tried again in place', async () => {
  const { ended, tries } = await reading([BROKEN, DONE]);
  expect([ended, tries.length]).toEqual([DONE, 2]);
});

test('a read that was told to slow down waits in place, as often as it takes, and spends no try', async () => {
  const { ended, tries } = await reading([...Array(20).fill(LIMITED), DONE]);
  expect([ended, tries.length]).toEqual([DONE, 21]);
});

test('a read that is told nothing but to slow down gives up for now, and names it', async () => {
  const { ended, tries } = await reading(Array(1_000).fill({ ...LIMITED, retryAfterMs: 0 }));
  expect([ended, tries.length]).toEqual([expect.any(RetryLater), 21]);
  expect(ended).toMatchObject({
    isTrouble: true,
    message: expect.stringMatching(/contacts\.getall.*slow down.*quota/),
  });
});

test('a read takes a token of the retry budget for each try after the first, and none where it never left', async () => {
  const taken: string[] = [];
  const answers = [BROKEN, UNREACHED, DONE];
  const account = { ...anAccount(async () => answers.shift() ?? DONE), takeRetry: async () => granted(taken) };
  await readCall(account, 'contacts.getall', { lane: 'batch' });
  expect(taken).toHaveLength(1);
});

test('a read is put off where the retry budget is empty', async () => {
  const takeRetry = async () => ({ status: 'empty', retryAfterMs: 4_000 }) as const;
  const reading = readCall({ ...anAccount(async () => BROKEN), takeRetry }, 'contacts.getall', { lane: 'batch' });
  await expect(reading).rejects.toMatchObject({ name: 'RetryLater', inMs: 4_000 });
});

test('a read waits for the budget as long as it takes: what it has read so far would be lost', async () => {
  const { tries } = await reading([DONE]);
  expect(tries[0]?.maxWaitMs).toBeUndefined();
});

test.each([['went to a closed client', CLOSED, RetryLater]])(
  'a read that %s is not tried again',
  async (_why, outcome, kind) => {
    const { ended, tries } = await reading([outcome]);
    expect([ended instanceof kind, tries.length]).toEqual([true, 1]);
  },
);

test('a page in place of JSON may be a gateway’s: it is asked for again, and in the end the run fails', async () => {
  const { ended, tries } = await reading([HTML, HTML, HTML]);
  expect([ended instanceof RunFailed, tries.length]).toEqual([true, 3]);
});

test('the calls that an answer took are told of, those that broke off among them', async () => {
  const told: unknown[] = [];
  const answers = [BROKEN, LIMITED, UNREACHED, DONE];
  const account = anAccount(async () => answers.shift() ?? DONE);
  const onCalls = async (made: unknown) => void told.push(made);
  await readCall(account, 'contacts.getall', { lane: 'batch', onCalls });
  expect(told).toEqual([{ calls: 3, limited: 1 }]);
});

test('a read may be given fewer tries', async () => {
  const account = anAccount(async () => BROKEN);
  await expect(readCall(account, 'contacts.getall', { lane: 'batch', tries: 1 })).rejects.toBeInstanceOf(RetryLater);
});

test('a read that was waiting ends with its signal', async () => {
  const stop = new AbortController();
  setImmediate(() => stop.abort());
  const { ended, tries } = await reading([{ ...LIMITED, retryAfterMs: 60_000 }, CLOSED], stop.signal);
  expect([ended instanceof RetryLater, tries.length]).toEqual([true, 2]);
});

async function granted(taken: string[]) {
  taken.push('a token');
  return { status: 'granted' } as const;
}
