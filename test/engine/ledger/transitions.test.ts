/** A row changes its state only by the named statements, and each statement follows the table of transitions. */
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { type Claim, dropClaims, takeClaim } from '../../../src/engine/ledger/claims.ts';
import { addRows } from '../../../src/engine/ledger/inputs.ts';
import {
  type Attempt,
  type ClaimedRow,
  claimRows,
  openRows,
  recordAttempts,
  rowsLeft,
} from '../../../src/engine/ledger/rows.ts';
import type { Run } from '../../../src/engine/ledger/runs.ts';
import {
  planRows,
  reopenRows,
  reviseRows,
  sendAgain,
  settleRows,
  unplanRows,
} from '../../../src/engine/ledger/transitions.ts';
import { runs } from '../../support/property-runs.ts';
import { mostRows } from '../../support/statement-work.ts';
import { aRun, freshLedger, rowsOf, WORKER } from './fresh-ledger.ts';

const ROWS = 6;

/** The start and end states of each statement. As the diagram in the README of the ledger. */
const TRANSITIONS = {
  plan: { from: ['staged'], to: ['ready'] },
  unplan: { from: ['ready'], to: ['staged'] },
  claim: { from: ['ready'], to: ['intent'] },
  record: { from: ['intent'], to: ['acked', 'unknown', 'ready', 'settled'] },
  lose: { from: ['intent'], to: ['unknown'] },
  sendAgain: { from: ['acked', 'unknown'], to: ['ready'] },
  settle: { from: ['staged', 'ready', 'intent', 'acked', 'unknown'], to: ['settled'] },
  revise: { from: ['settled'], to: ['settled'] },
  reopen: { from: ['ready', 'acked', 'unknown', 'settled'], to: ['staged'] },
} as const;

const database = await freshLedger();
afterAll(() => database.close());

interface World {
  readonly run: Run;
  claim: Claim | undefined;
  held: readonly ClaimedRow[];
}

type Statement = keyof typeof TRANSITIONS;
type Act = (world: World, rows: readonly number[]) => Promise<unknown>;

const chosen = (columns: string) => (rows: readonly number[]) => ({
  sql: `select n${columns} from unnest($2::bigint[]) as t (n)`,
  values: [rows],
});
const PLANNED = chosen(`, 'create' as action, null as record_id, null::jsonb as fields, null::jsonb as was`);
const JUDGED = chosen(`, 'review' as verdict, 'GAVE_UP' as reason, null::jsonb as facts, null as record_id`);
const OUTCOMES: readonly Pick<Attempt, 'outcome' | 'verdict'>[] = [
  { outcome: 'acked' },
  { outcome: 'unknown' },
  { outcome: 'unsent' },
  { outcome: 'refused', verdict: 'rejected' },
];

const acts: Readonly<Record<Statement, Act>> = {
  plan: ({ run }, rows) => planRows(database.pool, run.id, PLANNED(rows)),
  unplan: ({ run }, rows) => unplanRows(database.pool, run.id, chosen('')(rows)),
  async claim(world, rows) {
    world.claim ??= await takeClaim(database.pool, world.run.id, WORKER, { kind: 'shared', ttlMs: 60_000 });
    if (world.claim) world.held = [...world.held, ...(await claimRows(database.pool, world.claim, rows.length))];
  },
  async record(world, rows) {
    const { claim, held } = world;
    if (!claim) return;
    const known = held.filter(({ n }) => rows.includes(n));
    const attempts = known.map(
      (row): Attempt => ({ ...row, sends: row.sends + 1, ...OUTCOMES[row.n % OUTCOMES.length] }) as Attempt,
    );
    expect(await recordAttempts(database.pool, claim, attempts)).toBe(attempts.length);
    world.held = held.filter((row) => !known.includes(row));
  },
  async lose(world) {
    if (world.claim) await dropClaims(database.pool, [world.claim.id]);
    world.claim = undefined;
    world.held = [];
  },
  sendAgain: ({ run }, rows) => sendAgain(database.pool, run.id, chosen(', null as action')(rows)),
  settle: ({ run }, rows) => settleRows(database.pool, run.id, JUDGED(rows)),
  revise: ({ run }, rows) => reviseRows(database.pool, run.id, JUDGED(rows)),
  reopen: ({ run }, rows) => reopenRows(database.pool, run.id, chosen('')(rows)),
};

async function statesOf(run: Run): Promise<readonly string[]> {
  return (await rowsOf(database, run)).map(({ state }) => String(state));
}

const statement = fc.constantFrom(...(Object.keys(acts) as Statement[]));
const rows = fc.subarray(
  Array.from({ length: ROWS }, (_, n) => n),
  { minLength: 1 },
);
const history = fc.array(fc.record({ statement, rows }), { minLength: 1, maxLength: 40 });

test('in any order of statements, each row moves only as its statement allows', async () => {
  await fc.assert(
    fc.asyncProperty(history, async (steps) => {
      const run = await aRun(database);
      const world: World = { run, claim: undefined, held: [] };
      await addRows(
        database.pool,
        run.id,
        Array.from({ length: ROWS }, (_, n) => ({ n, label: String(n) })),
      );
      let before = await statesOf(run);
      for (const step of steps) {
        await acts[step.statement](world, step.rows);
        const after = await statesOf(run);
        const { from, to }: { from: readonly string[]; to: readonly string[] } = TRANSITIONS[step.statement];
        for (const [n, state] of after.entries()) {
          const was = before[n] ?? '';
          if (state !== was)
            expect([step.statement, from.includes(was) && to.includes(state)]).toEqual([step.statement, true]);
        }
        const counted = await openRows(database.pool, run.id);
        for (const [state, count] of Object.entries(counted))
          expect([state, count]).toEqual([state, after.filter((one) => one === state).length]);
        const { staged, ready, intent, acked, unknown } = counted;
        const left = await rowsLeft(database.pool, run.id);
        const toSettle = left.planned === 0 ? staged : acked + unknown;
        expect(left).toMatchObject({ toSend: ready + intent, toSettle });
        before = after;
      }
      if (world.claim) await dropClaims(database.pool, [world.claim.id]);
    }),
    runs(30),
  );
});

test('a row that is claimed and recorded is never given to two claims at once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 2, maxLength: 6 }), async (limits) => {
      const run = await aRun(database);
      await addRows(
        database.pool,
        run.id,
        Array.from({ length: ROWS }, (_, n) => ({ n, label: String(n) })),
      );
      await planRows(database.pool, run.id, PLANNED(Array.from({ length: ROWS }, (_, n) => n)));
      const claims = await Promise.all(
        limits.map(() => takeClaim(database.pool, run.id, WORKER, { kind: 'shared', ttlMs: 60_000 })),
      );
      const given = await Promise.all(
        claims.map((claim, i) => (claim ? claimRows(database.pool, claim, limits[i] ?? 1) : [])),
      );
      const numbers = given.flat().map(({ n }) => n);
      expect(new Set(numbers).size).toBe(numbers.length);
    }),
    { numRuns: 20 },
  );
});

test('counts rows that are left without comparing every row with every verdict, where Postgres has no statistics of the run', async () => {
  const rows = 2_000;
  const { pool } = database;
  const fill = (run: Run) =>
    pool.query(
      `with staged as (insert into ledger.inputs (run_id, n) select $1, n from generate_series(1, $2) n),
         planned as (insert into ledger.plans (run_id, n, action) select $1, n, 'create' from generate_series(1, $2) n)
       insert into ledger.verdicts (run_id, n, verdict, reason) select $1, n, 'review', 'GAVE_UP' from generate_series(1, $2) n`,
      [run.id, rows],
    );
  await fill(await aRun(database));
  await pool.query('analyze ledger.plans, ledger.verdicts');
  const run = await aRun(database);
  await fill(run);
  const most = await mostRows(database, async (watched) => {
    expect(await rowsLeft(watched, run.id)).toEqual({ planned: rows, toSend: 0, toSettle: 0 });
    expect(await openRows(watched, run.id)).toMatchObject({ ready: 0, settled: rows });
  });
  expect(most).toBeLessThan(10 * rows);
});
