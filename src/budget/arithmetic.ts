/**
 * The budget's decision, pure: GCRA (the generic cell rate algorithm) with two lanes, turns and a block, at the rate that
 * was learnt (learning.ts) and for the calls that may be in flight (slots.ts).
 * This is the one truth; the Lua script and the Postgres function mirror it line by line, and a test replays them here.
 * All times are microseconds; doubles, as in Lua and in Postgres, so that the three agree to the bit.
 *
 * `tatUs`, the theoretical arrival time, is when the bucket is full again: each token moves it by one interval T.
 * A token is usable from tat + T − burst·T on, so in any window W at most W/T + burst tokens become usable.
 * Room beyond the burst is reserved *ahead*: tokens of the near future, handed out before their time so that they are
 * used on time. Interactive work reserves further ahead than batch work; so it goes first, without preempting anyone.
 * Batch work earns a share of the rate all the same.
 */
import type { AcquireRequest, BudgetMode, Lane, SlotAsk } from './budget.ts';
import { allowedRate, FLOOR_RATE, type Learnt, learnFrom429, NOTHING_LEARNT } from './learning.ts';
import { ALL_RETRIES, addSuccesses, type Retries } from './retries.ts';
import { allot, type Holder } from './slots.ts';

/** One key's state. */
export interface BudgetState {
  readonly tatUs: number;
  /** Where the turns given to waiting processes end, a lane: a tat as it will be once they have come back. */
  readonly interactiveTurnsUs: number;
  readonly batchTurnsUs: number;
  /** Until when batch work has had its share. */
  readonly shareUs: number;
  /** No token before; also the moment a state began (see `decide`). */
  readonly blockedUntilUs: number;
  readonly learnt: Learnt;
  /** Until when callers are known to be kept waiting by the rate. */
  readonly waitedForUntilUs: number;
  /** When the state last changed; growth is counted up to then. The clock was set back where this lies ahead. */
  readonly countedUntilUs: number;
  /** The service's own headers allow no more than this until then; 0 where they were never heard. */
  readonly boundRate: number;
  readonly boundUntilUs: number;
  readonly retries: Retries;
  readonly holders: readonly Holder[];
}

/** A request in the numbers that Lua and SQL are given. */
export interface Demand {
  readonly lane: Lane;
  readonly want: number;
  readonly cost: number;
  readonly ceiling: number;
  readonly burst: number;
  readonly mode: BudgetMode;
  readonly withinUs: number;
  /** The part of the rate this lane gets in any case; 0 for none. */
  readonly share: number;
  /** 0 for none. */
  readonly boundRate: number;
  readonly boundForUs: number;
  readonly successes: number;
  readonly slots: SlotAsk | undefined;
}

export interface Decision {
  readonly state: BudgetState;
  readonly granted: number;
  /** All three from now; `firstInUs` may be negative. */
  readonly firstInUs: number;
  readonly retryInUs: number;
  readonly blockedForUs: number;
  readonly rate: number;
  readonly slots: number;
}

export const INTERACTIVE_AHEAD_US = 1e6;
/** How late a process may be for its turn and no token is lost; a burst covers the same. */
export const LATE_US = 50_000;
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
/** Of a discovered rate, beyond one call: nobody knows the service's burst. */
export const DISCOVERED_BURST_S = 0.0025;

export function demandOf(request: AcquireRequest): Demand {
  const { lane, want, cost, pace, withinMs, bound, successes = 0, slots } = request;
  return {
    lane,
    want,
    cost,
    ceiling: pace.ratePerSecond,
    burst: pace.burst,
    mode: pace.mode ?? 'fixed',
    withinUs: withinMs === undefined ? NO_LIMIT_US : Math.min(withinMs * 1000, NO_LIMIT_US),
    share: SHARE[lane],
    boundRate: bound?.ratePerSecond ?? 0,
    boundForUs: (bound?.forMs ?? 0) * 1000,
    successes,
    slots,
  };
}

/** A key that nobody remembers. It counts as blocked until now: see `decide`. */
export function newState(nowUs: number): BudgetState {
  return {
    tatUs: 0,
    interactiveTurnsUs: 0,
    batchTurnsUs: 0,
    shareUs: 0,
    blockedUntilUs: nowUs,
    learnt: NOTHING_LEARNT,
    waitedForUntilUs: 0,
    countedUntilUs: 0,
    boundRate: 0,
    boundUntilUs: 0,
    retries: ALL_RETRIES,
    holders: [],
  };
}

/**
 * The state on a clock that was set back since the last decision: as if no time had passed since then. What lay ahead by
 * a second or a block still does, instead of by an hour. No time that has passed is counted twice, so nothing is exceeded.
 */
export function rebase(state: BudgetState, nowUs: number): BudgetState {
  const backUs = state.countedUntilUs - nowUs;
  if (backUs <= 0) return state;
  return {
    ...state,
    tatUs: state.tatUs - backUs,
    interactiveTurnsUs: state.interactiveTurnsUs - backUs,
    batchTurnsUs: state.batchTurnsUs - backUs,
    shareUs: state.shareUs - backUs,
    blockedUntilUs: state.blockedUntilUs - backUs,
    learnt: { ...state.learnt, recoverFromUs: state.learnt.recoverFromUs - backUs },
    waitedForUntilUs: state.waitedForUntilUs - backUs,
    countedUntilUs: nowUs,
    boundUntilUs: state.boundUntilUs - backUs,
  };
}

/**
 * Grants what the state allows now. Without a state (a new key, or a store that lost it) the key counts as blocked until
 * now, and after a block there is no burst: tokens that nobody remembers may be in use, so it starts at the plain rate.
 */
export function decide(known: BudgetState | undefined, demand: Demand, nowUs: number): Decision {
  const before = rebase(known ?? newState(nowUs), nowUs);
  const { cost, withinUs, share } = demand;
  const { blockedUntilUs } = before;
  const learnt = grow(before, nowUs);
  let { boundRate, boundUntilUs } = before;
  if (demand.boundRate > 0 && (nowUs >= boundUntilUs || demand.boundRate <= boundRate)) {
    boundRate = demand.boundRate;
    boundUntilUs = nowUs + demand.boundForUs;
  }
  const rate = rateNow({ learnt, boundRate, boundUntilUs }, demand.ceiling, demand.mode, nowUs);
  const intervalUs = 1e6 / rate;
  const burst = demand.mode === 'discover' ? Math.min(demand.burst, 1 + rate * DISCOVERED_BURST_S) : demand.burst;
  const allotment = demand.slots && allot(before.holders, demand.slots, nowUs);
  const more = demand.slots && allotment ? Math.min(demand.slots.extra, allotment.slots - demand.slots.holding) : 0;
  const want = demand.want + Math.max(0, more);

  const cellUs = cost * intervalUs;
  const roomUs = Math.max(burst, cost) * intervalUs; // a call heavier than the burst waits until the bucket is full
  const aheadUs = Math.min(
    demand.lane === 'interactive' ? INTERACTIVE_AHEAD_US : batchAheadUs(cellUs, burst, intervalUs),
    withinUs,
  );
  let tatUs = Math.max(before.tatUs, nowUs, blockedUntilUs + (burst - 1) * intervalUs);
  let shareUs = before.shareUs;
  let turnsUs = demand.lane === 'interactive' ? before.interactiveTurnsUs : before.batchTurnsUs;
  let { waitedForUntilUs } = before;
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
    if (granted > 0) waitedForUntilUs = Math.max(waitedForUntilUs, nowUs + firstInUs + (granted - 1) * cellUs);

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
      waitedForUntilUs = Math.max(waitedForUntilUs, nowUs + retryInUs + LATE_US);
    }
  }

  const state: BudgetState = {
    tatUs,
    interactiveTurnsUs: demand.lane === 'interactive' ? turnsUs : before.interactiveTurnsUs,
    batchTurnsUs: demand.lane === 'batch' ? turnsUs : before.batchTurnsUs,
    shareUs,
    blockedUntilUs,
    learnt,
    waitedForUntilUs,
    countedUntilUs: nowUs,
    boundRate,
    boundUntilUs,
    retries: addSuccesses(before.retries, demand.successes),
    holders: allotment?.holders ?? before.holders,
  };
  return { state, granted, firstInUs, retryInUs, blockedForUs, rate, slots: allotment?.slots ?? 0 };
}

/** No more than it takes to use the whole rate: a person who comes now waits for what batch work has reserved. */
function batchAheadUs(cellUs: number, burst: number, intervalUs: number): number {
  const afterFirstUs = Math.max(0, Math.floor(TURN_US / cellUs) - 1) * cellUs;
  return afterFirstUs + Math.max(0, LATE_US - (burst - 1) * intervalUs);
}

/** Counts the time since the last decision in which callers waited and the key was not blocked. */
function grow(before: BudgetState, nowUs: number): Learnt {
  const { learnt, waitedForUntilUs, countedUntilUs, blockedUntilUs } = before;
  const fromUs = Math.max(countedUntilUs, learnt.recoverFromUs, blockedUntilUs);
  return { ...learnt, grownUs: learnt.grownUs + Math.max(0, Math.min(nowUs, waitedForUntilUs) - fromUs) };
}

function rateNow(
  { learnt, boundRate, boundUntilUs }: Pick<BudgetState, 'learnt' | 'boundRate' | 'boundUntilUs'>,
  ceiling: number,
  mode: BudgetMode,
  nowUs: number,
): number {
  const rate = allowedRate(learnt, ceiling, mode, nowUs);
  return nowUs < boundUntilUs ? Math.min(rate, Math.max(boundRate, FLOOR_RATE)) : rate;
}

export interface Refusal {
  readonly forUs: number;
  readonly admittedAtUs: number;
  readonly ceiling: number;
  readonly mode: BudgetMode;
}

/** No token for `forUs`; a shorter block never shortens a longer one. */
export function block(known: BudgetState | undefined, forUs: number, nowUs: number): BudgetState {
  const before = rebase(known ?? newState(nowUs), nowUs);
  const blockedUntilUs = Math.max(before.blockedUntilUs, nowUs + forUs);
  return { ...before, blockedUntilUs, learnt: grow(before, nowUs), countedUntilUs: nowUs };
}

/** A 429: blocks the key, and cuts its rate once per congestion. */
export function hear429(
  known: BudgetState | undefined,
  { forUs, admittedAtUs, ceiling, mode }: Refusal,
  nowUs: number,
): { readonly state: BudgetState; readonly isCut: boolean; readonly rate: number } {
  const blocked = block(known, forUs, nowUs);
  const { blockedUntilUs } = blocked;
  const rate = rateNow(blocked, ceiling, mode, nowUs);
  const { learnt, isCut } = learnFrom429(blocked.learnt, { rate, admittedAtUs, blockedUntilUs }, nowUs);
  const state = { ...blocked, learnt };
  return { state, isCut, rate: rateNow(state, ceiling, mode, nowUs) };
}
