/** The states of Linear's teams, each team with its own: which one a wanted state means, remembered for ten minutes. */
import type { Asked } from './item-target.ts';
import { type Query, STATES, type State } from './linear-graphql.ts';
import type { TargetFailure } from './target.ts';
import { describeWanted, isSameName, type Wanted } from './wanted.ts';

const KEPT_MS = 10 * 60_000;
/** Where an issue goes that is open again: what is to be done, before what is merely collected or already begun. */
const OPEN_TYPES = ['unstarted', 'backlog', 'triage', 'started'];

export type Ask = <T>(query: Query<T>, variables: object) => Promise<Asked<T>>;

export interface LinearStates {
  /** The state of the team that is meant by `wanted`. */
  stateFor(ask: Ask, teamId: string, wanted: Wanted): Promise<Asked<State>>;
  /** After a state was refused: it may have been changed since. */
  forget(teamId: string): void;
}

export function openLinearStates(now: () => Date): LinearStates {
  const kept = new Map<string, { readonly states: readonly State[]; readonly untilMs: number }>();

  return {
    async stateFor(ask, teamId, wanted) {
      let states = (kept.get(teamId)?.untilMs ?? 0) > now().getTime() ? kept.get(teamId)?.states : undefined;
      if (states === undefined) {
        const asked = await ask(STATES, { id: teamId });
        if (asked.status !== 'ok') return asked;
        states = asked.value.team.states.nodes.toSorted((a, b) => a.position - b.position);
        kept.set(teamId, { states, untilMs: now().getTime() + KEPT_MS });
      }
      const state = choose(states, wanted);
      return state === undefined ? noState(states, wanted) : { status: 'ok', value: state };
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

function noState(states: readonly State[], wanted: Wanted): TargetFailure {
  const known = states.map(({ name, type }) => `${name} (${type})`).join(', ') || 'none';
  const detail = `Linear: the team has no state that is ${describeWanted(wanted)} (there is: ${known}); add one, or name another in the target's columns`;
  return { status: 'refused', reason: 'NO_STATE', detail };
}
