/** The settings of targets that are channels of a chat. */
import { z } from 'zod';
import { flag, secret } from './fields.ts';
import { filterKeys } from './target-events.ts';
import { httpKeys } from './target-keys.ts';
import { template } from './template.ts';

const chatKeys = {
  text: template('text')
    .prefault('{{ task.kind | capitalize }} {{ event }}: {{ title }}')
    .describe('Template of the line about a change. Default: "{{ task.kind | capitalize }} {{ event }}: {{ title }}".'),
  digest: flag.describe('One message for the changes of a run instead of one for each change. Default: false.'),
  ...filterKeys,
  // Slack allows one message a second to each webhook.
  ...httpKeys({ requests: 1, perMs: 1000, concurrency: 1 }),
};

export const slack = z.strictObject({
  type: z.literal('slack').describe('Messages in a channel of Slack.'),
  url: secret.describe('Address of the incoming webhook, which is a secret.'),
  ...chatKeys,
});

export const teams = z.strictObject({
  type: z.literal('teams').describe('Messages in a channel or chat of Microsoft Teams.'),
  url: secret.describe('Address of the webhook of a workflow, which is a secret.'),
  ...chatKeys,
});
