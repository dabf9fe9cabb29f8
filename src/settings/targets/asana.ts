/** The settings of an Asana target. */
import { z } from 'zod';
import { secret } from '../fields.ts';
import { httpKeys, type TargetOf } from './common.ts';
import { columns, create, neededToCreate, vendorUrl } from './items.ts';

export const asana = z
  .strictObject({
    type: z.literal('asana').describe('Tasks of Asana.'),
    url: vendorUrl
      .prefault('https://app.asana.com/api/1.0')
      .describe('Address of the API. Default: https://app.asana.com/api/1.0.'),
    token: secret.describe('Personal access token, or one of a service account.'),
    project: z
      .string()
      .regex(/^\d{1,30}$/, 'expected the id of a project: the digits in its address')
      .optional()
      .describe('Id of the project where tasks are created.'),
    create,
    columns,
    // Asana's smallest allowance is 150 calls a minute for each token, and 15 writes at once.
    ...httpKeys({ requests: 2, perMs: 1000, concurrency: 4 }),
  })
  .check(neededToCreate('project'));

export type AsanaTarget = TargetOf<typeof asana>;
