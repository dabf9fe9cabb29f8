/** Issues of Linear, by GraphQL. An issue can be created under an id of our choice, so creating may be repeated. */
import type { LinearTarget } from '../settings/targets/linear.ts';
import type { Calls, TargetNeeds } from './item-calls.ts';
import { hookReader } from './item-hook.ts';
import type { Asked } from './item-target.ts';
import { textOf, titleOf } from './item-text.ts';
import { CREATE, ISSUE, judge, MOVE, message, TEAM, TOKEN_REMEDY } from './linear-graphql.ts';
import { linearHook } from './linear-hook.ts';
import { isClosedType, isLinearId, type LinearIssue, linearItemsIn } from './linear-issue.ts';
import { type Ask, openLinearStates } from './linear-states.ts';
import { markerUuidOf } from './marker.ts';
import type { Target, TargetFailure } from './target.ts';
import { type VendorItems, vendorTarget } from './vendor-target.ts';

export function openLinear(settings: LinearTarget, needs: TargetNeeds): Target {
  const { team = '' } = settings;
  const states = openLinearStates(needs.now ?? (() => new Date()));
  let knownTeam: string | undefined;

  /** The id of the settings' team. */
  async function teamId(ask: Ask): Promise<Asked<string>> {
    if (knownTeam !== undefined) return { status: 'ok', value: knownTeam };
    const asked = await ask(TEAM, { key: team });
    if (asked.status !== 'ok') return asked;
    knownTeam = asked.value.teams.nodes[0]?.id;
    return knownTeam === undefined
      ? { status: 'missing', detail: `Linear: no team ${team}` }
      : { status: 'ok', value: knownTeam };
  }

  const itemsBy = (calls: Calls): VendorItems<LinearIssue> => {
    const ask: Ask = ({ query, answer }, variables) =>
      calls.ask({ method: 'POST', path: '/graphql', body: { query, variables } }, answer);
    return {
      read: (itemId) => read(ask, itemId),
      async write(issue, wanted) {
        const chosen = await states.stateFor(ask, issue.teamId, wanted);
        if (chosen.status !== 'ok') return chosen;
        const asked = await ask(MOVE, { id: issue.id, stateId: chosen.value.id });
        if (asked.status === 'ok' && asked.value.issueUpdate.success) {
          return { status: 'ok', value: { to: chosen.value.name } };
        }
        // The state may have been taken away since it was read: replayed, the delivery sees the states as they are then.
        states.forget(issue.teamId);
        return asked.status === 'ok' ? notDone(`move ${issue.itemId}`) : asked;
      },
      async find(delivery) {
        const found = await read(ask, markerUuidOf(delivery));
        return found.status === 'missing' ? { status: 'ok', value: undefined } : found;
      },
      async add(delivery) {
        const inTeam = await teamId(ask);
        if (inTeam.status !== 'ok') return inTeam;
        const id = markerUuidOf(delivery);
        const input = { id, teamId: inTeam.value, title: titleOf(delivery.task), description: textOf(delivery.task) };
        const asked = await ask(CREATE, { input });
        const identifier = asked.status === 'ok' ? asked.value.issueCreate.issue?.identifier : undefined;
        if (identifier !== undefined) return { status: 'ok', value: identifier };
        if (asked.status === 'later' || asked.status === 'disabled') return asked;
        // Refused, maybe because that id exists: another process was faster, or the trash holds it.
        const again = await read(ask, id);
        if (again.status === 'ok') return { status: 'ok', value: again.value.itemId };
        return asked.status === 'refused' ? asked : notDone('create the issue');
      },
    };
  };

  return vendorTarget(
    {
      name: 'Linear',
      noun: 'Linear issue',
      linkedBy: 'ABC-12',
      isItemId: isLinearId,
      howToLink: 'name it in the text of the task by its address or as LINEAR: ABC-12',
      itemsIn: linearItemsIn,
      tokenRemedy: TOKEN_REMEDY,
      judge,
      message,
      // A personal key stands alone; only an OAuth token has Bearer before it.
      headersOf: (token) => ({ authorization: token }),
      itemsBy,
      place: `team with the key ${team}`,
      // It is read by its id, which knows no delay; the creation itself may still be on its way.
      settleMs: 60_000,
      readHook: hookReader(linearHook, settings.hookSecret, needs),
    },
    settings,
    needs,
  );
}

async function read(ask: Ask, itemId: string): Promise<Asked<LinearIssue>> {
  const asked = await ask(ISSUE, { id: itemId });
  if (asked.status !== 'ok') return asked;
  const { id, identifier, trashed, state, team } = asked.value.issue;
  if (trashed === true) return { status: 'missing', detail: `Linear: ${identifier} is in the trash` };
  const item = { itemId: identifier, isCompleted: isClosedType(state.type), status: state.name, id, teamId: team.id };
  return { status: 'ok', value: item };
}

function notDone(what: string): TargetFailure {
  return { status: 'refused', reason: 'REJECTED', detail: `Linear did not ${what}: it answers success: false` };
}
