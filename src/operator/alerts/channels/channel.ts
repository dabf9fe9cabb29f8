/** What all channels share: an alert goes in, an outcome comes out, as with targets. */
import type { CallContext, DeliveryOutcome, Target } from '../../../contract/target.ts';
import type { SecretRef } from '../../../settings/fields.ts';
import { type AlertMessage, alertMessage } from '../message.ts';

/** A message on its way to one channel. */
export interface Alert {
  /** The same in all attempts. */
  readonly id: string;
  /** Ascending over all alerts. */
  readonly sequence: number;
  /** When the change was noticed. */
  readonly seenAt: Date;
  readonly message: AlertMessage;
}

export interface Channel {
  /** Rejects only for defects. */
  send(alert: Alert, context: CallContext): Promise<DeliveryOutcome>;
  close(): Promise<void>;
}

export interface ChannelNeeds {
  /** Read at each use, so a rotated secret needs no restart. */
  readonly readSecret: (ref: SecretRef) => Promise<string>;
}

/** As a target of the outbox: its deliveries hold a message instead of a task. */
export function asTarget({ send, close }: Channel): Target {
  return {
    deliver({ id, sequence, seenAt, task }, context) {
      return send({ id, sequence, seenAt, message: alertMessage.parse(task) }, context);
    },
    close,
  };
}

const PREFIX = 'alerts.';

/** The name of a channel in the outbox: its place in the settings. No target has such a name, because it contains a dot. */
export function outboxName(channel: string): string {
  return `${PREFIX}${channel}`;
}

/** The channel that has this name in the outbox; undefined if it is the name of a target. */
export function channelIn(name: string): string | undefined {
  return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : undefined;
}
