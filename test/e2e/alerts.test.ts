/** Alerts of real processes: the first is killed while it sends. */
import { copyFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { disableTarget } from '../../src/mirror/outbox/target-states.ts';
import { startHttpServer } from '../support/http-server.ts';
import { MAIL_USER, startMailServer } from '../support/mail-server.ts';
import { startLockstep } from './cli-process.ts';
import { openCommandHarness } from './commands.ts';

test('a process that is killed while it sends an alert loses none, and the next one sends it under the same id', async () => {
  let answersNothing = true;
  const receiver = await startHttpServer(() => (answersNothing ? new Promise(() => undefined) : { status: 204 }));
  const mail = await startMailServer();
  const harness = await openCommandHarness({
    targets: { hook: 'type: webhook, url: "https://hook.invalid/", secret: { env: SIGNING }' },
    alerts: {
      calls: `type: webhook, url: "${receiver.url}", secret: { env: SIGNING }, allowPrivate: true`,
      mail: `type: email, host: 127.0.0.1, port: ${mail.port}, security: none, user: ${MAIL_USER.user}, password: { env: MAIL },
        from: lockstep@example.com, to: [ops@example.com], allowPrivate: true`,
    },
    env: { SIGNING: 'x'.repeat(32), MAIL: MAIL_USER.password },
  });
  onTestFinished(async () => {
    await Promise.all([receiver.close(), mail.close()]);
    await harness.close();
  });
  await disableTarget(harness.database.pool, 'hook', { reason: 'GONE', detail: 'it answered 410', now: undefined });

  await mkdir(path.join(harness.dataDir, 'config'));
  await copyFile(path.join(harness.dataDir, 'lockstep.yaml'), path.join(harness.dataDir, 'config/lockstep.yaml'));
  const first = startLockstep(['start', '--roles', 'worker', '--json'], harness.around);
  await expect.poll(() => receiver.requests.length).toBe(1);
  first.signal('SIGKILL');
  await first.ended;
  answersNothing = false;
  const second = harness.start('start', '--roles', 'worker');
  await expect.poll(() => receiver.requests.length).toBe(2);
  const [before, after] = receiver.requests;
  expect(after?.headers['webhook-id']).toBe(before?.headers['webhook-id']);
  expect(JSON.parse(after?.body ?? '')).toMatchObject({
    type: 'alert.opened',
    data: {
      alert: {
        event: 'target-disabled',
        title: 'target hook: disabled',
        text: 'Target hook: disabled: it answered 410.',
        command: expect.stringMatching(/^lockstep deliveries enable hook --config \/.+\/config\/lockstep\.yaml$/),
      },
    },
  });
  const mailIds = () => new Set(mail.mails.map((text) => /^Message-ID: (.*)/m.exec(text)?.[1]));
  await expect.poll(() => mailIds().size).toBe(1);
  second.signal('SIGTERM');
  expect((await second.ended).code).toBe(0);
});
