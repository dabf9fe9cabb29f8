/**
 * The rate a key is used at, learnt from 429 answers. Pure, and mirrored in Lua and SQL: nothing but + − × ÷ and
 * comparisons, in this order, so that the three agree to the bit. Rates are tokens a second, times microseconds.
 *
 * A 429 cuts the rate to 70%, once per congestion. From there it grows as CUBIC does (RFC 9438), with the rate at which it
 * was cut as memory: fast at first, back at 95% of it after 20 s, and slowly from there, so that most of the time is spent
 * just below what the service bore. Where the owner has named the rate it is the end of all growth. A rate that is
 * discovered starts at one a second and doubles every 4 s until the first 429; later it grows beyond what it remembers
 * slowly at first and faster the longer nothing goes wrong: the service may allow more than it did.
 *
 * A fixed rate grows with the time since the block ended. A discovered one grows only while callers are kept waiting by
 * it: a rate that nobody uses has not been tried.
 */
import type { BudgetMode } from './budget.ts';

export interface Learnt {
  /** 0: never cut. */
  readonly rateAtCut: number;
  /** When the cut took hold everywhere and its block had ended: growth counts from here. */
  readonly recoverFromUs: number;
  /** For how long, since then, callers were kept waiting by the rate. */
  readonly grownUs: number;
}

export const CUT_TO = 0.7;
export const REMEMBERED = 0.95;
const LOST = REMEMBERED - CUT_TO;
export const RETURN_S = 20;
export const DOUBLING_S = 4;
/** A second, of the ceiling where the rate is fixed, of the rate remembered where it is discovered. */
export const PROBING = 0.0025;
export const PROBING_FASTER = 1e-6;
export const START_RATE = 1;
/** One a minute: enough to notice that the service answers again. */
export const FLOOR_RATE = 1 / 60;
/** Other processes use what they have leased for so long after a cut: their 429s are of the same congestion. */
export const HEARD_AFTER_US = 250_000;

export const NOTHING_LEARNT: Learnt = { rateAtCut: 0, recoverFromUs: 0, grownUs: 0 };

/** What the key may be used at now: never above the ceiling, and above nothing only by the floor. */
export function allowedRate(learnt: Learnt, ceiling: number, mode: BudgetMode, nowUs: number): number {
  const { rateAtCut, recoverFromUs, grownUs } = learnt;
  let rate = ceiling;
  if (rateAtCut > 0) {
    const grownFor = (mode === 'discover' ? grownUs : Math.max(0, nowUs - recoverFromUs)) / 1e6;
    if (grownFor < RETURN_S) {
      const left = 1 - grownFor / RETURN_S;
      rate = rateAtCut * (REMEMBERED - LOST * left * left * left);
    } else {
      const probed = grownFor - RETURN_S;
      if (mode === 'discover') {
        rate = rateAtCut * (REMEMBERED + PROBING * probed + PROBING_FASTER * probed * probed * probed);
      } else {
        rate = REMEMBERED * rateAtCut + PROBING * ceiling * probed;
      }
    }
  } else if (mode === 'discover') {
    let doublings = grownUs / 1e6 / DOUBLING_S;
    rate = START_RATE;
    while (doublings >= 1 && rate < ceiling) {
      rate = rate * 2;
      doublings = doublings - 1;
    }
    rate = rate * (1 + Math.min(1, doublings));
  }
  return Math.min(ceiling, Math.max(rate, FLOOR_RATE));
}

/** What is known after a 429 for a call let go at `admittedAtUs`; `rate` is what the key was used at. */
export function learnFrom429(
  learnt: Learnt,
  given: { readonly rate: number; readonly admittedAtUs: number; readonly blockedUntilUs: number },
  nowUs: number,
): { readonly learnt: Learnt; readonly isCut: boolean } {
  const isCut = given.admittedAtUs >= learnt.recoverFromUs;
  const takesHoldUs = isCut ? nowUs + HEARD_AFTER_US : learnt.recoverFromUs;
  return {
    isCut,
    learnt: {
      rateAtCut: isCut ? given.rate : learnt.rateAtCut,
      recoverFromUs: Math.max(takesHoldUs, given.blockedUntilUs),
      grownUs: isCut ? 0 : learnt.grownUs,
    },
  };
}
