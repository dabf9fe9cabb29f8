/** A store for the tests of one process: the oracle itself, on this process's clock, which may be a fake one. */
import type {
  AcquireRequest,
  BudgetStore,
  Congestion,
  Cut,
  Grant,
  RetryTaken,
} from '../../../src/client/budget/budget.ts';
import { type BudgetState, block, decide, grantOf, hear429, newState, takeRetry } from '../../support/budget-oracle.ts';

export class SimulatedStore implements BudgetStore {
  readonly name = 'the simulated store';
  readonly remedy = 'none';
  readonly requests: AcquireRequest[] = [];
  /** Calls of every kind. */
  calls = 0;
  /** Tokens, used or not. */
  granted = 0;
  /** Time that a call takes to the store and back. */
  latencyMs = 0;
  /** When set, every call throws this error. */
  away: Error | undefined;
  /** When set, no call ever returns. */
  isSilent = false;
  /** A key that is known and has been idle for long, so its whole burst is available. */
  state: BudgetState = newState(-1e12);
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  async acquire(_key: string, request: AcquireRequest): Promise<Grant> {
    await this.#begin();
    this.requests.push(request);
    const nowUs = this.#now() * 1000;
    const decision = decide(this.state, request, nowUs);
    this.state = decision.state;
    this.granted += decision.granted;
    await this.#way();
    return grantOf(decision, request.cost, nowUs / 1000);
  }

  async block(_key: string, forMs: number): Promise<void> {
    await this.#begin();
    this.state = block(this.state, forMs * 1000, this.#now() * 1000);
  }

  async limited(_key: string, congestion: Congestion): Promise<Cut> {
    await this.#begin();
    const nowUs = this.#now() * 1000;
    const { state, isCut, rate } = hear429(this.state, congestion, nowUs);
    this.state = state;
    await this.#way();
    return { isCut, ratePerSecond: rate, storeNowMs: nowUs / 1000 };
  }

  async holders(): Promise<readonly string[]> {
    await this.#begin();
    return this.state.holders.map(({ holder }) => holder);
  }

  async forget(_key: string, gone: string): Promise<void> {
    await this.#begin();
    this.state = { ...this.state, holders: this.state.holders.filter(({ holder }) => holder !== gone) };
  }

  async retry(_key: string, successes: number): Promise<RetryTaken> {
    await this.#begin();
    const { retries, isGranted, retryInUs } = takeRetry(this.state.retries, successes, this.#now() * 1000);
    this.state = { ...this.state, retries };
    return isGranted ? { status: 'granted' } : { status: 'empty', retryAfterMs: Math.ceil(retryInUs / 1000) };
  }

  #begin(): Promise<void> {
    this.calls++;
    return this.#way();
  }

  async #way(): Promise<void> {
    if (this.isSilent) await new Promise(() => undefined);
    if (this.away) throw this.away;
    const halfMs = this.latencyMs / 2;
    if (halfMs > 0) await new Promise((resolve) => setTimeout(resolve, halfMs));
  }
}
