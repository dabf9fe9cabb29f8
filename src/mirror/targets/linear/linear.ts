/** Issues of Linear, by GraphQL. An issue can be created under an id of our choice, so creating may be repeated. */
import { grouped } from '../../../base/grouped.ts';
import type { ItemState, Target, TargetFailure } from '../../../contract/target.ts';
import type { SettingsOf } from '../../../settings/schema-target.ts';
import type { NamedValues } from '../items/custom-fields.ts';
import { type Calls, type ItemNeeds, mapAsked } from '../items/item-calls.ts';
import { type FieldValues, withoutEmpty } from '../items/item-fields.ts';
import { hookReader } from '../items/item-hook.ts';
import { linearNaming } from '../items/item-naming.ts';
import type { Asked } from '../items/item-target.ts';
import { textsOf } from '../items/item-text.ts';
import { keptMetadata } from '../items/kept-metadata.ts';
import { commentUuidOf, markerUuidOf } from '../items/marker.ts';
import { type DetailedItems, detailTarget } from '../items/vendor-target.ts';
import { describeWanted, isSameName, type Wanted } from '../items/wanted-state.ts';
import { linearAdmin } from './linear-admin.ts';
import {
  ask,
  CLIENT_REMEDY,
  COMMENT,
  COMMENTED,
  CREATE,
  findTeam,
  ISSUE,
  ISSUES,
  type Issue,
  judge,
  LABELS,
  labelsOf,
  message,
  NEW,
  type NewIssue,
  STATES,
  type State,
  TOKEN_REMEDY,
  UPDATE,
} from './linear-graphql.ts';
import { isClosedType, linearHook } from './linear-hook.ts';

interface LinearIssue extends ItemState {
  /** The UUID. */
  readonly id: string;
  readonly teamId: string;
}

/** The types of states, the first before the others. A reopened issue is planned, rather than merely collected or begun. */
const TYPES = {
  open: ['unstarted', 'backlog', 'triage', 'started'],
  completed: ['completed'],
  cancelled: ['canceled', 'completed'],
};

export function openLinear(settings: SettingsOf<'linear'>, needs: ItemNeeds): Target {
  const { team = '' } = settings;
  const { now } = needs;
  const teams = keptMetadata(now, findTeam);
  const readTeam = (calls: Calls) => teams.read(calls, () => true, team);
  const states = keptMetadata(now, readStates);
  const named: NamedValues = { labels: (calls, names) => mapAsked(ask(calls, LABELS, { names, team }), labelsOf) };

  const itemsBy = (calls: Calls): DetailedItems<LinearIssue> => ({
    read: (itemId) => read(calls, itemId),
    async write(issue, wanted) {
      const known = await states.read(calls, (known) => choose(known, wanted) !== undefined, issue.teamId);
      if (known.status !== 'ok') return known;
      const state = choose(known.value, wanted);
      if (state === undefined) return noState(known.value, wanted);
      const asked = await ask(calls, UPDATE, { id: issue.id, input: { stateId: state.id } });
      if (asked.status === 'ok' && asked.value.issueUpdate.success) {
        return { status: 'ok', value: { to: state.name } };
      }
      // The state may have been deleted since it was read: a replayed delivery reads the states again.
      states.forget(issue.teamId);
      return asked.status === 'ok' ? notDone(`move ${issue.itemId}`) : asked;
    },
    async find(delivery) {
      const found = await ask(calls, ISSUE, { id: markerUuidOf(delivery) });
      if (found.status === 'missing') return mapAsked(readTeam(calls), () => undefined);
      if (found.status !== 'ok') return found;
      const { issue } = found.value;
      return issue.trashed === true ? inTrash(issue) : { status: 'ok', value: toItem(issue) };
    },
    async add(delivery, { labels, ...values }) {
      const inTeam = await readTeam(calls);
      if (inTeam.status !== 'ok') return inTeam;
      const id = markerUuidOf(delivery);
      const input = withoutEmpty({ ...inputOf(values), id, teamId: inTeam.value, labelIds: labels?.add });
      const created = await mapAsked(ask(calls, CREATE, { input }), ({ issueCreate }) => issueCreate.issue?.identifier);
      if (created.status === 'later' || created.status === 'disabled') return created;
      if (created.status === 'ok' && created.value !== undefined) return { status: 'ok', value: created.value };
      // Refused, possibly because the id exists: another process was faster, or the issue is in the trash.
      const existing = await mapAsked(read(calls, id), ({ itemId }) => itemId);
      if (existing.status === 'ok') return existing;
      return created.status === 'refused' ? created : notDone('create the issue');
    },
    async update(issue, values) {
      const asked = await ask(calls, UPDATE, { id: issue.id, input: inputOf(values) });
      if (asked.status !== 'ok') return asked;
      return asked.value.issueUpdate.success ? { status: 'ok', value: undefined } : notDone(`update ${issue.itemId}`);
    },
    hasComment({ id }, marker) {
      const asking = ask(calls, COMMENTED, { id, comment: commentUuidOf(marker) });
      return mapAsked(asking, ({ issue }) => issue.comments.nodes.length > 0);
    },
    async addComment(issue, body, marker) {
      const asked = await ask(calls, COMMENT, { input: { id: commentUuidOf(marker), issueId: issue.id, body } });
      const isDone = asked.status !== 'ok' || asked.value.commentCreate.success;
      return isDone ? asked : notDone(`comment on ${issue.itemId}`);
    },
  });

  return detailTarget(settings, needs, {
    name: 'Linear',
    noun: 'Linear issue',
    ...linearNaming(settings),
    tokenRemedy: settings.oauthClient ? CLIENT_REMEDY : TOKEN_REMEDY,
    judge,
    message,
    alwaysExplains: true,
    headersOf: (token) => ({ authorization: settings.oauth || settings.oauthClient ? `Bearer ${token}` : token }),
    itemsBy,
    named,
    async newItems(calls, since, after) {
      // A key that no team has would make an empty list, and not an error.
      const inTeam = await readTeam(calls);
      if (inTeam.status !== 'ok') return inTeam;
      const filter = { team: { id: { eq: inTeam.value } }, updatedAt: { gte: since.toISOString() } };
      return mapAsked(ask(calls, NEW, { filter, after }), ({ issues: { nodes, pageInfo } }) => ({
        items: nodes.map((node) => ('unreadId' in node ? node : toNewItem(node))),
        next: pageInfo.hasNextPage ? pageInfo.endCursor : undefined,
      }));
    },
    readMany: { most: 100, read: (calls, itemIds) => readMany(calls, itemIds) },
    container: `team ${team}`,
    // It is read by its id, which has no delay; the creation itself may still be on its way.
    settleMs: 60_000,
    priorities: { urgent: 1, high: 2, medium: 3, low: 4, none: 0 },
    readHook: hookReader(linearHook, settings, needs),
    admin: linearAdmin(settings, named),
  });
}

function inputOf({ title, description, dueDate, assignee, priority, labels }: FieldValues) {
  return {
    title,
    description,
    dueDate,
    assigneeId: assignee,
    priority: priority === null ? 0 : priority,
    addedLabelIds: labels?.add,
    removedLabelIds: labels?.remove,
  };
}

/** The states of a team in the order of their positions: the first of a type is its default. */
async function readStates(calls: Calls, teamId: string): Promise<Asked<readonly State[]>> {
  const asking = ask(calls, STATES, { id: teamId });
  return mapAsked(asking, ({ team }) => team.states.nodes.toSorted((a, b) => a.position - b.position));
}

/** By team and number; an issue that is linked by its UUID, or was moved to another team, is left out. */
async function readMany(calls: Calls, itemIds: readonly string[]): Promise<Asked<readonly LinearIssue[]>> {
  const keys = itemIds.filter((itemId) => /^[A-Z][A-Z\d]*-\d+$/.test(itemId)).map((key) => key.split('-'));
  const numbers = grouped(keys.map(([team, number]) => [team, Number(number)]));
  const or = [...numbers].map(([team, of]) => ({ team: { key: { eq: team } }, number: { in: of } }));
  if (or.length === 0) return { status: 'ok', value: [] };
  const asking = ask(calls, ISSUES, { filter: { or } });
  return mapAsked(asking, ({ issues }) => issues.nodes.filter(({ trashed }) => trashed !== true).map(toItem));
}

async function read(calls: Calls, itemId: string): Promise<Asked<LinearIssue>> {
  const asked = await ask(calls, ISSUE, { id: itemId });
  if (asked.status !== 'ok') return asked;
  const { issue } = asked.value;
  if (issue.trashed === true) return { status: 'missing', detail: `Linear: ${issue.identifier} is in the trash` };
  return { status: 'ok', value: toItem(issue) };
}

function toItem({ id, identifier, state, team }: Issue): LinearIssue {
  return { itemId: identifier, isCompleted: isClosedType(state.type), status: state.name, id, teamId: team.id };
}

function toNewItem(issue: NewIssue) {
  const { id, identifier, title, description, dueDate, createdAt, updatedAt, labels, state, trashed } = issue;
  return {
    ...textsOf(title, description),
    itemId: identifier,
    lastingId: id,
    isLeftOut: trashed === true || isClosedType(state.type),
    dueDate: dueDate ?? undefined,
    createdAt,
    changedAt: updatedAt,
    labels: labels.nodes.map(({ name }) => name),
  };
}

/** Its id is taken, so no other issue can be created for its task. */
function inTrash({ identifier }: Issue): TargetFailure {
  const detail = `Linear: ${identifier} was created for this task and is in the trash: restore it there and replay, or link the task with another issue`;
  return { status: 'refused', reason: 'ITEM_MISSING', detail };
}

function notDone(what: string): TargetFailure {
  return { status: 'refused', reason: 'REJECTED', detail: `Linear did not ${what}: it answered success: false` };
}

function choose(states: readonly State[], wanted: Wanted): State | undefined {
  if (wanted.status === 'named') return states.find(({ name }) => isSameName(name, wanted.name));
  const types = TYPES[wanted.status];
  return types.flatMap((type) => states.filter((state) => state.type === type))[0];
}

function noState(states: readonly State[], wanted: Wanted): TargetFailure {
  const known = states.map(({ name, type }) => `${name} (${type})`).join(', ') || 'none';
  const detail = `Linear: the team has no state that is ${describeWanted(wanted)} (available: ${known}); add one, or name another in the target's columns`;
  return { status: 'refused', reason: 'NO_STATE', detail };
}
