import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { rateLimiter } from '../../src/service/rate-limit.ts';
import { recordTraffic } from '../support/traffic.ts';
import { startedService } from './started-service.ts';

const at = await startedService();
afterAll(() => at.close());

const GAPS_MS = [0, 0, 1, 2, 400, 499, 500, 501, 599, 998, 999, 1_000, 1_001, 1_499, 1_999, 2_000, 2_001];

describe('the traffic record', () => {
  test('knows the most arrivals in any 1,000 ms, whatever the gaps', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...GAPS_MS), { minLength: 1, maxLength: 40 }), (gaps) => {
        const traffic = recordTraffic();
        let now = 10_000;
        const times = gaps.map((gap) => {
          now += gap;
          return now;
        });
        for (const time of times) traffic.arrived(1, 'orders.create', time + 0.25);
        const worst = Math.max(
          ...times.map((from) => times.filter((time) => time >= from && time < from + 1_000).length),
        );
        expect(traffic.worstSecond()).toBe(worst);
      }),
    );
  });

  test('counts by tenant and by operation, and can be reset', async () => {
    const { traffic } = at.service;
    traffic.reset();
    await at.call('orders.getall');
    await at.call('orders.getall', { prefix: '/v1' });
    await at.call('tasks.getall', { key: 'stranger' });
    const { total, byOperation, worstSecond } = traffic.counts(at.tenantId);
    expect({ total, worstSecond, byOperation: [...byOperation] }).toEqual({
      total: 2,
      worstSecond: 2,
      byOperation: [['orders.getall', 2]],
    });
    expect([traffic.total(), traffic.total('tasks.getall'), traffic.unauthorized()]).toEqual([2, 0, 1]);
    traffic.reset();
    expect(traffic.counts()).toMatchObject({ total: 0, worstSecond: 0, firstAtMs: undefined, lastAtMs: undefined });
  });
});

describe('a rate limit', () => {
  const limit = { requestsPerSecond: 10, burst: 3, retryAfter: 'seconds' as const };

  test('allows the burst, then one request for each token, for each key by itself', () => {
    const take = rateLimiter(limit, false);
    const allowed = (key: number, times: number[]) => times.map((time) => take(key, time).allowed);
    expect(allowed(1, [0, 0, 0, 0])).toEqual([true, true, true, false]);
    expect(allowed(1, [99, 100, 100, 200, 250])).toEqual([false, true, false, true, false]);
    expect(allowed(2, [250])).toEqual([true]);
    expect(allowed(1, [10_000, 10_000, 10_000, 10_000])).toEqual([true, true, true, false]);
  });

  test.each([
    ['seconds', { 'retry-after': '2' }],
    ['date', { 'retry-after': 'Thu, 01 Jan 1970 00:01:42 GMT' }],
    ['none', {}],
  ] as const)('says when to come back as %s', (retryAfter, headers) => {
    const take = rateLimiter({ requestsPerSecond: 0.5, burst: 1, retryAfter }, false, () => 100_000);
    take(1, 0);
    expect(take(1, 0)).toEqual({ allowed: false, headers });
  });

  test('answers 429 in an envelope, counts it, and shows what is left', async () => {
    const other = await at.another({ rateLimit: { requestsPerSecond: 0.01, burst: 2 }, rateLimitHeaders: true });
    const answers = [
      await other.call('tasks.getall'),
      await other.call('tasks.getall'),
      await other.call('tasks.getall'),
    ];
    expect(answers.map(({ status, headers }) => [status, headers['ratelimit-remaining']])).toEqual([
      [200, '1'],
      [200, '0'],
      [429, '0'],
    ]);
    expect(answers[2]?.json).toMatchObject({ status: 'error', content: null });
    expect(Number(answers[2]?.headers['retry-after'])).toBeGreaterThan(90);
    expect([other.service.traffic.limited(), other.service.traffic.total()]).toEqual([1, 3]);
  });
});
