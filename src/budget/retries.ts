/**
 * The retries a key has left: 100 at most and at first, one less a retry, a tenth more a success; so that in a bad hour
 * repeated calls are a tenth of the calls that go well, and not a multiple of all. Counted in tenths. Pure, and mirrored
 * in Lua and SQL. An empty budget still gives one retry every ten seconds: else work that consists of retries alone
 * would never notice that the service is well again.
 */

export interface Retries {
  readonly tenths: number;
  /** When a retry was last asked for. */
  readonly askedAtUs: number;
}

export const MAX_TENTHS = 1000;
export const RETRY_TENTHS = 10;
const EPSILON = 1e-3;

export const ALL_RETRIES: Retries = { tenths: MAX_TENTHS, askedAtUs: 0 };

export function addSuccesses({ tenths, askedAtUs }: Retries, successes: number): Retries {
  return { tenths: Math.min(MAX_TENTHS, tenths + successes), askedAtUs };
}

export interface RetryDecision {
  readonly retries: Retries;
  readonly isGranted: boolean;
  readonly retryInUs: number;
}

export function takeRetry(before: Retries, successes: number, nowUs: number): RetryDecision {
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
