/** A process that was killed during its call to a target no longer takes part in the budget of the target. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { thisHolder, thisWorker } from '../../../src/base/process-identity.ts';
import { createBudget } from '../../../src/client/budget/key-budget.ts';
import { openPostgresStore } from '../../../src/client/budget/postgres-store.ts';
import { keptSecretsOf } from '../../../src/mirror/inbound/ledger-secrets.ts';
import { openTargets } from '../../../src/mirror/targets/open-targets.ts';
import { freshLedger } from '../../engine/ledger/fresh-ledger.ts';
import { startGithubPlaces } from '../../support/admin-standins.ts';
import { githubSettings } from '../../support/github-standin.ts';
import { context, fakeLog, needsOf } from '../../support/item-vendor.ts';

test('the only call that a target allows at once is free again as soon as the process that made it is gone', async () => {
  const database = await freshLedger();
  const vendor = await startGithubPlaces();
  const store = await openPostgresStore({ pool: database.pool });
  const outside = githubSettings({ url: vendor.url, allowPrivate: true });
  const unused = () => {
    throw new Error('a GitHub target needs it for its tasks only');
  };
  const targets = openTargets({
    settings: { outside },
    store,
    holder: thisHolder,
    readSecret: needsOf(vendor).readSecret,
    accounts: { use: unused },
    readTask: unused,
    creationsOf: fakeLog,
    keptOf: (target) => keptSecretsOf(database.pool, target),
  });
  const killed = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  await once(killed, 'spawn');
  const name = JSON.stringify({ ...thisWorker('killed'), pid: killed.pid, started: '' });
  const limits = { ratePerSecond: 1, burst: 1, concurrency: 1 };
  const held = createBudget({ key: 'target:outside', limits, store, process: { name, isGone: () => false } });
  onTestFinished(async () => {
    await held.close();
    await targets.close();
    await vendor.close();
    await database.close();
  });
  await held.take({ lane: 'batch', signal: context().signal, maxWaitMs: 10_000 });
  killed.kill('SIGKILL');
  await once(killed, 'close');
  const target = await targets.open('outside');
  const { hooks } = target;
  if (hooks === undefined || 'byHand' in hooks) throw new Error('GitHub has an API for its hooks');
  expect(await hooks.list(context())).toMatchObject({ status: 'ok' });
  await target.close();
});
