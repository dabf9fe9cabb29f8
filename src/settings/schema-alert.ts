/** The settings of one channel for alerts, by its type. */
import { z } from 'zod';
import { name, nonEmpty, secret, unlessKeysAreUnknown, webhookUrl } from './fields.ts';
import { callKeys, type TargetOf } from './target-keys.ts';

/** What an alert can be about. Stable, because settings and receivers name them. */
export const ALERT_EVENTS = [
  'run-failed',
  'run-paused',
  'awaits-approval',
  'needs-review',
  'audit-violation',
  'no-rows',
  'sync-late',
  'account-suspended',
  'service-down',
  'target-failing',
  'target-disabled',
] as const;
export type AlertEvent = (typeof ALERT_EVENTS)[number];

const filters = {
  events: z.array(z.enum(ALERT_EVENTS)).min(1).optional().describe('Only alerts about these. Default: all.'),
  syncs: z
    .array(name)
    .min(1)
    .optional()
    .describe(
      'Only alerts about these syncs; alerts about accounts, services and targets are then left out. Default: all.',
    ),
};

const webhook = z.strictObject({
  type: z.literal('webhook').describe('Signed HTTP calls as Standard Webhooks describes them.'),
  url: webhookUrl.describe('URL that alerts are sent to.'),
  secret: secret.describe('Signing secret, at least 24 bytes; whsec_ and base64, or any text.'),
  previousSecret: secret.optional().describe('The previous secret: during a rotation, alerts are signed with both.'),
  ...filters,
  ...callKeys,
});

const slack = z.strictObject({
  type: z.literal('slack').describe('An incoming webhook of Slack, or of a system that accepts the same.'),
  url: secret.describe('URL of the incoming webhook. It is a secret, because it is all that a sender needs.'),
  ...filters,
  ...callKeys,
});

const email = z
  .strictObject({
    type: z.literal('email').describe('E-mail, sent by an SMTP server.'),
    host: z
      .string()
      .regex(/^[\w.:-]+$/, 'expected the name or address of an SMTP server, such as smtp.example.com')
      .describe('Name or address of the SMTP server.'),
    port: z.int().min(1).max(65_535).prefault(587).describe('Port of the SMTP server. Default: 587.'),
    security: z
      .enum(['starttls', 'tls', 'none'])
      .optional()
      .describe('starttls, tls (from the first byte) or none. Default: tls on port 465, otherwise starttls.'),
    user: nonEmpty.optional().describe('User name at the SMTP server. Default: none, it does not ask for one.'),
    password: secret.optional().describe('Password of this user.'),
    from: z.email().describe('Address that alerts come from.'),
    to: z.array(z.email()).min(1).max(20).describe('Addresses that alerts go to.'),
    ...filters,
    ...callKeys,
  })
  .refine(({ user, password }) => (user === undefined) === (password === undefined), {
    error: 'a user needs a password, and a password needs a user',
    path: ['user'],
    when: unlessKeysAreUnknown,
  });

export const alertChannel = z.discriminatedUnion('type', [webhook, slack, email]);

export type ChannelSettings = TargetOf<typeof alertChannel>;

export type ChannelOf<Type extends ChannelSettings['type']> = Extract<ChannelSettings, { type: Type }>;
