/**
 * Loads of overlapping files side by side that fail, are cancelled, resumed, retried and begun again at any moment:
 * a service that shows what it has created is never sent one order twice.
 */
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { type Claim, dropClaims, takeClaim } from '../../../../src/engine/ledger/claims.ts';
import { decideOrders } from '../../../../src/engine/ledger/matching/decide-orders.ts';
import { holdsItsKeys, releaseKeys, takeKeys } from '../../../../src/engine/ledger/matching/order-keys.ts';
import { type ClaimedRow, claimRows, openRows, recordAttempts } from '../../../../src/engine/ledger/rows.ts';
import { pauseRun, resumeRun } from '../../../../src/engine/ledger/run-status.ts';
import { type Run, readRun, recordProgress } from '../../../../src/engine/ledger/runs.ts';
import { inTransaction } from '../../../../src/storage/transaction.ts';
import { reopenLoad } from '../../../../src/syncs/orders/reopen-load.ts';
import { runs } from '../../../support/property-runs.ts';
import { freshLedger, putRows, WORKER } from '../fresh-ledger.ts';
import { putRecords } from './contact-worlds.ts';
import { aLoad, end } from './load-worlds.ts';

const LABELS = ['A', 'B'] as const;
/** Arrived orders are shown at once; orders in flight are waited for, so this can be short. */
const SETTLE_MS = 1;
const OPTIONS = { existing: 'skip', createCustomers: false, confirm: false } as const;

const database = await freshLedger();
afterAll(() => database.close());

/** A load, where its job stands, and the calls of it that are on their way. */
interface Loading {
  readonly run: Run;
  readonly onTheWay: ClaimedRow[];
  step: 'keys' | 'orders' | 'sending';
  /** While calls of it are on their way. */
  claim: Claim | undefined;
}

/** How often each order was created. */
type Service = Map<string, number>;

type Act = (load: Loading, service: Service) => Promise<void>;

async function dropClaim(load: Loading): Promise<void> {
  if (load.claim) await dropClaims(database.pool, [load.claim.id]);
  load.claim = undefined;
}

const status = async ({ run }: Loading) => (await readRun(database.pool, run.id)).status;

const acts: Readonly<Record<string, Act>> = {
  async takeKeys(load) {
    if (load.step !== 'keys' || (await status(load)) !== 'running') return;
    const unsettledMs = await inTransaction(database.pool, (db) => takeKeys(db, load.run, SETTLE_MS));
    if (unsettledMs === 0) load.step = 'orders';
  },
  async readAndDecide(load, service) {
    const { run } = load;
    if (load.step !== 'orders' || (await status(load)) !== 'running') return;
    if (!(await holdsItsKeys(database.pool, run))) {
      load.step = 'keys';
      return;
    }
    await database.pool.query('delete from ledger.records where run_id = $1', [run.id]);
    const there = [...service.keys()].map((label) => ({ record_id: label, client_id: '7', label }));
    await putRecords(database, run, there);
    await inTransaction(database.pool, (db) => decideOrders(db, run, { ...OPTIONS, isWhole: true }));
    load.step = 'sending';
  },
  async prepare(load, service) {
    await acts.takeKeys?.(load, service);
    await acts.readAndDecide?.(load, service);
  },
  async send(load) {
    if (load.step !== 'sending' || (await status(load)) !== 'running') return;
    load.claim ??= await takeClaim(database.pool, load.run.id, WORKER, { kind: 'shared', ttlMs: 60_000 });
    if (!load.claim) return;
    const claimed = await claimRows(database.pool, load.claim, 1);
    load.onTheWay.push(...claimed);
    if (load.onTheWay.length === 0) await dropClaim(load);
  },
  async arrive(load, service) {
    const row = load.onTheWay.shift();
    const { claim } = load;
    if (row === undefined || claim === undefined) return;
    const { sourceId: label, n, chunk, action } = row;
    service.set(label, (service.get(label) ?? 0) + 1);
    await inTransaction(database.pool, async (db) => {
      await recordAttempts(db, claim, [{ n, chunk, action, sends: 1, outcome: 'acked' }]);
      await recordProgress(db, load.run.id, { calls: 1 });
    });
    if (load.onTheWay.length === 0) await dropClaim(load);
  },
  async finish(load) {
    if (load.step !== 'sending' || load.onTheWay.length > 0 || (await status(load)) !== 'running') return;
    await database.pool.query(
      `update ledger.rows set state = 'settled', verdict = 'created' where run_id = $1 and state = 'acked'`,
      [load.run.id],
    );
    const { staged, ...open } = await openRows(database.pool, load.run.id);
    if (Object.values(open).some((n) => n > 0)) return;
    await releaseKeys(database.pool, load.run);
    if (staged > 0) load.step = 'keys'; // another load had them
    if (staged > 0) return;
    await end(database, load.run, 'done');
  },
  fail: ({ run }) => end(database, run, 'failed'),
  cancel: ({ run }) => end(database, run, 'cancelled'),
  pause: ({ run }) => pauseRun(database.pool, run.id, { code: 'X', message: 'x' }),
  async resume({ run }) {
    await resumeRun(database.pool, run.id);
  },
  async tryAgain(load) {
    const isOver = !['running', 'paused'].includes(await status(load));
    if (!isOver || load.onTheWay.length > 0) return; // refused while a worker holds a claim
    if (((await reopenLoad(database.pool, load.run.id)) ?? 0) > 0) load.step = 'keys';
  },
};

const files = fc.array(fc.uniqueArray(fc.constantFrom(...LABELS), { minLength: 1 }), { minLength: 2, maxLength: 2 });
const progress = ['prepare', 'send', 'arrive'] as const;
const setbacks = ['takeKeys', 'fail', 'fail', 'cancel', 'pause', 'resume', 'resume', 'tryAgain', 'finish'] as const;
const act = fc.record({
  load: fc.nat(1),
  name: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...progress) },
    { weight: 2, arbitrary: fc.constantFrom(...setbacks) },
  ),
});

test('loads side by side never send one order twice, however they end and resume, and in the end none is missing', async () => {
  await fc.assert(
    fc.asyncProperty(files, fc.array(act, { minLength: 15, maxLength: 50 }), async (wanted, chosen) => {
      await database.pool.query('truncate ledger.runs, ledger.order_keys cascade');
      const service: Service = new Map();
      const loads = await Promise.all(wanted.map(beginOf));
      for (const { load, name } of chosen) {
        const at = loads[load % loads.length];
        if (at) await acts[name]?.(at, service);
        expect(Math.max(0, ...service.values())).toBeLessThanOrEqual(1);
      }
      await carryToTheEnd(loads, service);
      expect([...service].toSorted()).toEqual([...new Set(wanted.flat())].toSorted().map((label) => [label, 1]));
    }),
    runs(10),
  );
});

/** Retries each load, whatever its state, until all its orders exist. */
async function carryToTheEnd(loads: readonly Loading[], service: Service): Promise<void> {
  for (const load of loads) while (load.onTheWay.length > 0) await acts.arrive?.(load, service);
  for (const load of loads) if ((await status(load)) !== 'done') await end(database, load.run, 'cancelled');
  for (const load of loads) {
    await acts.tryAgain?.(load, service);
    await acts.takeKeys?.(load, service);
    await acts.readAndDecide?.(load, service);
    for (const _ of LABELS) {
      await acts.send?.(load, service);
      await acts.arrive?.(load, service);
    }
    await acts.finish?.(load, service);
  }
}

async function beginOf(labels: readonly string[]): Promise<Loading> {
  const run = await aLoad(database);
  const row = { state: 'staged', action: null, client_id: '7', fields: {} };
  await putRows(
    database,
    run,
    labels.map((label) => ({ ...row, source_id: label, label })),
  );
  return { run, step: 'keys', onTheWay: [], claim: undefined };
}
