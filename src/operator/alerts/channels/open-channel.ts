/** Opens the channels of the settings. */
import type { Permit } from '../../../client/budget/budget.ts';
import { openCaller } from '../../../mirror/targets/calls/caller.ts';
import { callerAtSecret } from '../../../mirror/targets/calls/secret-url.ts';
import { chatPoster } from '../../../mirror/targets/chat/chat.ts';
import { simpleMessage } from '../../../mirror/targets/chat/slack.ts';
import { openPoster } from '../../../mirror/targets/webhook/webhook.ts';
import type { ChannelSettings } from '../../../settings/schema-alert.ts';
import { bodyLines, subjectLine } from '../message.ts';
import { type Alert, type Channel, type ChannelNeeds, outboxName } from './channel.ts';

/** The caller that opens a channel closes it. Rejects if it cannot be used, for example because a secret is missing. */
export async function openChannel(channel: ChannelSettings, { readSecret }: ChannelNeeds): Promise<Channel> {
  const call = (baseUrl: string) => {
    const { name, allowPrivate, timeoutMs } = channel;
    const take = async () => ({ status: 'taken', permit: UNLIMITED }) as const;
    return openCaller({ name, baseUrl, allowPrivate, timeoutMs, take });
  };
  switch (channel.type) {
    case 'webhook': {
      const caller = call(channel.url.reveal());
      const { post } = await openPoster(
        channel,
        { caller, readSecret, now: () => new Date() },
        outboxName(channel.name),
      );
      return {
        send: (alert, context) => post(alert.id, contentOf(alert), context),
        close: () => caller.close(),
      };
    }
    case 'slack': {
      const caller = callerAtSecret(channel.url, readSecret, call);
      const post = chatPoster('Slack', `${outboxName(channel.name)}.url`, simpleMessage, caller);
      return {
        send: ({ message }, context) => post([subjectLine(message), ...bodyLines(message)], context),
        close: () => caller.close(),
      };
    }
    case 'email': {
      const { openEmail } = await import('./email.ts'); // loads Nodemailer only where it is used
      return openEmail(channel, { readSecret });
    }
    default:
      return channel satisfies never;
  }
}

function contentOf({ sequence, seenAt, message: { state, ...alert } }: Alert) {
  const body = JSON.stringify({ type: `alert.${state}`, timestamp: seenAt.toISOString(), data: { sequence, alert } });
  return { headers: { 'content-type': 'application/json' }, body };
}

/** Alerts are few, because each is a change of state. */
const UNLIMITED: Permit = {
  release: () => undefined,
  limited: async () => undefined,
  hinted: async () => undefined,
  succeeded: () => undefined,
};
