import type { Delivery, DeliveryOutcome, TaskState } from '../../../src/contract/target.ts';
import { type CallerConfig, openCaller } from '../../../src/mirror/targets/calls/caller.ts';
import { openWebhook } from '../../../src/mirror/targets/webhook/webhook.ts';
import { hiddenUrl } from '../../../src/settings/hidden.ts';
import type { SettingsOf } from '../../../src/settings/schema-target.ts';
import { readSecret } from '../../../src/settings/secrets.ts';
import { closedAfterEach } from '../../support/closed-after-each.ts';
import { freeBudget } from '../../support/free-budget.ts';
import { type Reply, startHttpServer } from '../../support/http-server.ts';

export const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
export const OLD_SECRET = 'an old secret, of more than 24 bytes';

export const task: TaskState = {
  kind: 'task',
  id: '12',
  title: 'Call Zoë 📞',
  description: '<p>today</p>',
  status: 'completed',
  isCompleted: true,
  isGone: false,
  startDate: '2026-03-01T09:00:00',
  endDate: undefined,
  parentId: undefined,
};
export const delivery: Delivery = {
  id: 'msg_5f2b',
  account: 'demo',
  sequence: 3,
  event: 'completed',
  seenAt: new Date('2026-03-01T12:00:00.500Z'),
  task,
  itemId: undefined,
};

export interface Opening extends Partial<SettingsOf<'webhook'>> {
  readonly env?: Record<string, string>;
  readonly take?: CallerConfig['take'];
}

export const previousSecret = { from: 'env', name: 'OLD_SECRET', where: 'targets.hook.previousSecret' } as const;
export const context = () => ({ signal: new AbortController().signal });

/** For the file that calls it: closes what it opened after each test. */
export function webhookTargets() {
  const track = closedAfterEach();

  async function openTarget(url: string, { env = { SECRET, OLD_SECRET }, take, ...given }: Opening = {}) {
    const settings: SettingsOf<'webhook'> = {
      name: 'hook',
      type: 'webhook',
      url: hiddenUrl(url),
      secret: { from: 'env', name: 'SECRET', where: 'targets.hook.secret' },
      format: 'standard',
      headers: {},
      fields: {},
      budget: { requests: 10, perMs: 1_000, burst: 10, concurrency: 8 },
      timeoutMs: 5_000,
      allowPrivate: true,
      ...given,
    };
    const free = freeBudget();
    const caller = openCaller({
      ...settings,
      baseUrl: url,
      take: take ?? ((signal) => free.take({ lane: 'batch', signal })),
    });
    return track(
      await openWebhook(settings, { caller, readSecret: (ref) => readSecret(ref, env), now: () => new Date() }),
    );
  }

  async function deliverTo(url: string, opening?: Opening): Promise<DeliveryOutcome> {
    return (await openTarget(url, opening)).deliver(delivery, context());
  }

  async function outcomeOf(reply: Reply): Promise<DeliveryOutcome> {
    return deliverTo(track(await startHttpServer(reply)).url);
  }

  return { track, openTarget, deliverTo, outcomeOf };
}
