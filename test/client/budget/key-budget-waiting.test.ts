import { expect, test, vi } from 'vitest';
import { callers, LIMITS, openBudget, permit, useFakeClock } from './fake-clock.ts';

useFakeClock();

test('a caller whose turn is too late learns at once when to come back, and keeps no token', async () => {
  const { budget, store } = openBudget();
  callers(budget, 30);
  await vi.advanceTimersByTimeAsync(50);
  const asked = store.requests.length;
  const answer = budget.take({ lane: 'batch', maxWaitMs: 10 });
  await vi.advanceTimersByTimeAsync(1);
  const taken = await answer;
  expect(taken).toMatchObject({ status: 'wait' });
  expect(taken.status === 'wait' && taken.retryAfterMs).toBeGreaterThan(10);
  expect(store.requests).toHaveLength(asked);
  await vi.advanceTimersByTimeAsync(1000);
  expect(budget.stats()).toMatchObject({ used: 30 });
});

test('a caller without patience takes a free token, or else learns when to come back', async () => {
  const { budget, store } = openBudget();
  store.latencyMs = 30;
  const taking = [1, 2, 3].map(() => budget.take({ lane: 'batch', maxWaitMs: 0 }));
  await vi.advanceTimersByTimeAsync(40);
  const [first, second, third] = await Promise.all(taking);
  expect([first?.status, second?.status]).toEqual(['taken', 'taken']); // the burst
  expect(third?.status === 'wait' && third.retryAfterMs).toBeLessThanOrEqual(10);
  expect(store.requests).toHaveLength(1);
});

test('turns away a caller whose patience ends while its process has all its calls in flight', async () => {
  const { budget } = openBudget({ limits: { ...LIMITS, concurrency: 1 } });
  await permit(budget);
  const second = budget.take({ lane: 'batch', maxWaitMs: 50 });
  await vi.advanceTimersByTimeAsync(52);
  expect(await second).toEqual({ status: 'wait', retryAfterMs: 100 });
});

test('an aborted caller leaves with the reason, and its token goes to the next caller', async () => {
  const { budget } = openBudget();
  callers(budget, 10);
  const stop = new AbortController();
  const aborted = budget.take({ lane: 'batch', signal: stop.signal });
  const served = callers(budget, 1);
  stop.abort(new Error('the run was cancelled'));
  await expect(aborted).rejects.toThrow('the run was cancelled');
  await vi.advanceTimersByTimeAsync(200);
  expect(served).toHaveLength(1);
  expect(budget.stats().used).toBe(11);
  await expect(budget.take({ lane: 'batch', signal: stop.signal })).rejects.toThrow('the run was cancelled');
});

test('an unreachable store fails every caller with the remedy', async () => {
  const { budget, store } = openBudget();
  store.away = new Error('connect ECONNREFUSED 127.0.0.1:6379');
  const taking = Promise.allSettled([budget.take({ lane: 'batch' }), budget.take({ lane: 'interactive' })]);
  await vi.advanceTimersByTimeAsync(1);
  for (const outcome of await taking) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'BUDGET_STORE_AWAY' } });
    expect(String(outcome.status === 'rejected' && outcome.reason)).toMatch(/simulated store.*ECONNREFUSED.*Remedy/);
  }
  store.away = undefined;
  const served = callers(budget, 1);
  await vi.advanceTimersByTimeAsync(1);
  expect(served).toHaveLength(1);
});

test('a store that does not answer counts as unreachable, and a token it grants later is not used', async () => {
  const { budget, store } = openBudget({ storeTimeoutMs: 500 });
  store.isSilent = true;
  const taking = expect(budget.take({ lane: 'batch' })).rejects.toMatchObject({ code: 'BUDGET_STORE_AWAY' });
  await vi.advanceTimersByTimeAsync(501);
  await taking;
  expect(vi.getTimerCount()).toBe(0);
});

test('a 429 stops this process at once for the time the service gave', async () => {
  const { budget } = openBudget();
  const refused = await permit(budget);
  const served = callers(budget, 50);
  await vi.advanceTimersByTimeAsync(100);
  void refused.limited(2000);
  const before = served.length;
  await vi.advanceTimersByTimeAsync(1990);
  expect(served).toHaveLength(before);
  const impatient = budget.take({ lane: 'interactive', maxWaitMs: 5 });
  await vi.advanceTimersByTimeAsync(1);
  expect(await impatient).toEqual({ status: 'wait', retryAfterMs: 10 });
  await vi.advanceTimersByTimeAsync(100);
  expect(served.length).toBeGreaterThan(before);
  expect(budget.stats().limited).toBe(1);
});

test('a 429 in one process stops the others within 250 ms, whatever they have leased', async () => {
  const { budget: one, store } = openBudget();
  const { budget: other } = openBudget({ store });
  const refused = await permit(one);
  const served = callers(other, 80, { lane: 'interactive' });
  await vi.advanceTimersByTimeAsync(100);
  void refused.limited(5000);
  await vi.advanceTimersByTimeAsync(250);
  const before = served.length;
  await vi.advanceTimersByTimeAsync(4600);
  expect(served).toHaveLength(before);
  expect(before).toBeLessThan(80);
});

test('an idle budget holds no timer; a closed budget fails waiting and new callers', async () => {
  const { budget } = openBudget();
  const served = callers(budget, 3);
  await vi.advanceTimersByTimeAsync(500);
  expect(served).toHaveLength(3);
  expect(vi.getTimerCount()).toBe(0);
  callers(budget, 30);
  const waiting = expect(budget.take({ lane: 'batch' })).rejects.toMatchObject({ code: 'BUDGET_CLOSED' });
  await budget.close();
  await budget.close();
  await waiting;
  await expect(budget.take({ lane: 'batch' })).rejects.toMatchObject({ code: 'BUDGET_CLOSED' });
});

test.each([0, 1.5, -1, 22, Number.NaN])('refuses a cost of %d, because no burst allows it', async (cost) => {
  const { budget } = openBudget();
  await expect(budget.take({ lane: 'batch', cost })).rejects.toMatchObject({ code: 'BUDGET_COST' });
});
