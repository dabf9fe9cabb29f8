/** The settings of a GitHub target: issues of github.com or of a GitHub Enterprise server. */
import { z } from 'zod';
import { secret } from '../fields.ts';
import { httpKeys, type TargetOf } from './common.ts';
import { columns, create, hookSecret, neededToCreate, vendorUrl } from './items.ts';

export const github = z
  .strictObject({
    type: z.literal('github').describe('Issues of GitHub.'),
    url: vendorUrl
      .prefault('https://api.github.com')
      .describe('Address of the API; of a server of your own: https://HOST/api/v3. Default: https://api.github.com.'),
    token: secret.describe('Token with read and write access to the issues.'),
    owner: z
      .string()
      .regex(/^[A-Za-z\d][\w-]{0,99}$/, 'expected the name of a user or an organization, such as octocat')
      .optional()
      .describe('Owner of the repositories; with one, texts link to issues of its repositories only.'),
    repo: z
      .string()
      .regex(/^(?!\.{1,2}$)[\w.-]{1,100}$/, 'expected the name of a repository, without its owner')
      .optional()
      .describe('Repository that #12 in a text means, and where issues are created.'),
    create,
    labels: z.array(z.string().min(1).max(50)).max(20).prefault([]).describe('Labels of the issues it creates.'),
    columns,
    hookSecret,
    // GitHub asks for one write at a time and at least a second between two; reads wait along, which is the simplest truth.
    ...httpKeys({ requests: 1, perMs: 1000, concurrency: 1 }),
  })
  .refine(({ owner, repo }) => repo === undefined || owner !== undefined, {
    error: 'missing: a repo needs its owner',
    path: ['owner'],
  })
  .check(neededToCreate('repo'));

export type GithubTarget = TargetOf<typeof github>;
