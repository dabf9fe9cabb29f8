/** A store for the tests of one process: the arithmetic itself on this process's clock, which may be a fake one. */
import { type BudgetState, decide, demandOf } from '../../src/budget/arithmetic.ts';
import type { AcquireRequest, BudgetStore, Grant } from '../../src/budget/budget.ts';

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
  readonly #now: () => number;
  /** As of a key that was known, and idle, for ever: its burst is there. */
  #state: BudgetState = {
    tatUs: 0,
    interactiveTurnsUs: 0,
    batchTurnsUs: 0,
    shareUs: 0,
    blockedUntilUs: -1e12,
  };

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  async acquire(_key: string, request: AcquireRequest): Promise<Grant> {
    await this.#way();
    this.requests.push(request);
    const nowUs = this.#now() * 1000;
    const demand = demandOf(request);
    const { state, granted, firstInUs, retryInUs, blockedForUs } = decide(this.#state, demand, nowUs);
    this.#state = state;
    await this.#way();
    return {
      granted,
      storeNowMs: nowUs / 1000,
      usableInMs: firstInUs / 1000,
      intervalMs: (demand.intervalUs * demand.cost) / 1000,
      retryInMs: retryInUs / 1000,
      blockedForMs: blockedForUs / 1000,
    };
  }

  async block(_key: string, forMs: number): Promise<void> {
    await this.#way();
    const untilUs = (this.#now() + forMs) * 1000;
    this.#state = { ...this.#state, blockedUntilUs: Math.max(this.#state.blockedUntilUs, untilUs) };
  }

  async #way(): Promise<void> {
    if (this.isSilent) await new Promise(() => undefined);
    if (this.away) throw this.away;
    const halfMs = this.latencyMs / 2;
    if (halfMs > 0) await new Promise((resolve) => setTimeout(resolve, halfMs));
  }
}
