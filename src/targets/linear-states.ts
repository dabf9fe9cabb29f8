/** The states of Linear's teams, each team with its own: which one a wanted state means, remembered for ten minutes. */
import type { z } from 'zod';
import type { Asked } from './item-calls.ts';
import type { ItemFailure, Missing } from './item-outcome.ts';
import { STATES, statesAnswer } from './linear-graphql.ts';
import { describeWanted, isSameName, type Wanted } from './wanted.ts';

const KEPT_MS = 10 * 60_000;
/** Where an issue goes that is open again: what is to be done, before what is merely collected or already begun. */
const OPEN_TYPES = ['unstarted', 'backlog', 'triage', 'started'];

type State = z.output<typeof statesAnswer>['data']['team']['states']['nodes'][number];
type Query = <T>(query: string, variables: object, schema: z.ZodType<T>) => Promise<Asked<T>>;

export interface LinearStates {
  /** The state of the team that is meant by `wanted`. */
  stateFor(
    query: Query,
    teamId: string,
    wanted: Wanted,
  ): Promise<{ status: 'ok'; state: State } | Missing | ItemFailure>;
  /** After a state was refused: it may have been changed since. */
  forget(teamId: string): void;
}

export function openLinearStates(now: () => Date): LinearStates {
  const kept = new Map<string, { readonly states: readonly State[]; readonly untilMs: number }>();

  return {
    async stateFor(query, teamId, wanted) {
      let states = (kept.get(teamId)?.untilMs ?? 0) > now().getTime() ? kept.get(teamId)?.states : undefined;
      if (states === undefined) {
        const asked = await query(STATES, { id: teamId }, statesAnswer);
        if (asked.status !== 'ok') return asked;
        states = asked.value.data.team.states.nodes.toSorted((a, b) => a.position - b.position);
        kept.set(teamId, { states, untilMs: now().getTime() + KEPT_MS });
      }
      const state = choose(states, wanted);
      return state === undefined ? noState(states, wanted) : { status: 'ok', state };
    },
    forget: (teamId) => void kept.delete(teamId),
  };
}

/** `states`: in the order of their positions, the first of a type is its usual one. */
function choose(states: readonly State[], wanted: Wanted): State | undefined {
  if (wanted.status === 'named') return states.find(({ name }) => isSameName(name, wanted.name));
  const types = wanted.status === 'completed' ? ['completed'] : OPEN_TYPES;
  return types.flatMap((type) => states.filter((state) => state.type === type))[0];
}

function noState(states: readonly State[], wanted: Wanted): ItemFailure {
  const known = states.map(({ name, type }) => `${name} (${type})`).join(', ') || 'none';
  const detail = `Linear: the team has no state that is ${describeWanted(wanted)} (there is: ${known}); add one, or name another in the target's columns`;
  return { status: 'refused', reason: 'NO_STATE', detail };
}
