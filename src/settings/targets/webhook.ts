/** The settings of a webhook target. */
import { z } from 'zod';
import { secret, webhookUrl } from '../fields.ts';
import { httpKeys, type TargetOf } from './common.ts';

export const webhook = z.strictObject({
  type: z.literal('webhook').describe('Signed HTTP calls as Standard Webhooks describes them.'),
  url: webhookUrl.describe('Where deliveries are sent.'),
  secret: secret.describe('Signing secret, at least 24 bytes; whsec_ and base64, or any text.'),
  previousSecret: secret
    .optional()
    .describe('The secret before it: during a rotation deliveries are signed with both.'),
  ...httpKeys({ requests: 50, perMs: 1000, concurrency: 8 }),
});

export type WebhookTarget = TargetOf<typeof webhook>;
