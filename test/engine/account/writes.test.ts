import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { elapsedMs } from '../../../src/base/clock.ts';
import type { CallOptions } from '../../../src/client/call/client.ts';
import type { Outcome } from '../../../src/client/call/outcome.ts';
import { MAX_ATTEMPTS } from '../../../src/client/call/retry-policy.ts';
import type { OperationName } from '../../../src/contract/operations.ts';
import type { Account } from '../../../src/engine/account/account.ts';
import {
  KeyRefused,
  keyRefused,
  OperationForbidden,
  RetryLater,
  RunFailed,
} from '../../../src/engine/account/failure.ts';
import { createPermissions } from '../../../src/engine/account/permissions.ts';
import { type WriteOptions, write } from '../../../src/engine/account/writes.ts';
import { anAccount } from '../worker/an-account.ts';

// Pauses between tries are random shares of a longest one: none here.
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0));
afterEach(() => void vi.restoreAllMocks());

const APPLIED: Outcome = { status: 'applied', httpStatus: 200, content: null };
const LIMITED: Outcome = { status: 'limited', httpStatus: 429, retryAfterMs: 5 };
const SILENT: Outcome = { status: 'unknown', message: 'no answer', reason: 'timeout' };
const FORBIDDEN = { status: 'refused', httpStatus: 403, message: 'no' } as const;
const REFUSED: Outcome = { status: 'refused', httpStatus: 422, message: 'not so' };
const notSent = (reason: (Outcome & { status: 'not-sent' })['reason'] & string): Outcome => ({
  status: 'not-sent',
  message: 'it did not leave',
  reason,
});

const soon = (): WriteOptions => ({
  lane: 'batch',
  dispatchBefore: elapsedMs() + 60_000,
  stopWaiting: new AbortController().signal,
  sends: 0,
  record: '1',
});

/** Writes at a service that gives these answers one after another, and repeats the last one. */
async function writing(
  operation: OperationName,
  answers: readonly Outcome[],
  more: Partial<WriteOptions & Account> = {},
) {
  const calls: CallOptions[] = [];
  const account = anAccount(async (_operation, options) => {
    calls.push(options);
    return answers[Math.min(calls.length, answers.length) - 1] ?? APPLIED;
  });
  const report = await write({ ...account, ...more }, operation, { ...soon(), ...more });
  return { ...report, made: calls };
}

describe('a create', () => {
  test.each<[string, Outcome, string]>([
    ['that succeeds is applied', APPLIED, 'applied'],
    ['without an answer has an unknown outcome', SILENT, 'in-doubt'],
    [
      'that meets a conflict has an unknown outcome',
      { status: 'refused', httpStatus: 409, message: 'there' },
      'in-doubt',
    ],
    ['that is refused is refused', REFUSED, 'refused'],
    ['that is rate-limited is retried later', LIMITED, 'not-now'],
  ])('%s, and is sent once', async (_what, outcome, status) => {
    const { written, made } = await writing('orders.create', [outcome]);
    expect([written.status, made.length]).toEqual([status, 1]);
  });
});

test('a create that is always limited is read back where reads are answered, and is sent again where they are not', async () => {
  const permissions = createPermissions();
  const send = (operation: OperationName, answers: readonly Outcome[], record = '1') =>
    writing(operation, answers, { permissions, record });
  for (const _ of [1, 2, 3]) expect((await send('orders.create', [LIMITED])).written.status).toBe('not-now');
  expect((await send('orders.create', [LIMITED])).made).toHaveLength(2); // a read, and the create
  const { written, made } = await send('orders.create', [APPLIED]);
  expect([written, made.length]).toEqual([expect.objectContaining({ status: 'in-doubt', wasLimited: true }), 1]);
  for (const record of ['1', '2'])
    expect((await send('orders.create', [LIMITED], record)).written.status).toBe('not-now'); // sent
  expect((await send('orders.create', [APPLIED], '2')).written.status).toBe('in-doubt');
  expect((await send('orders.create', [APPLIED], '3')).written.status).toBe('applied');
  expect((await send('orders.create', [APPLIED], '1')).written.status).toBe('applied');
});

describe('an update', () => {
  test('without an answer is repeated in place, as a retry', async () => {
    const { written, calls, made } = await writing('orders.update', [SILENT, APPLIED]);
    expect([written.status, calls, made.map(({ isRetry }) => isRetry === true)]).toEqual(['applied', 2, [false, true]]);
  });

  test('without any answer is given up after all its attempts', async () => {
    const { written, calls } = await writing('orders.update', [SILENT], { sends: MAX_ATTEMPTS - 2 });
    expect([written, calls]).toEqual([{ status: 'given-up', message: 'no answer' }, 2]);
  });

  test.each<[string, () => Partial<WriteOptions & Account>]>([
    ['there is no time', () => ({ dispatchBefore: elapsedMs() })],
    ['the retry budget is empty', () => ({ takeRetry: async () => ({ status: 'empty', retryAfterMs: 1 }) })],
    ['the process is stopping', () => ({ stopWaiting: AbortSignal.abort() })],
  ])('is not repeated where %s', async (_why, more) => {
    const { written, calls } = await writing('orders.update', [SILENT], more());
    expect([written.status, calls]).toEqual(['in-doubt', 1]);
  });
});

test.each<OperationName>(['contacts.comment', 'pipelines.comment', 'pipelines.moveCard'])(
  '%s without an answer is never sent again, and for a person to decide',
  async (operation) => {
    const { written, made } = await writing(operation, [SILENT]);
    expect([written.status, made.length]).toEqual(['given-up', 1]);
  },
);

describe('a write that was not sent is postponed', () => {
  test.each<[Outcome, unknown]>([
    [notSent('deadline'), undefined],
    [notSent('aborted'), undefined],
    [notSent('budget'), { isFailure: false }],
    [notSent('breaker'), { isFailure: true }],
    [notSent('unreachable'), { isFailure: true }],
    [notSent('certificate'), { code: 'SERVICE_CERTIFICATE' }],
  ])('%o', async (outcome, stop) => {
    const { written, calls } = await writing('orders.create', [outcome]);
    expect(written).toEqual({
      status: 'not-now',
      stop: stop === undefined ? undefined : expect.objectContaining(stop),
    });
    expect(calls).toBe(0);
  });
});

describe('a refusal with the message of a refused key', () => {
  const refused = keyRefused(anAccount(), FORBIDDEN);
  const accepting = { checkKey: async () => ({ status: 'accepted', by: 'contacts.getall', calls: 0 }) as const };

  test('waits, and counts as the record’s own where the operation works for other records', async () => {
    const account = { ...accepting, permissions: createPermissions() };
    const first = await writing('orders.create', [FORBIDDEN], account);
    expect(first.written).toEqual({ status: 'not-now', stop: undefined });
    await writing('orders.create', [APPLIED], { ...account, record: '2' });
    const again = await writing('orders.create', [FORBIDDEN], account);
    expect(again.written).toEqual({ status: 'refused', httpStatus: 403, message: 'no' });
  });

  test('counts as the operation’s where it works for no record, and only this run fails', async () => {
    const account = { ...accepting, permissions: createPermissions() };
    await writing('orders.create', [FORBIDDEN], account);
    const again = await writing('orders.create', [FORBIDDEN], account);
    expect(again.written).toEqual({ status: 'not-now', stop: expect.any(OperationForbidden) });
  });

  test('counts as the operation’s where many in a row are refused after it had worked', async () => {
    const account = { ...accepting, permissions: createPermissions() };
    await writing('orders.create', [APPLIED], account);
    const stops: unknown[] = [];
    for (let record = 0; record < 20; record++) {
      const { written } = await writing('orders.create', [FORBIDDEN], { ...account, record: String(record) });
      stops.push(written.status === 'not-now' && written.stop?.name);
    }
    expect(stops).toEqual([...Array(19).fill(undefined), 'OperationForbidden']);
  });

  test.each([
    [{ status: 'refused', refused, failure: FORBIDDEN, calls: 4 } as const, KeyRefused],
    [{ status: 'unclear', why: '', calls: 1 } as const, RetryLater],
  ])('stops the run where a read returns %o, and spends no attempt', async (key, kind) => {
    const { written } = await writing('orders.create', [FORBIDDEN], { checkKey: async () => key });
    expect(written).toEqual({ status: 'not-now', stop: expect.any(kind) });
    expect(written).not.toEqual({ status: 'not-now', stop: expect.any(RunFailed) });
  });
});
