/** A command whose environment names another store of the rate budgets than the processes that run have. */
import { expect, onTestFinished, test } from 'vitest';
import { describeWithRedis } from '../support/redis.ts';
import { commandsIn, openCommandHarness } from './commands.ts';

describeWithRedis('a command with a REDIS_URL', ({ url }) => {
  test('calls nothing while a process without it works on the same ledger', async () => {
    const harness = await openCommandHarness();
    onTestFinished(() => harness.close());
    const { around, front } = harness;
    const { here } = commandsIn({ ...around, env: { ...around.env, REDIS_URL: url } });
    const { code, json } = await here('run', 'contacts');
    expect([code, json]).toMatchObject([2, { error: { code: 'BUDGET_STORES' } }]);
    expect(front.requests).toEqual([]);
    expect(await harness.run('run', 'contacts')).toMatchObject({ code: 0 });
  });
});
