/**
 * The budget's decision, pure: GCRA (the generic cell rate algorithm) with two lanes, turns and a block.
 * This is the one truth; the Lua script and the Postgres function mirror it line by line, and a test replays them here.
 * All times are microseconds; doubles, as in Lua and in Postgres, so that the three agree to the bit.
 *
 * `tatUs`, the theoretical arrival time, is when the bucket is full again: each token moves it by one interval T.
 * A token is usable from tat + T − burst·T on, so in any window W at most W/T + burst tokens become usable.
 * Room beyond the burst is reserved *ahead*: tokens of the near future, handed out before their time so that they are
 * used on time. Interactive work reserves further ahead than batch work; so it goes first, without preempting anyone.
 * Batch work earns a share of the rate all the same.
 */
import type { AcquireRequest, Lane } from './budget.ts';

/** One key's durable state. */
export interface BudgetState {
  readonly tatUs: number;
  /** Where the turns given to waiting processes end, a lane: a tat as it will be once they have come back. */
  readonly interactiveTurnsUs: number;
  readonly batchTurnsUs: number;
  /** Until when batch work has had its share. */
  readonly shareUs: number;
  /** No token before; also the moment a state began (see `decide`). */
  readonly blockedUntilUs: number;
}

/** A request in the numbers that Lua and SQL are given. */
export interface Demand {
  readonly lane: Lane;
  readonly want: number;
  readonly cost: number;
  readonly intervalUs: number;
  readonly burst: number;
  /** How far ahead of its time a token may be reserved in this lane. */
  readonly aheadUs: number;
  readonly withinUs: number;
  /** The part of the rate this lane gets in any case; 0 for none. */
  readonly share: number;
}

export interface Decision {
  readonly state: BudgetState;
  readonly granted: number;
  /** All three from now; `firstInUs` may be negative. */
  readonly firstInUs: number;
  readonly retryInUs: number;
  readonly blockedForUs: number;
}

const INTERACTIVE_AHEAD_US = 1e6;
/** How late a process may be for its turn and no token is lost; a burst covers the same. */
const LATE_US = 50_000;
const SHARE: Readonly<Record<Lane, number>> = { interactive: 0, batch: 0.1 };
const NO_LIMIT_US = 1e12;
/** The most one answer grants: this much of the rate. */
export const LEASE_US = 250_000;
/** What a process that has to wait is promised with its next turn: this much of the rate, at least one call. */
export const TURN_US = 50_000;
/** Turns are given to this many processes in a row; more than that share them (and ask more often in vain). */
export const MAX_TURNS = 16;
/** A thousandth of a token, against the rounding of times since 1970. */
export const EPSILON = 1e-3;

export function demandOf(request: AcquireRequest): Demand {
  const intervalUs = 1e6 / request.pace.ratePerSecond;
  const withinUs = request.withinMs === undefined ? NO_LIMIT_US : Math.min(request.withinMs * 1000, NO_LIMIT_US);
  return {
    lane: request.lane,
    want: request.want,
    cost: request.cost,
    intervalUs,
    burst: request.pace.burst,
    aheadUs: Math.min(
      request.lane === 'interactive' ? INTERACTIVE_AHEAD_US : batchAheadUs(request, intervalUs),
      withinUs,
    ),
    withinUs,
    share: SHARE[request.lane],
  };
}

/** No more than it takes to use the whole rate: a person who comes now waits for what batch work has reserved. */
function batchAheadUs({ cost, pace }: AcquireRequest, intervalUs: number): number {
  const afterFirstUs = Math.max(0, Math.floor(TURN_US / (cost * intervalUs)) - 1) * cost * intervalUs;
  return afterFirstUs + Math.max(0, LATE_US - (pace.burst - 1) * intervalUs);
}

/**
 * Grants what the state allows now. Without a state (a new key, or a store that lost it) the key counts as blocked until
 * now, and after a block there is no burst: tokens that nobody remembers may be in use, so it starts at the plain rate.
 */
export function decide(before: BudgetState | undefined, demand: Demand, nowUs: number): Decision {
  const { want, cost, intervalUs, burst, aheadUs, withinUs, share } = demand;
  const cellUs = cost * intervalUs;
  const roomUs = Math.max(burst, cost) * intervalUs; // a call heavier than the burst waits until the bucket is full
  const blockedUntilUs = before?.blockedUntilUs ?? nowUs;
  let tatUs = Math.max(before?.tatUs ?? 0, nowUs, blockedUntilUs + (burst - 1) * intervalUs);
  let shareUs = before?.shareUs ?? 0;
  let turnsUs = (demand.lane === 'interactive' ? before?.interactiveTurnsUs : before?.batchTurnsUs) ?? 0;
  const leaseCalls = Math.max(1, Math.floor(LEASE_US / cellUs));

  let granted = 0;
  let retryInUs = 0;
  const firstInUs = tatUs - nowUs + cellUs - roomUs;
  const blockedForUs = Math.max(0, blockedUntilUs - nowUs);

  if (blockedForUs > 0) {
    retryInUs = blockedForUs;
  } else {
    const free = Math.floor((aheadUs - firstInUs) / cellUs + 1 + EPSILON);
    granted = Math.max(0, Math.min(want, free, leaseCalls));
    if (share > 0) {
      const spanUs = Math.max(LEASE_US, cellUs / share); // neither saved up for longer nor owed for longer
      shareUs = Math.max(shareUs, nowUs - spanUs);
      if (granted === 0) {
        const earned = Math.floor(((nowUs - shareUs) * share) / cellUs + EPSILON);
        const inTime = Math.floor((withinUs - firstInUs) / cellUs + 1 + EPSILON);
        granted = Math.max(0, Math.min(want, earned, inTime, leaseCalls));
      }
      shareUs = Math.min(shareUs + (granted * cellUs) / share, nowUs + spanUs);
    }
    tatUs += granted * cellUs;

    if (granted < want) {
      const left = want - granted;
      const turnUs = Math.min(left, Math.max(1, Math.floor(TURN_US / cellUs))) * cellUs;
      const turnEndUs = Math.min(Math.max(turnsUs, tatUs), tatUs + (MAX_TURNS - 1) * turnUs) + turnUs;
      retryInUs = turnEndUs - nowUs - roomUs - aheadUs;
      let byShareUs = NO_LIMIT_US;
      if (share > 0) {
        const shareCalls = Math.min(left, Math.max(1, Math.floor((TURN_US * share) / cellUs)));
        byShareUs = Math.max(shareUs + (shareCalls * cellUs) / share, tatUs + cellUs - roomUs - withinUs) - nowUs;
      }
      if (byShareUs < retryInUs) retryInUs = byShareUs;
      else turnsUs = turnEndUs;
      retryInUs = Math.max(0, retryInUs);
    }
  }

  const state: BudgetState = {
    tatUs,
    interactiveTurnsUs: demand.lane === 'interactive' ? turnsUs : (before?.interactiveTurnsUs ?? 0),
    batchTurnsUs: demand.lane === 'batch' ? turnsUs : (before?.batchTurnsUs ?? 0),
    shareUs,
    blockedUntilUs,
  };
  return { state, granted, firstInUs, retryInUs, blockedForUs };
}
