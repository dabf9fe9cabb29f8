/** The settings of a Todoist target. */
import { z } from 'zod';
import { secret } from '../fields.ts';
import { httpKeys, type TargetOf } from './common.ts';
import { columns, create, vendorUrl } from './items.ts';

export const todoist = z.strictObject({
  type: z.literal('todoist').describe('Tasks of Todoist.'),
  url: vendorUrl
    .prefault('https://api.todoist.com')
    .describe('Address of the API, without /api/v1. Default: https://api.todoist.com.'),
  token: secret.describe('API token, from the settings of the account under Integrations, Developer.'),
  project: z
    .string()
    .regex(/^[\dA-Za-z]{1,40}$/, 'expected the id of a project: the letters and digits that end its address')
    .optional()
    .describe('Id of the project where tasks are created. Default: the inbox.'),
  create,
  columns,
  // Todoist allows 1000 calls in 15 minutes for each user.
  ...httpKeys({ requests: 60, perMs: 60_000, concurrency: 4 }),
});

export type TodoistTarget = TargetOf<typeof todoist>;
