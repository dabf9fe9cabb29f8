/**
 * Looks for changes of problems again and again, and sends the messages about them. Several processes may do so: one at a time
 * compares, and each message is sent by one of them.
 */
import type pg from 'pg';
import type { Logger } from 'pino';
import { type Repeated, repeat } from '../../base/repeat.ts';
import { type DeliveringNeeds, startDelivering } from '../../mirror/outbox/delivering.ts';
import type { ChannelSettings } from '../../settings/schema-alert.ts';
import { inTransaction } from '../../storage/transaction.ts';
import { asTarget, type ChannelNeeds, outboxName } from './channels/channel.ts';
import { openChannel } from './channels/open-channel.ts';
import type { Complete } from './message.ts';
import type { Problem } from './problem.ts';
import { reportChanges } from './report-changes.ts';

const LOOK_MS = 2_000;
/** The share of its time that a process spends on comparing, at most. */
const MOST_SHARE = 0.05;

export interface AlertingNeeds extends ChannelNeeds, Pick<DeliveringNeeds, 'worker' | 'onAttempt'> {
  readonly pool: pg.Pool;
  readonly channels: Readonly<Record<string, ChannelSettings>>;
  readonly findProblems: () => Promise<readonly Problem[]>;
  readonly complete: Complete;
  /** The address at which people open the console. */
  readonly consoleUrl?: string | undefined;
  readonly log: Logger;
}

/** Without channels it does nothing. */
export function startAlerting(needs: AlertingNeeds): Repeated {
  const { channels, log } = needs;
  const byName = new Map(Object.values(channels).map((channel) => [outboxName(channel.name), channel]));
  if (byName.size === 0) return { close: async () => undefined };
  const delivering = startDelivering({
    ...needs,
    names: [...byName.keys()],
    targets: {
      async open(name) {
        const channel = byName.get(name);
        if (channel === undefined) throw new Error('unreachable: only these names are opened');
        return asTarget(await openChannel(channel, needs));
      },
      concurrencyOf: () => 1,
    },
  });

  const looking = repeat(() => lookOnce(needs), {
    pauseMs: (tookMs) => Math.max(LOOK_MS, tookMs / MOST_SHARE),
    failed: (error) => log.warn({ err: error }, 'alerts could not be compared'),
  });
  return {
    async close() {
      await Promise.all([looking.close(), delivering.close()]);
    },
  };
}

/** Reports what has changed, unless another process does so now. */
export async function lookOnce({
  pool,
  channels,
  findProblems,
  complete,
  consoleUrl,
}: Pick<AlertingNeeds, 'pool' | 'channels' | 'findProblems' | 'complete' | 'consoleUrl'>): Promise<void> {
  await inTransaction(pool, async (db) => {
    const locked = await db.query<{ mine: boolean }>(
      `select pg_try_advisory_xact_lock(hashtextextended('ledger.alerts', 0)) as mine`,
    );
    if (locked.rows[0]?.mine !== true) return;
    await reportChanges(db, await findProblems(), { channels, complete, consoleUrl });
  });
}
