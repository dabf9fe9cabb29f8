/** The settings of one target, by its type. A new type is a file in targets/ and a member of the union. */
import { z } from 'zod';
import { asana } from './targets/asana.ts';
import type { TargetOf } from './targets/common.ts';
import { github } from './targets/github.ts';
import { jira } from './targets/jira.ts';
import { linear } from './targets/linear.ts';
import { postgres } from './targets/postgres.ts';
import { service } from './targets/service.ts';
import { todoist } from './targets/todoist.ts';
import { webhook } from './targets/webhook.ts';

export const target = z.discriminatedUnion('type', [webhook, github, jira, asana, linear, todoist, postgres, service]);

export type TargetSettings = TargetOf<typeof target>;
