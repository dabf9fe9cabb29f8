import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stopOf } from '../../../src/client/budget/hints.ts';
import { rateHintOf } from '../../../src/client/call/rate-headers.ts';
import { rateLimiter } from '../../../src/service/rate-limit.ts';
import { startHttpServer } from '../../support/http-server.ts';
import { openWithBudget } from './support.ts';

const NOW_MS = Date.UTC(2026, 0, 2, 3, 4, 5);
const hintIn = (headers: Record<string, string | string[]>) => rateHintOf({ headers, arrivedAtMs: NOW_MS });

test.each<[Record<string, string | string[]>, object | undefined]>([
  [{}, undefined],
  [
    { 'ratelimit-limit': '100', 'ratelimit-remaining': '50', 'ratelimit-reset': '30' },
    { remaining: 50, resetMs: 30_000 },
  ],
  [
    { 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOW_MS / 1000 + 90) },
    { remaining: 0, resetMs: 90_000 },
  ],
  [
    { 'x-rate-limit-remaining': '7', 'x-rate-limit-reset': String(NOW_MS + 1500) },
    { remaining: 7, resetMs: 1500 },
  ],
  [{ ratelimit: 'limit=100, remaining=50, reset=30' }, { remaining: 50, resetMs: 30_000 }],
  [{ ratelimit: '"default";r=50;t=30' }, { remaining: 50, resetMs: 30_000 }],
  [{ ratelimit: '"minute, burst";r=50;t=30, "day";r=0;t=600' }, { remaining: 0, resetMs: 600_000 }],
  [{ ratelimit: ['"a";r=50;t=30', '"b";r=5;t=30'] }, { remaining: 5, resetMs: 30_000 }],
  [{ 'ratelimit-policy': '"default";q=100;w=60' }, { limit: 100, windowMs: 60_000 }],
  [{ 'ratelimit-policy': '100;w=60, 10;w=1, 5000;w=86400' }, { limit: 100, windowMs: 60_000 }],
  [{ 'ratelimit-limit': '100, 100;w=60' }, { limit: 100, windowMs: 60_000 }],
  [
    { ratelimit: '"x";r=1;t=9', 'ratelimit-policy': '"x";q=10;w=10;qu="requests"' },
    { remaining: 1, resetMs: 9000, limit: 10, windowMs: 10_000 },
  ],
])('the headers %j say %j', (headers, hint) => {
  expect(hintIn(headers)).toEqual(hint);
});

test.each<Record<string, string>>([
  { 'ratelimit-remaining': '-1', 'ratelimit-reset': '30' },
  { 'ratelimit-remaining': 'many', 'ratelimit-reset': '30' },
  { 'ratelimit-remaining': '5' },
  { 'ratelimit-remaining': '5', 'ratelimit-reset': 'soon' },
  { 'ratelimit-remaining': '1e9', 'ratelimit-reset': '9' },
  { ratelimit: '"default' },
  { 'ratelimit-policy': '0;w=60' },
  { 'ratelimit-policy': '100;w=0' },
])('ignores malformed headers: %j', (headers) => {
  expect(hintIn(headers)).toBeUndefined();
});

test('an absurd reset is capped at 15 minutes, and one in the past is ignored', () => {
  const resetOf = (reset: string) => hintIn({ 'ratelimit-remaining': '0', 'ratelimit-reset': reset })?.resetMs;
  expect([resetOf('999999'), resetOf('99999999999'), resetOf('1000000001')]).toEqual([900_000, 900_000, 0]);
});

test('an epoch reset is measured against the service’s own clock', () => {
  const date = new Date(NOW_MS - 3600_000).toUTCString();
  const reset = String(NOW_MS / 1000 - 3600 + 20);
  expect(hintIn({ date, 'ratelimit-remaining': '4', 'ratelimit-reset': reset })?.resetMs).toBe(20_000);
});

test('any text in a header is accepted or ignored', () => {
  const names = [
    'ratelimit',
    'ratelimit-policy',
    'ratelimit-limit',
    'x-ratelimit-remaining',
    'x-ratelimit-reset',
    'date',
  ];
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...names), fc.string({ maxLength: 60 })), (headers) => {
      const { remaining = 0, resetMs = 0 } = hintIn(headers) ?? {};
      expect(remaining >= 0 && resetMs >= 0 && resetMs <= 900_000).toBe(true);
    }),
  );
});

test.each([10, 200])('headers of a token bucket of %d/s, which refills continuously, ask for no stop', (rate) => {
  const admit = rateLimiter({ requestsPerSecond: rate, burst: rate, retryAfter: 'seconds' }, true);
  for (let call = 0; call < 5 * rate; call++) {
    const hint = hintIn(admit(1, (call * 1000) / rate / 1.01).headers);
    expect(hint && stopOf(hint)).toBeUndefined();
    expect(hint?.resetMs ?? 0).toBeLessThanOrEqual(1000);
  }
});

test('passes every answer’s headers, and every success, to the budget', async () => {
  const headers = { 'ratelimit-remaining': '3', 'ratelimit-reset': '9' };
  const replies = [{ headers, body: [] }, { status: 422, headers }, { status: 429, headers }, { body: [] }];
  const server = await startHttpServer(() => replies.shift() ?? {});
  const { client, budget } = openWithBudget(server);
  for (let n = 0; n < 3; n++) await client.call('orders.getall', { lane: 'batch' });
  await client.stream('orders.getall', { lane: 'batch', onRecords: async () => undefined });
  expect(budget.hints).toEqual(Array(3).fill({ remaining: 3, resetMs: 9000 }));
  expect([budget.successes(), budget.open()]).toEqual([2, 0]);
});
