import { expect, test, vi } from 'vitest';
import { createBudget } from '../../../src/client/budget/key-budget.ts';
import { rateHintOf } from '../../../src/client/call/rate-headers.ts';
import { rateLimiter } from '../../../src/service/rate-limit.ts';
import { useFakeClock } from './fake-clock.ts';
import { SimulatedStore } from './simulated-store.ts';

useFakeClock();

test.each([10, 200])(
  'uses 97%% of a service of %d/s that announces its rate in headers, without extra store calls',
  async (rate) => {
    const admit = rateLimiter({ requestsPerSecond: rate, burst: rate, retryAfter: 'seconds' }, true);
    const store = new SimulatedStore();
    const budget = createBudget({
      key: 'demo',
      limits: { ratePerSecond: rate, burst: rate, concurrency: 16 },
      store,
    });
    let allowed = 0;
    const work = async () => {
      for (;;) {
        const taken = await budget.take({ lane: 'batch' });
        if (taken.status !== 'taken') continue;
        const answer = admit(1, performance.now());
        if (answer.allowed) allowed++;
        const hint = rateHintOf({ headers: answer.headers, arrivedAtMs: Date.now() });
        if (hint) void taken.permit.hinted(hint);
        await new Promise((resolve) => setTimeout(resolve, 20));
        taken.permit.release();
      }
    };
    for (let worker = 0; worker < 8; worker++) void work().catch(() => undefined);
    await vi.advanceTimersByTimeAsync(30_000);
    const [storeCalls, used] = [store.calls, budget.stats().used];
    const closing = budget.close();
    await vi.advanceTimersByTimeAsync(5_000);
    await closing;
    expect(allowed).toBeGreaterThanOrEqual(0.97 * 30 * rate);
    expect(storeCalls).toBeLessThanOrEqual(used + 10);
  },
);
