/** The settings of a Linear target. */
import { z } from 'zod';
import { secret } from '../fields.ts';
import { httpKeys, type TargetOf } from './common.ts';
import { create, hookSecret, namedColumns, neededToCreate, vendorUrl } from './items.ts';

export const linear = z
  .strictObject({
    type: z.literal('linear').describe('Issues of Linear.'),
    url: vendorUrl
      .prefault('https://api.linear.app')
      .describe('Address of the API, without /graphql. Default: https://api.linear.app.'),
    token: secret.describe('Personal API key with the permissions read and write.'),
    team: z
      .string()
      .regex(/^[A-Z][A-Z\d]{0,9}$/, 'expected the key of a team in capitals, such as ENG')
      .optional()
      .describe('Key of the team that gets the issues it creates: the letters before the number of its issues.'),
    create,
    columns: namedColumns,
    hookSecret,
    // Linear allows 2500 calls an hour for each user of an API key.
    ...httpKeys({ requests: 40, perMs: 60_000, concurrency: 4 }),
  })
  .check(neededToCreate('team'));

export type LinearTarget = TargetOf<typeof linear>;
