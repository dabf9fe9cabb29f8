/** The vendors whose items have fields and comments, as their stand-ins show them. */
import { startAsana } from '../../support/asana-standin.ts';
import { startGithub } from '../../support/github-standin.ts';
import type { DetailedVendor } from '../../support/item-vendor.ts';
import { startJira } from '../../support/jira-standin.ts';
import { startLinear } from '../../support/linear-standin.ts';
import { startTodoist } from '../../support/todoist-standin.ts';
import { type DetailForms, type DetailRun, detailRun } from './detail-run.ts';

interface Detailed {
  readonly noun: string;
  /** For one suite. */
  readonly run: () => DetailRun;
}

function detailed<Vendor extends DetailedVendor>(
  noun: string,
  start: () => Promise<Vendor>,
  formsOf: (vendor: Vendor) => DetailForms,
): Detailed {
  return { noun, run: () => detailRun(start, formsOf) };
}

export const DETAILED: readonly Detailed[] = [
  detailed('a task of Asana', startAsana, ({ tasks }) => ({
    fields: ['title', 'description', 'dueDate', 'labels', 'assignee', 'custom'],
    label: (name) => `tag-${name}`,
    small: 'option-Small',
    cancelled: () => tasks[0]?.completed,
    closed: true,
    sortsChanges: false,
    failure: { errors: [{ message: 'It failed.' }] },
  })),
  detailed('an issue of GitHub', startGithub, ({ issues }) => ({
    fields: ['title', 'description', 'labels', 'assignee'],
    cancelled: () => issues[0]?.state_reason,
    closed: 'not_planned',
    failure: { message: 'Server Error' },
  })),
  detailed('an issue of Jira', startJira, ({ issues }) => ({
    fields: ['title', 'description', 'dueDate', 'labels', 'assignee', 'priority', 'custom'],
    priority: 'high',
    small: { id: 'option-Small' },
    cancelled: () => issues[0]?.status,
    closed: "Won't do",
    failure: { errorMessages: ['It failed.'], errors: {} },
  })),
  detailed('an issue of Linear', startLinear, ({ issues }) => ({
    fields: ['title', 'description', 'dueDate', 'labels', 'assignee', 'priority'],
    priority: 2,
    label: (name) => `label-${name}`,
    cancelled: () => issues[0]?.stateId,
    closed: 'state-Canceled',
    showsOwn: true,
    failure: { data: null, errors: [{ message: 'It failed.', extensions: { code: 'INTERNAL_SERVER_ERROR' } }] },
  })),
  detailed('a task of Todoist', startTodoist, ({ tasks }) => ({
    fields: ['title', 'description', 'dueDate', 'labels', 'assignee', 'priority'],
    priority: 3,
    cancelled: () => tasks[0]?.checked,
    closed: true,
    sortsChanges: false,
    failure: { error: 'It failed.' },
  })),
];
