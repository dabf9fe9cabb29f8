/** Sends a test message through a channel, for the command line and the console. */
import { randomBytes } from 'node:crypto';
import { LockstepError } from '../../base/errors.ts';
import type { DeliveryOutcome } from '../../contract/target.ts';
import type { ChannelSettings } from '../../settings/schema-alert.ts';
import type { ChannelNeeds } from './channels/channel.ts';
import { openChannel } from './channels/open-channel.ts';
import { testMessage } from './message.ts';

export interface TestedChannel {
  readonly isSent: boolean;
  /** A code, if it was not sent and there is one. */
  readonly reason: string | null;
  readonly detail: string | null;
}

/** Sends it once, whatever the events and syncs of the channel are, and waits for the result. */
export async function testChannel(
  channel: ChannelSettings,
  { readSecret }: ChannelNeeds,
  signal: AbortSignal,
): Promise<TestedChannel> {
  const outcome = await send(channel, { readSecret }, signal);
  return {
    isSent: outcome.status === 'delivered',
    reason: 'reason' in outcome ? outcome.reason : null,
    detail: ('detail' in outcome ? outcome.detail : undefined) ?? null,
  };
}

async function send(channel: ChannelSettings, needs: ChannelNeeds, signal: AbortSignal): Promise<DeliveryOutcome> {
  try {
    const opened = await openChannel(channel, needs);
    const now = new Date();
    const id = `msg_${randomBytes(18).toString('base64url')}`;
    try {
      return await opened.send({ id, sequence: 0, seenAt: now, message: testMessage(now) }, { signal });
    } finally {
      await opened.close();
    }
  } catch (error) {
    if (!(error instanceof LockstepError)) throw error;
    return { status: 'refused', reason: error.code, detail: error.message };
  }
}
