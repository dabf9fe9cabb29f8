/**
 * The budget's decision as a pure function: the oracle that both stores are compared with, to the bit. docs/protocol.md
 * says what the rules are for. All times are microseconds; doubles, as in Lua and SQL, and the same operations in the same order.
 *
 * GCRA: `tatUs`, the theoretical arrival time, is when the bucket is full again; each token moves it by one interval T. A token
 * is usable from tat + T − burst·T on, so in any window W at most W/T + burst tokens become usable. Tokens beyond the burst are
 * granted ahead of their time, so that they are used on time; interactive work reserves further ahead and so goes first.
 */
import type { AcquireRequest, BudgetMode, Congestion, Grant, Lane, SlotAsk } from '../../src/client/budget/budget.ts';

/** One key's state. */
export interface BudgetState {
  readonly tatUs: number;
  /** The interval when `tatUs` was set; 0 if it never was. */
  readonly gapUs: number;
  /** Where the turns given to waiting processes end, in each lane. */
  readonly turnsUs: Readonly<Record<Lane, number>>;
  /** Until when batch work has had its share. */
  readonly shareUs: number;
  /** No token before; also the time at which a state began. */
  readonly blockedUntilUs: number;
  readonly learnt: Learnt;
  /** Until when callers are known to be kept waiting by the rate. */
  readonly waitedForUntilUs: number;
  /** When the state last changed. If this is in the future, the clock was set back. */
  readonly countedUntilUs: number;
  readonly boundRate: number;
  readonly boundUntilUs: number;
  readonly retries: Retries;
  readonly holders: readonly Holder[];
}

export interface Learnt {
  /** 0: never cut. */
  readonly rateAtCut: number;
  readonly recoverFromUs: number;
  readonly grownUs: number;
}

export interface Retries {
  readonly tenths: number;
  readonly askedAtUs: number;
}

/** One process that has slots or waits for them. */
export interface Holder {
  readonly holder: string;
  readonly seq: number;
  readonly slots: number;
  readonly wanted: number;
  /** Since when it has had slots, or has had none. */
  readonly sinceUs: number;
  readonly expiresAtUs: number;
}

export interface Decision {
  readonly state: BudgetState;
  readonly granted: number;
  /** From now, as the two below; may be negative. */
  readonly firstInUs: number;
  readonly retryInUs: number;
  readonly blockedForUs: number;
  readonly rate: number;
  readonly slots: number;
}

const SHARE: Readonly<Record<Lane, number>> = { interactive: 0, batch: 0.1 };
const NO_LIMIT_US = 1e12;
/** The most one answer grants: this much of the rate. After a cut, other processes use what they had leased for as long. */
export const LEASE_US = 250_000;
/** What a waiting process is promised with its next turn: this much of the rate, at least one call. */
const TURN_US = 50_000;
const MAX_TURNS = 16;
/** How late a process may be for its turn without losing a token; a burst covers the same. */
const LATE_US = 50_000;
const EPSILON = 1e-3;
const FLOOR_RATE = 1 / 60;
export const SLOTS_EXPIRE_US = 15e6;
const MAX_TENTHS = 1000;
const RETRY_TENTHS = 10;

export function newState(nowUs: number): BudgetState {
  return {
    tatUs: 0,
    gapUs: 0,
    turnsUs: { interactive: 0, batch: 0 },
    shareUs: 0,
    blockedUntilUs: nowUs,
    learnt: { rateAtCut: 0, recoverFromUs: 0, grownUs: 0 },
    waitedForUntilUs: 0,
    countedUntilUs: 0,
    boundRate: 0,
    boundUntilUs: 0,
    retries: { tenths: MAX_TENTHS, askedAtUs: 0 },
    holders: [],
  };
}

/** Grants what the state allows now. */
export function decide(known: BudgetState | undefined, request: AcquireRequest, nowUs: number): Decision {
  const before = seenAt(known, nowUs);
  const { lane, cost, pace, slots: ask, bound } = request;
  const withinUs = Math.min((request.withinMs ?? Number.POSITIVE_INFINITY) * 1000, NO_LIMIT_US);
  let { tatUs, shareUs, waitedForUntilUs, boundRate, boundUntilUs } = before;
  let turnsUs = before.turnsUs[lane];
  if (bound && (nowUs >= boundUntilUs || bound.ratePerSecond <= boundRate)) {
    boundRate = bound.ratePerSecond;
    boundUntilUs = nowUs + bound.forMs * 1000;
  }
  const rate = rateNow({ ...before, boundRate, boundUntilUs }, pace, nowUs);
  const intervalUs = 1e6 / rate;
  const burst = pace.mode === 'discover' ? Math.min(pace.burst, 1 + rate * 0.0025) : pace.burst;
  const { slots, holders } = ask ? allot(before.holders, ask, nowUs) : { slots: 0, holders: before.holders };
  const want = request.want + (ask ? Math.max(0, Math.min(ask.extra, slots - ask.holding)) : 0);

  const cellUs = cost * intervalUs;
  const roomUs = Math.max(burst, cost) * intervalUs;
  const turnCalls = Math.max(1, Math.floor(TURN_US / cellUs));
  const batchAheadUs =
    Math.max(0, Math.floor(TURN_US / cellUs) - 1) * cellUs + Math.max(0, LATE_US - (burst - 1) * intervalUs);
  const aheadUs = Math.min(lane === 'interactive' ? 1e6 : batchAheadUs, withinUs);
  const leaseCalls = Math.max(1, Math.floor(LEASE_US / cellUs));
  const stoppedUntilUs = Math.max(nowUs, before.blockedUntilUs);
  if (before.gapUs > 0 && before.gapUs !== intervalUs && tatUs > stoppedUntilUs)
    tatUs = stoppedUntilUs + ((tatUs - stoppedUntilUs) * intervalUs) / before.gapUs;
  tatUs = Math.max(tatUs, nowUs, before.blockedUntilUs + (burst - 1) * intervalUs);
  const firstInUs = tatUs - nowUs + cellUs - roomUs;
  const blockedForUs = Math.max(0, before.blockedUntilUs - nowUs);
  const upTo = (most: number) => Math.max(0, Math.min(want, most, leaseCalls));
  const within = (us: number) => Math.floor((us - firstInUs) / cellUs + 1 + EPSILON);

  let granted = 0;
  let retryInUs = blockedForUs;
  if (blockedForUs === 0) {
    granted = upTo(within(aheadUs));
    const share = SHARE[lane];
    if (share > 0) {
      const spanUs = Math.max(LEASE_US, cellUs / share);
      shareUs = Math.max(shareUs, nowUs - spanUs);
      const earned = Math.floor(((nowUs - shareUs) * share) / cellUs + EPSILON);
      if (granted === 0) granted = upTo(Math.min(earned, within(withinUs)));
      shareUs = Math.min(shareUs + (granted * cellUs) / share, nowUs + spanUs);
    }
    tatUs += granted * cellUs;
    if (granted > 0) waitedForUntilUs = Math.max(waitedForUntilUs, nowUs + firstInUs + (granted - 1) * cellUs);

    if (granted < want) {
      const left = want - granted;
      const turnUs = Math.min(left, turnCalls) * cellUs;
      const turnEndUs = Math.min(Math.max(turnsUs, tatUs), tatUs + (MAX_TURNS - 1) * turnUs) + turnUs;
      retryInUs = turnEndUs - nowUs - roomUs - aheadUs;
      let byShareUs = Number.POSITIVE_INFINITY;
      if (share > 0) {
        const shareCalls = Math.min(left, Math.max(1, Math.floor((TURN_US * share) / cellUs)));
        byShareUs = Math.max(shareUs + (shareCalls * cellUs) / share, tatUs + cellUs - roomUs - withinUs) - nowUs;
      }
      if (byShareUs < retryInUs) retryInUs = byShareUs;
      else turnsUs = turnEndUs;
      if (nowUs < boundUntilUs) retryInUs = Math.min(retryInUs, boundUntilUs - nowUs);
      retryInUs = Math.max(0, retryInUs);
      waitedForUntilUs = Math.max(waitedForUntilUs, nowUs + retryInUs + LATE_US);
    }
  }
  const retries = addSuccesses(before.retries, request.successes ?? 0);
  const moved = {
    tatUs,
    gapUs: intervalUs,
    turnsUs: { ...before.turnsUs, [lane]: turnsUs },
    shareUs,
    waitedForUntilUs,
  };
  const state = { ...before, ...moved, boundRate, boundUntilUs, retries, holders };
  return { state, granted, firstInUs, retryInUs, blockedForUs, rate, slots };
}

/**
 * The state as it is now. On a clock that was set back since, it is as if no time had passed; without a state the key counts as
 * blocked until now.
 */
function seenAt(known: BudgetState | undefined, nowUs: number): BudgetState {
  const state = known ?? newState(nowUs);
  const backUs = Math.max(0, state.countedUntilUs - nowUs);
  const { learnt, turnsUs } = state;
  const blockedUntilUs = state.blockedUntilUs - backUs;
  const waitedForUntilUs = state.waitedForUntilUs - backUs;
  const recoverFromUs = learnt.recoverFromUs - backUs;
  const countedFromUs = Math.max(state.countedUntilUs - backUs, recoverFromUs, blockedUntilUs);
  const grownUs = learnt.grownUs + Math.max(0, Math.min(nowUs, waitedForUntilUs) - countedFromUs);
  return {
    ...state,
    tatUs: state.tatUs - backUs,
    turnsUs: { interactive: turnsUs.interactive - backUs, batch: turnsUs.batch - backUs },
    shareUs: state.shareUs - backUs,
    blockedUntilUs,
    learnt: { ...learnt, recoverFromUs, grownUs },
    waitedForUntilUs,
    countedUntilUs: nowUs,
    boundUntilUs: state.boundUntilUs - backUs,
  };
}

/** No token for `forUs`; a shorter block never shortens a longer one. */
export function block(known: BudgetState | undefined, forUs: number, nowUs: number): BudgetState {
  const state = seenAt(known, nowUs);
  return { ...state, blockedUntilUs: Math.max(state.blockedUntilUs, nowUs + forUs) };
}

/** A 429: blocks the key, and cuts its rate once per congestion. */
export function hear429(
  known: BudgetState | undefined,
  { forMs, admittedAtMs, pace }: Congestion,
  nowUs: number,
): { readonly state: BudgetState; readonly isCut: boolean; readonly rate: number } {
  const blocked = block(known, forMs * 1000, nowUs);
  const { learnt, blockedUntilUs } = blocked;
  const isCut = admittedAtMs * 1000 >= learnt.recoverFromUs;
  const cut = isCut
    ? { rateAtCut: rateNow(blocked, pace, nowUs), grownUs: 0, recoverFromUs: nowUs + LEASE_US }
    : learnt;
  const state = { ...blocked, learnt: { ...cut, recoverFromUs: Math.max(cut.recoverFromUs, blockedUntilUs) } };
  return { state, isCut, rate: rateNow(state, pace, nowUs) };
}

type RateState = Pick<BudgetState, 'learnt' | 'boundRate' | 'boundUntilUs'>;

function rateNow({ learnt, boundRate, boundUntilUs }: RateState, pace: Congestion['pace'], nowUs: number): number {
  const rate = allowedRate(learnt, pace.ratePerSecond, pace.mode ?? 'fixed', nowUs);
  return nowUs < boundUntilUs ? Math.min(rate, Math.max(boundRate, FLOOR_RATE)) : rate;
}

/** Back at 95% of the rate at the cut after 20 s, as CUBIC does (RFC 9438), and slowly from there. */
export function allowedRate(learnt: Learnt, ceiling: number, mode: BudgetMode, nowUs: number): number {
  const { rateAtCut, recoverFromUs, grownUs } = learnt;
  const grownForS = (mode === 'discover' || rateAtCut === 0 ? grownUs : Math.max(0, nowUs - recoverFromUs)) / 1e6;
  const left = 1 - grownForS / 20;
  const probed = grownForS - 20;
  let rate = ceiling;
  if (rateAtCut > 0 && grownForS < 20) rate = rateAtCut * (0.95 - 0.25 * left * left * left);
  else if (rateAtCut > 0 && mode === 'fixed') rate = 0.95 * rateAtCut + 0.0025 * ceiling * probed;
  else if (rateAtCut > 0) rate = rateAtCut * (0.95 + 0.0025 * probed + 1e-6 * probed * probed * probed);
  else if (mode === 'discover') {
    let doublings = grownForS / 4;
    for (rate = 1; doublings >= 1 && rate < ceiling; doublings--) rate *= 2;
    rate *= 1 + Math.min(1, doublings);
  }
  return Math.min(ceiling, Math.max(rate, FLOOR_RATE));
}

/** Gives slots to the process that asks, so that all processes together never have more than the cap. */
export function allot(before: readonly Holder[], ask: SlotAsk, nowUs: number) {
  const latestUs = nowUs + SLOTS_EXPIRE_US;
  const alive = before
    .filter(({ expiresAtUs }) => expiresAtUs > nowUs)
    .map((known) =>
      known.expiresAtUs <= latestUs
        ? known
        : { ...known, sinceUs: Math.min(known.sinceUs, nowUs), expiresAtUs: latestUs },
    );
  const { holder, seq, holding, wanted, cap } = ask;
  const own = alive.find((known) => known.holder === holder);
  const others = alive.filter((known) => known.holder !== holder);
  if (own !== undefined && own.seq >= seq) return { holders: alive, slots: 0 }; // overtaken
  if (wanted === 0 && holding === 0) return { holders: others, slots: 0 };

  const isWaiting = own === undefined || own.slots === 0;
  const sinceUs = own?.sinceUs ?? nowUs;
  const isTurnOver = !isWaiting && nowUs - sinceUs >= 500_000;
  const wanting = others.filter((other) => other.wanted > 0).length + (wanted > 0 ? 1 : 0);
  const share = wanting > 0 ? Math.floor(cap / wanting) : cap;
  let due = 0;
  for (const other of others) {
    if (share >= 1) due += Math.max(other.slots, Math.min(other.wanted, share));
    else if (other.slots > 0) due += other.slots;
    else if (other.wanted > 0 && (isTurnOver || (isWaiting && other.sinceUs < sinceUs))) due += 1;
  }
  const slots = Math.max(0, Math.min(wanted, cap - due));
  const held = Math.max(holding, slots);
  const since = held > 0 === isWaiting ? nowUs : sinceUs;
  const known: Holder = { holder, seq, slots: held, wanted, sinceUs: since, expiresAtUs: latestUs };
  return { holders: [...others, known], slots };
}

export function addSuccesses({ tenths, askedAtUs }: Retries, successes: number): Retries {
  return { tenths: Math.min(MAX_TENTHS, tenths + successes), askedAtUs };
}

export function takeRetry(before: Retries, successes: number, nowUs: number) {
  let { tenths } = addSuccesses(before, successes);
  if (tenths < RETRY_TENTHS) tenths = Math.min(RETRY_TENTHS, tenths + Math.max(0, nowUs - before.askedAtUs) / 1e6);
  const isGranted = tenths >= RETRY_TENTHS - EPSILON;
  const retryInUs = isGranted ? 0 : (RETRY_TENTHS - tenths) * 1e6;
  return {
    retries: { tenths: isGranted ? Math.max(0, tenths - RETRY_TENTHS) : tenths, askedAtUs: nowUs },
    isGranted,
    retryInUs,
  };
}

/** A decision as a store answers it. */
export function grantOf(decision: Decision, cost: number, storeNowMs: number): Grant {
  return {
    granted: decision.granted,
    storeNowMs,
    usableInMs: decision.firstInUs / 1000,
    intervalMs: (cost * (1e6 / decision.rate)) / 1000,
    retryInMs: decision.retryInUs / 1000,
    blockedForMs: decision.blockedForUs / 1000,
    slots: decision.slots,
    ratePerSecond: decision.rate,
  };
}
