/**
 * Moves an issue of Jira by a transition of its workflow. Ids and names of transitions differ between workflows, so a
 * transition is chosen by the status to which it leads.
 */
import { z } from 'zod';
import type { ItemState, TargetFailure } from '../../../contract/target.ts';
import type { SettingsOf } from '../../../settings/schema-target.ts';
import { type Calls, moved } from '../items/item-calls.ts';
import type { Asked, Written } from '../items/item-target.ts';
import { describeWanted, isInState, isSameName, type Wanted } from '../items/wanted-state.ts';
import { JIRA_ISSUE, jiraStatus, readIssue } from './jira-issue.ts';

const transitions = z.object({
  transitions: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      to: jiraStatus,
      fields: z
        .record(z.string(), z.object({ required: z.boolean(), hasDefaultValue: z.boolean().default(false) }))
        .default({}),
    }),
  ),
});
type Transition = z.output<typeof transitions>['transitions'][number];
type Choice = Pick<SettingsOf<'jira'>, 'doneStatus' | 'openStatus' | 'doneFields'>;

/** A status of the category Done may also mean that the work will not be done, so only these are chosen unasked. */
const DONE_NAMES = ['done', 'closed', 'resolved'];
/** For a task that is gone, before those of a completed task. */
const CANCELLED_NAMES = ["won't do", "won't fix", 'cancelled', 'canceled', 'declined', 'rejected', 'obsolete'];

/** If another client moves the issue at the same time, Jira refuses the transition: then the issue is read again, once. */
export async function moveIssue(calls: Calls, item: ItemState, wanted: Wanted, choice: Choice): Promise<Written> {
  const first = await move(calls, item, wanted, choice);
  if (first.status !== 'refused' || first.answer?.httpStatus !== 400) return first;
  const now = await readIssue(calls, item.itemId, choice.doneStatus);
  if (now.status !== 'ok' || now.value.status === item.status) return first;
  if (isInState(now.value, wanted)) return { status: 'ok', value: { to: now.value.status } };
  return move(calls, now.value, wanted, choice);
}

async function move(calls: Calls, { itemId }: ItemState, wanted: Wanted, choice: Choice): Promise<Written> {
  const path = `${JIRA_ISSUE}/${itemId}/transitions`;
  const asked = await calls.ask({ method: 'GET', path: `${path}?expand=transitions.fields` }, transitions);
  if (asked.status !== 'ok') return asked;
  const all = asked.value.transitions;
  const chosen = chooseTransition(all, wanted, choice);
  if (chosen === undefined) return noTransition(itemId, wanted, choice, all);
  const fields = fieldsOf(chosen, choice);
  const body = { transition: { id: chosen.id }, ...(Object.keys(fields).length > 0 && { fields }) };
  return withMissingFields(await calls.ask({ method: 'POST', path, body }, moved(chosen.to.name)), chosen, fields);
}

/** Chooses by the resulting status: the named one, otherwise by its category. */
function chooseTransition(all: readonly Transition[], wanted: Wanted, choice: Choice): Transition | undefined {
  const ofCategory = (key: string) => all.filter(({ to }) => to.statusCategory.key === key);
  if (wanted.status === 'cancelled') {
    const cancelled = byNames(ofCategory('done'), CANCELLED_NAMES);
    return cancelled ?? chooseTransition(all, { status: 'completed' }, choice);
  }
  const name = nameOf(wanted, choice);
  if (name !== undefined) return all.find(({ to }) => isSameName(to.name, name));
  if (wanted.status === 'open') return ofCategory('new')[0] ?? ofCategory('indeterminate')[0];
  return byNames(ofCategory('done'), DONE_NAMES);
}

function byNames(all: readonly Transition[], names: readonly string[]): Transition | undefined {
  return names.flatMap((each) => all.find(({ to }) => isSameName(to.name, each)) ?? [])[0];
}

function nameOf(wanted: Wanted, { doneStatus, openStatus }: Choice): string | undefined {
  if (wanted.status === 'named') return wanted.name;
  return wanted.status === 'open' ? openStatus : doneStatus;
}

/** The settings' fields, as far as the transition has them: Jira refuses others. */
function fieldsOf({ to, fields }: Transition, { doneFields }: Choice): Readonly<Record<string, unknown>> {
  if (to.statusCategory.key !== 'done') return {};
  return Object.fromEntries(Object.entries(doneFields).filter(([field]) => fields[field] !== undefined));
}

function withMissingFields<T>(written: Asked<T>, { name, fields }: Transition, given: object): Asked<T> {
  if (written.status !== 'refused') return written;
  const missing = Object.entries(fields).flatMap(([field, { required, hasDefaultValue }]) =>
    required && !hasDefaultValue && !(field in given) ? [field] : [],
  );
  if (missing.length === 0) return written;
  const remedy = `the transition "${name}" requires ${missing.join(', ')}: set doneFields of this target`;
  return { ...written, detail: `${written.detail}; ${remedy}` };
}

function noTransition(itemId: string, wanted: Wanted, choice: Choice, all: readonly Transition[]): TargetFailure {
  const name = nameOf(wanted, choice);
  const known = all.map((each) => `${each.name} → ${each.to.name}`).join(', ') || 'none';
  const done = all.filter(({ to }) => to.statusCategory.key === 'done');
  if (name === undefined && wanted.status !== 'open' && done.length > 0) {
    const detail = `${itemId}: it is unclear which status of the category Done means that the work was done (available: ${known}); name it as doneStatus in the target's settings`;
    return { status: 'refused', reason: 'NO_TRANSITION', detail };
  }
  const to = name === undefined ? `a status that is ${describeWanted(wanted)}` : `"${name}"`;
  const remedy =
    "add one to the workflow, allow this account to use it, or name another status in the target's settings";
  const detail = `${itemId}: no transition leads from its current status to ${to} (available: ${known}); ${remedy}`;
  return { status: 'refused', reason: 'NO_TRANSITION', detail };
}
