/** The settings of a Jira Cloud target. */
import { z } from 'zod';
import { secret } from '../fields.ts';
import { httpKeys, type TargetOf } from './common.ts';
import { create, hookSecret, namedColumns, neededToCreate, vendorUrl } from './items.ts';

export const jira = z
  .strictObject({
    type: z.literal('jira').describe('Issues of Jira Cloud.'),
    url: vendorUrl.describe('Address of the site, such as https://example.atlassian.net.'),
    email: z.email().describe('Account that the token belongs to.'),
    token: secret.describe('API token of that account, from id.atlassian.com.'),
    project: z
      .string()
      .regex(/^[A-Z][A-Z\d_]{1,29}$/, 'expected the key of a project in capitals, such as ABC')
      .optional()
      .describe('Key of the project: ABC-12 in a text is an issue of it, and issues are created there.'),
    doneStatus: z
      .string()
      .min(1)
      .optional()
      .describe('Status that a completed task is moved to. Default: any of the category done.'),
    openStatus: z
      .string()
      .min(1)
      .optional()
      .describe('Status that a reopened task is moved to. Default: one of the category to do, else in progress.'),
    create,
    issueType: z.string().min(1).prefault('Task').describe('Type of the issues it creates. Default: Task.'),
    columns: namedColumns,
    hookSecret,
    ...httpKeys({ requests: 5, perMs: 1000, concurrency: 4 }),
  })
  .check(neededToCreate('project'));

export type JiraTarget = TargetOf<typeof jira>;
