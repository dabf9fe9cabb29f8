import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { CallOptions } from '../../../src/client/call/client.ts';
import type { Outcome } from '../../../src/client/call/outcome.ts';
import { OperationForbidden, RetryLater, RunFailed } from '../../../src/engine/account/failure.ts';
import { readCall } from '../../../src/engine/account/reads.ts';
import { anAccount } from '../worker/an-account.ts';

const DONE: Outcome = { status: 'applied', httpStatus: 200, content: [] };
const LIMITED: Outcome = { status: 'limited', httpStatus: 429, retryAfterMs: 5 };
const REFUSED: Outcome = { status: 'refused', httpStatus: 404, message: 'no such record' };
const NO_KEY: Outcome = { status: 'refused', httpStatus: 401, message: 'unknown key' };
const NO_RIGHT: Outcome = { status: 'refused', httpStatus: 403, message: 'not in your plan' };
const BROKEN: Outcome = { status: 'unknown', message: 'it broke off', reason: 'broken-off' };
const HTML: Outcome = { status: 'unknown', message: 'a page', reason: 'html' };
const UNREACHED: Outcome = { status: 'not-sent', message: 'refused', reason: 'unreachable' };
const CLOSED: Outcome = { status: 'not-sent', message: 'closed', reason: 'closed' };

// Pauses between tries are random shares of a longest one: none here.
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0));
afterEach(() => void vi.restoreAllMocks());

/** Reads from a service that gives these answers one after another; returns the options of each try. */
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

test('retries a read that breaks off, in place', async () => {
  const { ended, tries } = await reading([BROKEN, DONE]);
  expect([ended, tries.length]).toEqual([DONE, 2]);
});

test('waits in place after a rate limit, as often as needed, and spends no try', async () => {
  const { ended, tries } = await reading([...Array(20).fill(LIMITED), DONE]);
  expect([ended, tries.length]).toEqual([DONE, 21]);
});

test('waits in place until a cache asks the service again', async () => {
  const { ended, tries } = await reading([{ ...DONE, cachedForS: 3 }, DONE]);
  expect([ended, tries.length]).toEqual([DONE, 2]);
});

test('gives up for now when every answer is a rate limit, and names it', async () => {
  const { ended, tries } = await reading(Array(1_000).fill({ ...LIMITED, retryAfterMs: 0 }));
  expect([ended, tries.length]).toEqual([expect.any(RetryLater), 21]);
  expect(ended).toMatchObject({
    isFailure: true,
    message: expect.stringMatching(/contacts\.getall.*rate limit.*quota/),
  });
});

test('takes a token of the retry budget for each retry, and none where the call never left', async () => {
  const taken: string[] = [];
  const answers = [BROKEN, UNREACHED, DONE];
  const account = { ...anAccount(async () => answers.shift() ?? DONE), takeRetry: async () => granted(taken) };
  await readCall(account, 'contacts.getall', { lane: 'batch' });
  expect(taken).toHaveLength(1);
});

test('postpones a read where the retry budget is empty', async () => {
  const takeRetry = async () => ({ status: 'empty', retryAfterMs: 4_000 }) as const;
  const reading = readCall({ ...anAccount(async () => BROKEN), takeRetry }, 'contacts.getall', { lane: 'batch' });
  await expect(reading).rejects.toMatchObject({ name: 'RetryLater', inMs: 4_000 });
});

test('waits for the budget as long as needed, because the pages read so far would be lost', async () => {
  const { tries } = await reading([DONE]);
  expect(tries[0]?.maxWaitMs).toBeUndefined();
});

test.each([['went to a closed client', CLOSED, RetryLater]])(
  'does not retry a read that %s',
  async (_why, outcome, kind) => {
    const { ended, tries } = await reading([outcome]);
    expect([ended instanceof kind, tries.length]).toEqual([true, 1]);
  },
);

test('repeats a read answered by a page instead of JSON, which may be a gateway’s, and fails the run in the end', async () => {
  const { ended, tries } = await reading([HTML, HTML, HTML]);
  expect([ended instanceof RunFailed, tries.length]).toEqual([true, 3]);
});

test.each([
  ['is answered if that was a mistake', [NO_RIGHT, DONE], DONE],
  ['fails the run otherwise', [NO_RIGHT, NO_RIGHT], expect.any(OperationForbidden)],
])('a read that is forbidden with a good key is tried again, and %s', async (_, answers, expected) => {
  const left = [...answers];
  const account = anAccount(async () => left.shift() ?? BROKEN);
  const accepted = {
    ...account,
    checkKey: async () => ({ status: 'accepted', by: 'orders.getall', calls: 1 }) as const,
  };
  const ended = readCall(accepted, 'contacts.getall', { lane: 'batch' }).catch((error: unknown) => error);
  expect([await ended, left]).toEqual([expected, []]);
});

test('reports the calls that an answer took, including those that broke off', async () => {
  const told: unknown[] = [];
  const answers = [BROKEN, LIMITED, UNREACHED, DONE];
  const account = anAccount(async () => answers.shift() ?? DONE);
  const onCalls = async (made: unknown) => void told.push(made);
  await readCall(account, 'contacts.getall', { lane: 'batch', onCalls });
  expect(told).toEqual([{ calls: 3, limited: 1 }]);
});

test('a read whose key is refused counts its call', async () => {
  const told: unknown[] = [];
  const onCalls = async (made: unknown) => void told.push(made);
  const read = readCall(
    anAccount(async () => NO_KEY),
    'contacts.getall',
    { lane: 'batch', onCalls },
  );
  await expect(read).rejects.toThrow();
  expect(told).toEqual([{ calls: 1, limited: 0 }]);
});

test('a read without an answer reports that there were calls, unless none was sent', async () => {
  const told: unknown[] = [];
  const onCalls = async (made: unknown) => void told.push(made);
  const read = (answer: typeof BROKEN | typeof CLOSED) =>
    readCall(
      anAccount(async () => answer),
      'contacts.getall',
      { lane: 'batch', tries: 2, onCalls },
    );
  await expect(read(CLOSED)).rejects.toThrow();
  expect(told).toEqual([]);
  await expect(read(BROKEN)).rejects.toThrow();
  expect(told).toEqual([{ calls: 0, limited: 0, callsMissed: true }]);
});

test('a refusal is an answer: its calls are counted, and none is missed', async () => {
  const told: unknown[] = [];
  const onCalls = async (made: unknown) => void told.push(made);
  const answers = [LIMITED, REFUSED];
  const account = anAccount(async () => answers.shift() ?? DONE);
  await expect(readCall(account, 'contacts.get', { lane: 'batch', onCalls })).rejects.toBeInstanceOf(RunFailed);
  expect(told).toEqual([{ calls: 2, limited: 1 }]);
});

test('an answer that a cache has kept is no answer, and its call is counted', async () => {
  const told: unknown[] = [];
  const onCalls = async (made: unknown) => void told.push(made);
  const account = anAccount(async () => ({ ...DONE, cachedForS: 30 }));
  const signal = AbortSignal.abort(); // otherwise it is read again, for a minute
  const reading = readCall(account, 'contacts.getall', { lane: 'batch', onCalls, signal });
  await expect(reading).rejects.toMatchObject({
    name: 'RetryLater',
    isFailure: true,
    message: expect.stringMatching(/contacts\.getall: a cache has answered .* 30 s ago.* bypass the cache$/),
  });
  expect(told).toEqual([{ calls: 1, limited: 0 }]);
});

test('a read can be given fewer tries', async () => {
  const account = anAccount(async () => BROKEN);
  await expect(readCall(account, 'contacts.getall', { lane: 'batch', tries: 1 })).rejects.toBeInstanceOf(RetryLater);
});

test('a waiting read ends with its signal', async () => {
  const stop = new AbortController();
  setImmediate(() => stop.abort());
  const { ended, tries } = await reading([{ ...LIMITED, retryAfterMs: 60_000 }, CLOSED], stop.signal);
  expect([ended instanceof RetryLater, tries.length]).toEqual([true, 2]);
});

async function granted(taken: string[]) {
  taken.push('a token');
  return { status: 'granted' } as const;
}
