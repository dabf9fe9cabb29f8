/** Sends a test message through a channel, for the command line and the console. */
import { randomBytes } from 'node:crypto';
import type { ChannelSettings } from '../../settings/schema-alert.ts';
import { type Tested, tested } from '../target-check.ts';
import type { ChannelNeeds } from './channels/channel.ts';
import { openChannel } from './channels/open-channel.ts';
import { testMessage } from './message.ts';

/** Sends it once, whatever the events and syncs of the channel are, and waits for the result. */
export function testChannel(channel: ChannelSettings, needs: ChannelNeeds, signal: AbortSignal): Promise<Tested> {
  return tested(async () => {
    const opened = await openChannel(channel, needs);
    const now = new Date();
    const id = `msg_${randomBytes(18).toString('base64url')}`;
    try {
      return await opened.send({ id, sequence: 0, seenAt: now, message: testMessage(now) }, { signal });
    } finally {
      await opened.close();
    }
  });
}
