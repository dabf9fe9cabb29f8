/**
 * Reads the orders back and settles every row that was sent: a row whose order exists gets its id; the others are sent
 * again after the time an order may take to appear. The last read checks the whole load.
 */
import { readBaseline } from '../src/engine/ledger/baselines.ts';
import { nextPass } from '../src/engine/ledger/match-index.ts';
import { releaseKeys } from '../src/engine/ledger/matching/order-keys.ts';
import { settleCopies } from '../src/engine/ledger/matching/repeated-orders.ts';
import { settleOrders } from '../src/engine/ledger/matching/settle-orders.ts';
import { unlistedUpdates } from '../src/engine/ledger/matching/unlisted-records.ts';
import { openRows } from '../src/engine/ledger/rows.ts';
import { endRun } from '../src/engine/ledger/run-status.ts';
import { movePhase, readRun } from '../src/engine/ledger/runs.ts';
import { exclusively } from '../src/engine/worker/exclusive.ts';
import { defineJob, type JobResult } from '../src/engine/worker/job.ts';
import type { Queryable } from '../src/storage/queryable.ts';
import { Baseline } from '../src/syncs/customers/baseline.ts';
import { planTheRest } from '../src/syncs/orders/load-approval.ts';
import { checkpointOf, type LoadCheckpoint, saveCheckpoint } from '../src/syncs/orders/load-checkpoint.ts';
import { ordersRunOptions } from '../src/syncs/orders/options.ts';
import { keepUnlisted, readOrders, readUnlistedOrders } from '../src/syncs/orders/read-orders.ts';
import { settleReadBack } from '../src/syncs/read-back.ts';

export const settleOrdersJob = defineJob({
  name: 'settle-orders',
  options: ordersRunOptions,
  waitsInPlace: true,
  run: (context) =>
    exclusively(context, async (exclusive) => {
      const { pool, run, account } = context;
      const sent = await openRows(pool, run.id);
      if (sent.acked + sent.unknown > 0) {
        const pass = await nextPass(pool, run.id);
        const kept = await readBaseline(pool, run.id);
        const baseline = kept && Baseline.of(kept);
        const { isWhole } = await readOrders(context, exclusive, pass, baseline);
        await readUnlistedOrders(context, exclusive, pass, await unlistedUpdates(pool, run.id, pass));
        const next = await settleReadBack(context, exclusive, {
          kind: 'orders',
          sender: 'create-orders',
          pass,
          isWhole: isWhole && baseline !== undefined, // a load of an earlier version has stored none
          baseline,
          settle: (db, read) => settleOrders(db, run, { ...read, settleMs: account.settleMs }),
          keep: (db, records) => keepUnlisted(db, context, pass, records),
        });
        if (next) return next;
      } else if (sent.ready + sent.intent > 0) return { status: 'next', job: 'create-orders' };
      return exclusive.transaction(async (db): Promise<JobResult> => {
        await releaseKeys(db, run);
        if (sent.staged > 0) return goBack(db, run.id, 'keys'); // another load was sending these orders
        if (await planTheRest(db, run)) return goBack(db, run.id, 'customers');
        await settleCopies(db, run.id);
        await endRun(db, run.id, 'done');
        return { status: 'finished' };
      });
    }),
});

async function goBack(db: Queryable, runId: string, step: LoadCheckpoint['step']): Promise<JobResult> {
  await saveCheckpoint(db, runId, { ...checkpointOf(await readRun(db, runId)), step });
  await movePhase(db, runId, 'settle-orders', 'load-orders');
  return { status: 'next', job: 'load-orders' };
}
