import type pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import type { Delivery, DeliveryOutcome } from '../../../src/contract/target.ts';
import { makePool } from '../../../src/storage/pool.ts';
import { freshLedger } from '../../engine/ledger/fresh-ledger.ts';
import { byLength } from '../../support/property-runs.ts';
import { change, DELIVERED, deliveringOf, FAILED, forgetDeliveries, hasOpen, queue } from './delivery-worlds.ts';
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts';

const TASKS = 20;
const ROUNDS = 8;
const TARGETS = ['hook', 'mail'];

const pools: pg.Pool[] = [];
const database = await freshLedger();
for (let n = 0; n < 8; n++) pools.push(makePool({ ...database.connection, max: 2 }));
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.end()));
  await database.close();
});

interface Call extends Delivery {
  readonly target: string;
  readonly isTaken: boolean;
}

/** Every call of eight processes, each on connections of its own, while random tasks change again and again. */
async function calls(random: () => number, clock: VirtualClock): Promise<readonly Call[]> {
  const made: Call[] = [];
  const tries = new Map<string, number>();
  const answer =
    (target: string) =>
    (delivery: Delivery): DeliveryOutcome => {
      const tried = (tries.get(delivery.id) ?? 0) + 1;
      tries.set(delivery.id, tried);
      const dice = tried > 2 ? 0 : random(); // more failures would mean hours of waiting
      made.push({ ...delivery, target, isTaken: dice < 0.6 });
      if (dice < 0.6) return DELIVERED;
      return dice < 0.9 ? FAILED : { ...FAILED, isLimited: true, retryAfterMs: 1_000 };
    };
  const targets = Object.fromEntries(TARGETS.map((target) => [target, answer(target)]));
  const started = pools.map((pool) => deliveringOf({ pool, targets, clock }));
  const versions = new Map<number, number>();
  for (let round = 0; round < ROUNDS; round++) {
    const touched = Array.from({ length: TASKS }, (_, id) => id).filter(() => random() < 0.5);
    for (const id of touched) versions.set(id, (versions.get(id) ?? 0) + 1);
    await queue(
      database,
      touched.map((id) => change(id, versions.get(id))),
      TARGETS,
    );
    await clock.pass(random() * 8_000, 1_000);
  }
  await clock.passUntil(async () => !(await hasOpen(database)), 5_000);
  let open = started.length;
  for (const delivering of started) void delivering.close().finally(() => open--);
  await clock.passUntil(() => open === 0);
  return made;
}

test.each(byLength({ few: [1], all: [1, 2, 3, 4] }))(
  'every task reaches every target in order and in its last state, despite failures (seed %d)',
  async (seed) => {
    await forgetDeliveries(database);
    const made = await calls(seeded(seed), createVirtualClock([database.pool, ...pools]));
    const last = await database.pool.query<{ target: string; task_id: string; sequence: number }>(
      'select target, task_id, max(sequence) as sequence from ledger.deliveries group by 1, 2',
    );
    expect(last.rows.length).toBeGreaterThan(TASKS);
    for (const { target, task_id, sequence } of last.rows) {
      const its = made.filter((call) => call.target === target && call.task.id === task_id);
      const sequences = its.map((call) => call.sequence);
      expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
      expect(its.at(-1)).toMatchObject({ sequence, isTaken: true });
      expect(its.filter((call) => call.sequence === sequence && call.isTaken)).toHaveLength(1);
    }
    const payloads = made.map(({ id, isTaken: _, ...rest }) => [id, JSON.stringify(rest)] as const);
    expect(new Set(payloads.map(String)).size).toBe(new Map(payloads).size);
  },
  60_000,
);

/** Mulberry32: the same numbers for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
