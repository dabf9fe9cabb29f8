/** Settings that a running workspace takes over. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { change, queue } from '../mirror/outbox/delivery-worlds.ts';
import { settingsOf } from '../settings/problems-in.ts';
import { freshDatabase } from '../support/database.ts';
import { testWorkspace } from '../support/harness/test-workspace.ts';
import { startWebhookReceiver } from '../support/webhook-receiver.ts';

const SECRET = 'a-signing-secret-of-the-tests';

async function receiver() {
  const started = await startWebhookReceiver(SECRET);
  onTestFinished(() => started.close());
  return started;
}

const settingsFor = (hook: string): string => `
accounts: { demo: {} }
targets: { hook: { type: webhook, url: "${hook}", secret: { env: SIGNING }, allowPrivate: true } }
`;

test('deliveries go to the new address of a target, and none is lost between', async () => {
  const [before, after, database] = [await receiver(), await receiver(), await freshDatabase()];
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-test-'));
  onTestFinished(async () => {
    await database.close();
    await rm(dataDir, { recursive: true });
  });
  const text = settingsFor(before.hook);
  const workspace = await testWorkspace({ text, dataDir, database, env: { SIGNING: SECRET } });
  onTestFinished(() => workspace.close());
  await workspace.deliver(['hook']);
  await queue(database, [change(1)]);
  await expect.poll(() => before.events.length).toBe(1);

  const { targets } = await workspace.takeOver(settingsOf(settingsFor(after.hook)));
  expect(targets.changed).toEqual(['hook']);
  await queue(database, [change(2)]);
  await workspace.deliver(['hook']);
  await expect.poll(() => after.events.length).toBe(1);
  expect([before.events.length, before.problems, after.problems]).toEqual([1, [], []]);
});
