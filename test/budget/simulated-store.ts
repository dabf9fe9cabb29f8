/** A store for the tests of one process: the arithmetic itself on this process's clock, which may be a fake one. */
import { type BudgetState, block, decide, demandOf, hear429, newState } from '../../src/budget/arithmetic.ts';
import type { AcquireRequest, BudgetStore, Congestion, Cut, Grant, RetryTaken } from '../../src/budget/budget.ts';
import { takeRetry } from '../../src/budget/retries.ts';

export class SimulatedStore implements BudgetStore {
  readonly name = 'the simulated store';
  readonly remedy = 'none';
  readonly requests: AcquireRequest[] = [];
  /** The way to the store and back. */
  latencyMs = 0;
  /** Set, every call throws it. */
  away: Error | undefined;
  /** Set, no call ever returns. */
  isSilent = false;
  /** As of a key that was known, and idle, for ever: its burst is there. */
  state: BudgetState = newState(-1e12);
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  async acquire(_key: string, request: AcquireRequest): Promise<Grant> {
    await this.#way();
    this.requests.push(request);
    const nowUs = this.#now() * 1000;
    const decision = decide(this.state, demandOf(request), nowUs);
    this.state = decision.state;
    await this.#way();
    return grantOf(decision, request.cost, nowUs / 1000);
  }

  async block(_key: string, forMs: number): Promise<void> {
    await this.#way();
    this.state = block(this.state, forMs * 1000, this.#now() * 1000);
  }

  async limited(_key: string, { forMs, admittedAtMs, pace }: Congestion): Promise<Cut> {
    await this.#way();
    const { ratePerSecond: ceiling, mode = 'fixed' } = pace;
    const refusal = { forUs: forMs * 1000, admittedAtUs: admittedAtMs * 1000, ceiling, mode };
    const nowUs = this.#now() * 1000;
    const { state, isCut, rate } = hear429(this.state, refusal, nowUs);
    this.state = state;
    await this.#way();
    return { isCut, ratePerSecond: rate, storeNowMs: nowUs / 1000 };
  }

  async holders(): Promise<readonly string[]> {
    await this.#way();
    return this.state.holders.map(({ holder }) => holder);
  }

  async forget(_key: string, gone: string): Promise<void> {
    await this.#way();
    this.state = { ...this.state, holders: this.state.holders.filter(({ holder }) => holder !== gone) };
  }

  async retry(_key: string, successes: number): Promise<RetryTaken> {
    await this.#way();
    const { retries, isGranted, retryInUs } = takeRetry(this.state.retries, successes, this.#now() * 1000);
    this.state = { ...this.state, retries };
    return isGranted ? { status: 'granted' } : { status: 'empty', retryAfterMs: Math.ceil(retryInUs / 1000) };
  }

  async #way(): Promise<void> {
    if (this.isSilent) await new Promise(() => undefined);
    if (this.away) throw this.away;
    const halfMs = this.latencyMs / 2;
    if (halfMs > 0) await new Promise((resolve) => setTimeout(resolve, halfMs));
  }
}

/** A decision as a store answers it. */
export function grantOf(decision: ReturnType<typeof decide>, cost: number, storeNowMs: number): Grant {
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
