/** The settings of one target, by its type. A new type is a file in targets/ and a line in each of the two unions. */
import { z } from 'zod';
import { type AsanaTarget, asana } from './targets/asana.ts';
import { type GithubTarget, github } from './targets/github.ts';
import { type JiraTarget, jira } from './targets/jira.ts';
import { type LinearTarget, linear } from './targets/linear.ts';
import { type PostgresTarget, postgres } from './targets/postgres.ts';
import { type ServiceTarget, service } from './targets/service.ts';
import { type TodoistTarget, todoist } from './targets/todoist.ts';
import { type WebhookTarget, webhook } from './targets/webhook.ts';

export const target = z.discriminatedUnion('type', [webhook, github, jira, asana, linear, todoist, postgres, service]);

export type TargetSettings =
  | WebhookTarget
  | GithubTarget
  | JiraTarget
  | AsanaTarget
  | LinearTarget
  | TodoistTarget
  | PostgresTarget
  | ServiceTarget;
