/** Compares a store of the budget with the oracle, to the bit. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import type { AcquireRequest, Lane } from '../../../src/client/budget/budget.ts';
import { allowedRate, type BudgetState, decide, grantOf, hear429 } from '../../support/budget-oracle.ts';
import type { StoreSuite } from './store-suite.ts';

export const SLOW = { ratePerSecond: 10, burst: 3 };

export function newKey(): string {
  return `demo-${randomBytes(6).toString('hex')}`;
}

export function request(given: Partial<AcquireRequest>): AcquireRequest {
  return { lane: 'batch', want: 1, cost: 1, pace: SLOW, ...given };
}

export function testAgainstOracle({
  open,
  setLearnt,
  moveTimes,
}: Pick<StoreSuite, 'open' | 'setLearnt' | 'moveTimes'>): void {
  test('decides exactly what the oracle decides, for any asks in any order', async () => {
    const store = await open();
    const { random, pick } = seeded(7);
    for (let keys = 0; keys < 24; keys++) {
      const key = newKey();
      const mode = pick(['fixed', 'discover'] as const);
      const pace = {
        ...pick([SLOW, { ratePerSecond: 197.3, burst: 2.7 }, { ratePerSecond: 1980, burst: 12.84 }]),
        mode,
      };
      const seqs = { a: 0, b: 0, c: 0 };
      let state: BudgetState | undefined;
      for (let step = 0; step < 40; step++) {
        if (state && random() < 0.15) {
          const passedMs = pick([60, 700, 20_000]);
          await moveTimes(key, -passedMs);
          state = earlier(state, passedMs * 1000);
        }
        if (random() < 0.1) {
          const admittedAtMs = pick([0, (state?.countedUntilUs ?? 0) / 1000, 9e12]);
          const congestion = { forMs: pick([0, 0, 0.004, 2]), admittedAtMs, pace };
          const cut = await store.limited(key, congestion);
          const heard = hear429(state, congestion, Math.round(cut.storeNowMs * 1000));
          state = heard.state;
          expect(cut).toMatchObject({ isCut: heard.isCut, ratePerSecond: heard.rate });
        }
        const holder = pick(['a', 'b', 'c'] as const);
        seqs[holder] += pick([1, 1, 1, 0]);
        const [holding, wanted] = [pick([0, 0, 1, 4]), pick([0, 1, 4, 30])];
        const slots = { holder, seq: seqs[holder], holding, wanted, cap: pick([2, 16]), extra: pick([0, 0, 3]) };
        const asked: AcquireRequest = {
          lane: pick<Lane>(['interactive', 'batch']),
          want: pick([0, 1, 5, 300]),
          cost: pick([1, 1, 3]),
          withinMs: pick([1e9, 0, 40]),
          pace,
          slots: pick([slots, slots, undefined]),
          bound: pick([undefined, undefined, undefined, { ratePerSecond: 7.3, forMs: 1.5 }]),
          successes: pick([0, 3]),
        };
        const grant = await store.acquire(key, asked);
        const decision = decide(state, asked, Math.round(grant.storeNowMs * 1000));
        state = decision.state;
        expect(grant).toEqual(grantOf(decision, asked.cost, grant.storeNowMs));
      }
    }
  });

  test.each(['fixed', 'discover'] as const)(
    'a %s rate grows in the store exactly as in the oracle, at every time after a cut',
    async (mode) => {
      const store = await open();
      const key = newKey();
      const pace = { ratePerSecond: 8123.3, burst: 3, mode };
      const asked = request({ want: 0, pace });
      for (const grownS of [0, 0.3, 7, 19.99, 20.01, 45.5, 300, 1e6]) {
        for (const rateAtCut of [613.7, 0.001, 0]) {
          const { storeNowMs } = await store.acquire(key, asked);
          const learnt = {
            rateAtCut,
            recoverFromUs: Math.round((storeNowMs - grownS * 1000) * 1000),
            grownUs: grownS * 1e6,
          };
          await setLearnt(key, learnt);
          const grant = await store.acquire(key, asked);
          const nowUs = Math.round(grant.storeNowMs * 1000);
          expect(grant.ratePerSecond).toBe(allowedRate(learnt, pace.ratePerSecond, mode, nowUs));
        }
      }
    },
  );
}

/** The state after `us` more have passed. */
function earlier(state: BudgetState, us: number): BudgetState {
  return {
    ...state,
    tatUs: state.tatUs - us,
    turnsUs: { interactive: state.turnsUs.interactive - us, batch: state.turnsUs.batch - us },
    shareUs: state.shareUs - us,
    blockedUntilUs: state.blockedUntilUs - us,
    learnt: { ...state.learnt, recoverFromUs: state.learnt.recoverFromUs - us },
    waitedForUntilUs: state.waitedForUntilUs - us,
    countedUntilUs: state.countedUntilUs - us,
    boundUntilUs: state.boundUntilUs - us,
    retries: { ...state.retries, askedAtUs: state.retries.askedAtUs - us },
    holders: state.holders.map((holder) => ({
      ...holder,
      sinceUs: holder.sinceUs - us,
      expiresAtUs: holder.expiresAtUs - us,
    })),
  };
}

/** Mulberry32: the same numbers in every run. */
function seeded(seed: number) {
  let state = seed;
  const random = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T; // never empty
  return { random, pick };
}
