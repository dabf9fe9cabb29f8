import { expect, test } from 'vitest';
import { type KeyNow, type Look, progressLine, withLook } from '../../src/cli/print/progress-line.ts';
import type { RowsLeft } from '../../src/engine/ledger/rows.ts';
import type { Run } from '../../src/engine/ledger/runs.ts';

const RUN: Run = {
  id: 'run-1',
  sync: 'nightly',
  type: 'contacts',
  account: 'acme',
  scope: 'acme',
  resource: 'customers',
  lane: 'batch',
  dryRun: false,
  partOf: undefined,
  title: 'nightly',
  options: {},
  status: 'running',
  phase: 'import-customers',
  checkpoint: {},
  notes: [],
  listsAwaited: [],
  scan: 'proven',
  leftOut: undefined,
  rowsSeen: 2_000,
  counts: undefined,
  rowsPruned: 0,
  rowsSettled: 500,
  calls: 504,
  callsMissed: false,
  limited: 0,
  isAcknowledged: false,
  errorCode: undefined,
  error: undefined,
  failingSince: undefined,
  createdAt: new Date(),
  endedAt: undefined,
  attendedAt: undefined,
  idleMs: 0,
  isBound: false,
  planId: undefined,
};

function look(atMs: number, run: Partial<Run> = {}, left: Partial<RowsLeft> = {}, key: Partial<KeyNow> = {}): Look {
  const now = { blockedForMs: 0, learntPerSecond: undefined, ...key };
  return { atMs, run: { ...RUN, ...run }, left: { planned: 2_000, toSend: 0, toSettle: 0, ...left }, key: now };
}

function lineOf(seen: readonly Look[], allowedPerSecond: number, columns?: number): string | undefined {
  const looks = seen.reduce(withLook, [] as readonly Look[]);
  return progressLine(looks, allowedPerSecond, columns);
}

const CASES: readonly (readonly [string, readonly Look[], string])[] = [
  ['reading', [look(0, { phase: 'scan-contacts', calls: 3 })], 'reading contacts · 2,000 rows'],
  [
    'watching a folder',
    [look(0, { type: 'orders', options: { folder: '/in' }, phase: 'watch-orders', calls: 0 })],
    'watching the folder',
  ],
  [
    'sending',
    [look(0, { calls: 104 }), look(1_000, {}, { toSend: 1_500 })],
    'sending · 500 of 2,000 sent · 400 calls/s (100% of the budget) · about 4 s left',
  ],
  [
    'sending, with rows whose outcome is unknown',
    [
      look(9_000, {}, { toSend: 1_500, toSettle: 1_500 }),
      look(10_000, { calls: 604 }, { toSend: 1_400, toSettle: 1_500 }),
    ],
    'sending · 600 of 2,000 sent · 100 calls/s (25% of the budget) · about 14 s left',
  ],
  [
    'creating customers for a load',
    [
      look(0, { id: 'load', phase: 'load-orders' }),
      look(9, { partOf: 'load', calls: 104 }),
      look(1_009, { partOf: 'load' }, { toSend: 1_500 }),
    ],
    'customers: sending · 500 of 2,000 sent · 400 calls/s (100% of the budget) · about 4 s left',
  ],
  [
    'checking',
    [{ ...look(0, { phase: 'settle-customers' }, { toSettle: 9 }), settleMs: 60_000 }],
    'reading back what was sent · 9 to settle, at most 2 min after the last call',
  ],
  [
    'while its calls fail',
    [look(0, { phase: 'scan-contacts', failingSince: new Date(), notes: ['old', 'the connection was refused'] })],
    'reading contacts · 2,000 rows · the connection was refused',
  ],
  [
    'slowed down by the service',
    [look(0, { calls: 104 }), look(1_000, { limited: 300 }, { toSend: 1_500 })],
    'sending · 500 of 2,000 sent · 400 calls/s (100% of the budget) · about 15 s left · the service said "slow down"',
  ],
  [
    'slow since the service said "slow down"',
    [look(0, { calls: 404 }), look(1_000, {}, { toSend: 1_500 }, { learntPerSecond: 101 })],
    'sending · 500 of 2,000 sent · 100 calls/s (25% of the budget) · about 15 s left · slowed down by the service to 101 calls/s',
  ],
  [
    'refused by the rate limit with every call',
    [look(0, { calls: 503 }), look(1_000, { limited: 1 }, { toSend: 1_500 })],
    'sending · 500 of 2,000 sent · 1.0 calls/s (<1% of the budget) · the service said "slow down"',
  ],
  [
    'blocked for long',
    [look(0, { calls: 502 }), look(1_000, {}, { toSend: 1_500 }, { blockedForMs: 14.2 * 60_000 })],
    'sending · 500 of 2,000 sent · 2.0 calls/s (<1% of the budget) · waiting 15 min for the rate limit',
  ],
  [
    'done with an earlier note',
    [look(0, { phase: 'scan-contacts', notes: ['waited'] })],
    'reading contacts · 2,000 rows',
  ],
];

test.each(CASES)('shows a run that is %s in one line', (_, looks, line) => {
  expect(lineOf(looks, 400)).toBe(line);
});

test('on a terminal, names the customers that a load creates, once', () => {
  const looks = [look(0, { partOf: 'load', calls: 104 }), look(1_000, { partOf: 'load' }, { toSend: 1_500 })];
  expect(lineOf(looks, 400, 80)).toBe('customers: ██░░░░░░░░  25% · 500 of 2,000 sent · 400 calls/s · about 4 s left');
  expect(lineOf(looks, 400, 120)).toContain('customers: █████░░░░░░░░░░░░░░░  25% · sending · 500');
});

test('on a terminal of 80 columns shows the rate and the time left of a long load too', () => {
  const load = (sent: number, planned: number) =>
    lineOf([look(0, { calls: 484 }), look(1_000, {}, { planned, toSend: planned - sent })], 20, 80);
  expect(load(500, 2_000)).toBe('██░░░░░░░░  25% · 500 of 2,000 sent · 20 calls/s · about 1 min 15 s left');
  expect(load(123_456, 1_000_000)).toBe('█░░░░░░░░░  12% · 20 calls/s · about 12 h 10 min left');
});

test('expects no more calls a second for what is left than the budget allows', () => {
  const burst = [look(0, { calls: 464 }), look(1_000, {}, { toSend: 1_500 })];
  expect(lineOf(burst, 20)).toContain('40 calls/s (with the burst of the budget) · about 1 min 15 s left');
});

test('on a terminal of 80 columns shows a bar, the rate and the time left', () => {
  const looks = [look(0, { calls: 104 }), look(1_000, {}, { toSend: 1_500 })];
  const line = lineOf(looks, 400, 80);
  expect(line).toBe('█████░░░░░░░░░░░░░░░  25% · 500 of 2,000 sent · 400 calls/s · about 4 s left');
  expect(lineOf(looks, 400, 40)).toBe('█████░░░░░░░░░░░░░░░  25% · 500 of 2,000 sent · about 4 s left');
  expect(lineOf(looks, 400, 120)).toContain('sending · 500 of 2,000 sent · 400 calls/s (100% of the budget)');
});
