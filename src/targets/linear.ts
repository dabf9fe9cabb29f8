/** Issues of Linear, by GraphQL. An issue can be created under an id of our choice, so creating may be repeated. */
import type { z } from 'zod';
import type { LinearTarget } from '../settings/targets/linear.ts';
import type { Asked, Calls, TargetNeeds } from './item-calls.ts';
import type { ItemFailure } from './item-outcome.ts';
import { type Creation, itemTarget, type Read, type Written } from './item-target.ts';
import { textOf, titleOf } from './item-text.ts';
import {
  CREATE,
  createAnswer,
  ISSUE,
  issueAnswer,
  MOVE,
  moveAnswer,
  TEAM,
  teamAnswer,
  vendor,
} from './linear-graphql.ts';
import { readLinearHook } from './linear-hook.ts';
import { isClosedType, isLinearId, type LinearIssue, linearItemsIn } from './linear-issue.ts';
import { openLinearStates } from './linear-states.ts';
import { markerUuidOf } from './marker.ts';
import type { Target } from './target.ts';
import type { Wanted } from './wanted.ts';

export function openLinear(settings: LinearTarget, needs: TargetNeeds): Target {
  const states = openLinearStates(needs.now ?? (() => new Date()));
  const system = {
    connection: {
      vendor,
      token: settings.token,
      // A personal key stands alone; only an OAuth token has Bearer before it.
      headersOf: (token: string) => ({ authorization: token, accept: 'application/json' }),
    },
    noun: 'Linear issue',
    howToLink: 'name it in the text of the task by its address or as LINEAR: ABC-12',
    columns: settings.columns,
    read,
    async write(calls: Calls, issue: LinearIssue, wanted: Wanted): Promise<Written> {
      const query = queryBy(calls);
      const chosen = await states.stateFor(query, issue.teamId, wanted);
      if (chosen.status !== 'ok') return chosen;
      const moved = await query(MOVE, { id: issue.id, stateId: chosen.state.id }, moveAnswer);
      if (moved.status === 'ok' && moved.value.data.issueUpdate.success) {
        return { status: 'written', to: chosen.state.name };
      }
      // The state may have been taken away since it was read: replayed, the delivery sees the states as they are then.
      states.forget(issue.teamId);
      return moved.status === 'ok' ? notDone(`move ${issue.itemId}`) : moved;
    },
    creation: settings.create ? creationIn(settings.team ?? '') : undefined,
  };
  return itemTarget(system, needs, {
    itemsIn: linearItemsIn,
    readHook: (request, now) => readLinearHook(request, now, settings.hookSecret, needs),
  });
}

async function read(calls: Calls, itemId: string): Promise<Read<LinearIssue>> {
  if (!isLinearId(itemId)) {
    const detail = `"${itemId}" does not name a Linear issue: link it as ABC-12`;
    return { status: 'refused', reason: 'ITEM_ID_INVALID', detail };
  }
  const asked = await queryBy(calls)(ISSUE, { id: itemId }, issueAnswer);
  if (asked.status !== 'ok') return asked;
  const { id, identifier, trashed, state, team } = asked.value.data.issue;
  if (trashed === true) return { status: 'missing', detail: `Linear: ${identifier} is in the trash` };
  const item = { itemId: identifier, isCompleted: isClosedType(state.type), status: state.name, id, teamId: team.id };
  return { status: 'found', item };
}

function creationIn(team: string): Creation<LinearIssue> {
  let teamId: string | undefined;

  return {
    // It is read by its id, which knows no delay; the creation itself may still be on its way.
    settleMs: 60_000,
    find: (calls, delivery) => read(calls, markerUuidOf(delivery)),
    async add(calls, delivery) {
      const query = queryBy(calls);
      if (teamId === undefined) {
        const asked = await query(TEAM, { key: team }, teamAnswer);
        if (asked.status !== 'ok') return asked.status === 'missing' ? noTeam(team) : asked;
        teamId = asked.value.data.teams.nodes[0]?.id;
        if (teamId === undefined) return noTeam(team);
      }
      const id = markerUuidOf(delivery);
      const input = { id, teamId, title: titleOf(delivery.task), description: textOf(delivery.task) };
      const asked = await query(CREATE, { input }, createAnswer);
      const identifier = asked.status === 'ok' ? asked.value.data.issueCreate.issue?.identifier : undefined;
      if (identifier !== undefined) return { status: 'added', itemId: identifier };
      if (asked.status === 'later' || asked.status === 'disabled') return asked;
      // Refused, maybe because that id exists: somebody else was faster, or the trash holds it.
      const again = await read(calls, id);
      if (again.status === 'found') return { status: 'added', itemId: again.item.itemId };
      return asked.status === 'refused' ? asked : notDone('create the issue');
    },
  };
}

function queryBy(calls: Calls) {
  return <T>(query: string, variables: object, schema: z.ZodType<T>): Promise<Asked<T>> =>
    calls.ask({ method: 'POST', path: '/graphql', body: { query, variables } }, schema);
}

function noTeam(team: string): ItemFailure {
  const detail = `Linear has no team with the key ${team}, or the token may not see it: check this target's team`;
  return { status: 'refused', reason: 'PLACE_MISSING', detail };
}

function notDone(what: string): ItemFailure {
  return { status: 'refused', reason: 'REJECTED', detail: `Linear did not ${what}: it answers success: false` };
}
