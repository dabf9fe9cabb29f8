/**
 * Decides every row of a load before its first order is sent: finds each row's customer, creates missing customers if the
 * options say so, takes the orders' keys, and reads the existing orders. Then the load continues, or waits until the
 * operator approves the plan.
 */
import { RunPaused } from '../src/engine/account/failure.ts';
import { requireSameTenant } from '../src/engine/account/same-tenant.ts';
import { unsettledForMs } from '../src/engine/ledger/baseline-wait.ts';
import { keepBaseline } from '../src/engine/ledger/baselines.ts';
import { startOfRead } from '../src/engine/ledger/match-index.ts';
import { decideOrders, type Planned, planOnly } from '../src/engine/ledger/matching/decide-orders.ts';
import { judgeFirst, planFirst } from '../src/engine/ledger/matching/first-created.ts';
import { CUSTOMERS, settleUnclear, takeUnlisted } from '../src/engine/ledger/matching/missing-customers.ts';
import { resolveCustomers } from '../src/engine/ledger/matching/order-customers.ts';
import {
  holdsItsKeys,
  isHeldUp,
  loadWaitedFor,
  oweForEarlierOrders,
  releaseKeys,
  takeKeys,
} from '../src/engine/ledger/matching/order-keys.ts';
import { settleCopies } from '../src/engine/ledger/matching/repeated-orders.ts';
import { keepShown, leaveOutUnshown } from '../src/engine/ledger/matching/shown-writes.ts';
import { isAnyStaged, isAnyUnsettled, sentBeforeUnsettledForMs } from '../src/engine/ledger/matching/staged-orders.ts';
import { unlistedNamed, unlistedOrders } from '../src/engine/ledger/matching/unlisted-records.ts';
import { endRun } from '../src/engine/ledger/run-status.ts';
import { addNote, movePhase, readRun } from '../src/engine/ledger/runs.ts';
import { type Exclusive, exclusively } from '../src/engine/worker/exclusive.ts';
import { defineJob, type JobContext, type JobResult } from '../src/engine/worker/job.ts';
import type { Queryable } from '../src/storage/queryable.ts';
import type { Transactional } from '../src/storage/transaction.ts';
import { Baseline } from '../src/syncs/customers/baseline.ts';
import { readCustomers, readUnlisted } from '../src/syncs/customers/read-customers.ts';
import { readLoad } from '../src/syncs/orders/begin-load.ts';
import { awaitCreated, CUSTOMERS_READ, startCreating } from '../src/syncs/orders/create-customers.ts';
import { askFirst, createsNow, planTheRest, whyApproval } from '../src/syncs/orders/load-approval.ts';
import {
  checkpointOf,
  continueFrom,
  type LoadCheckpoint,
  type Stepped,
  saveCheckpoint,
} from '../src/syncs/orders/load-checkpoint.ts';
import { type OrdersOptions, ordersRunOptions } from '../src/syncs/orders/options.ts';
import { type OrdersRead, readOrders, readUnlistedOrders } from '../src/syncs/orders/read-orders.ts';
import { rememberColumns } from '../src/syncs/orders/remembered-columns.ts';
import { waitingFor, whileWaiting } from '../src/syncs/orders/wait-for-run.ts';
import { openWantedCustomers } from '../src/syncs/orders/wanted-records.ts';
import { BASELINE } from '../src/syncs/read-list.ts';

const ORDERS_READ = { kind: 'order', pass: BASELINE } as const;

type Context = JobContext<OrdersOptions>;

export const loadOrders = defineJob({
  name: 'load-orders',
  options: ordersRunOptions,
  waitsInPlace: true,
  run: (context) => exclusively(context, (exclusive) => load(context, exclusive)),
});

async function load(context: Context, exclusive: Exclusive): Promise<JobResult> {
  const { pool, run } = context;
  if (!(await readLoad(pool, run.id))?.isReceived) throw notReceived(run.id);
  let checkpoint = checkpointOf(await readRun(pool, run.id));
  const waiting = await whileWaiting(pool, run, checkpoint);
  if (waiting) return waiting;
  if (checkpoint.waits !== undefined) {
    const { waits: _, ...rest } = checkpoint;
    checkpoint = rest;
    await exclusive.transaction((db) => saveCheckpoint(db, run.id, rest));
  }
  const isWithoutKeys = checkpoint.step === 'orders' && !(await holdsItsKeys(pool, run));
  if (isWithoutKeys) checkpoint = { ...checkpoint, step: 'keys' };
  for (;;) {
    const stepped = await STEPS[checkpoint.step](context, exclusive, checkpoint);
    if (stepped.status !== 'on') return stepped;
    checkpoint = stepped.checkpoint;
  }
}

const STEPS: Readonly<
  Record<
    LoadCheckpoint['step'],
    (context: Context, exclusive: Exclusive, checkpoint: LoadCheckpoint) => Promise<Stepped>
  >
> = {
  customers: findCustomers,
  creating: awaitCreated,
  keys: holdKeys,
  orders: readAndDecide,
};

async function findCustomers(context: Context, exclusive: Exclusive, checkpoint: LoadCheckpoint): Promise<Stepped> {
  const { pool, run, account, options } = context;
  if (!(await isAnyStaged(pool, run.id))) return continueFrom(exclusive, run.id, { ...checkpoint, step: 'keys' });
  const isCreating = await createsNow(context, checkpoint);
  if (isCreating) {
    const inMs = await unsettledForMs(pool, { id: run.id, scope: run.scope, resource: CUSTOMERS }, account.settleMs);
    if (inMs > 0) return wait(context, inMs, 'waited for unsettled customers of an earlier run');
  }
  const wants = await openWantedCustomers(pool, run);
  const baseline = new Baseline();
  const { isWhole } = await readCustomers(context, exclusive, BASELINE, (customer) => {
    baseline.add(customer.recordId);
    return wants(customer);
  });
  await readUnlisted(context, exclusive, await unlistedNamed(pool, run));
  const missing = await exclusive.transaction(async (db) => {
    if (!(await startOfRead(db, run.id, CUSTOMERS_READ))) return undefined;
    await takeUnlisted(db, run);
    const resolving = { keepMissing: options.createCustomers, isWhole };
    const unresolved = (await resolveCustomers(db, run, resolving)) - (await settleUnclear(db, run));
    return run.isBound ? unresolved - (await leaveOutUnshown(db, run)) : unresolved;
  });
  if (missing === undefined) return { status: 'on', checkpoint };
  if (missing === 0 || !isCreating) return continueFrom(exclusive, run.id, { ...checkpoint, step: 'keys' });
  const creating = await startCreating(context, exclusive, checkpoint, baseline);
  switch (creating.status) {
    case 'started':
      await addNote(pool, run.id, `created customers in run ${creating.run.id}`);
      return { status: 'on', checkpoint: { ...checkpoint, step: 'creating', creator: creating.run.id } };
    case 'busy': {
      const { id: creator, partOf } = creating.run;
      if (partOf !== run.id) return waitFor(context, exclusive, checkpoint, creator);
      return continueFrom(exclusive, run.id, { ...checkpoint, step: 'creating', creator }); // the load is retried
    }
    case 'stale':
      return { status: 'on', checkpoint };
    default:
      return creating satisfies never;
  }
}

async function holdKeys(context: Context, exclusive: Exclusive, checkpoint: LoadCheckpoint): Promise<Stepped> {
  const { pool, run, account } = context;
  const sentMs = await sentBeforeUnsettledForMs(pool, run.id, account.settleMs);
  if (sentMs > 0) return wait(context, sentMs, 'waited for unsettled earlier calls of this load');
  const holder = !run.dryRun && (await isHeldUp(pool, run)) ? await loadWaitedFor(pool, run) : undefined;
  if (holder !== undefined && holder !== 'ended') return waitFor(context, exclusive, checkpoint, holder);
  const inMs = await exclusive.transaction(async (db) => {
    const unsettledMs = await takeKeys(db, run, account.settleMs);
    if (unsettledMs === 0) await saveCheckpoint(db, run.id, { ...checkpoint, step: 'orders' });
    return unsettledMs;
  });
  if (inMs > 0) return wait(context, inMs, 'waited for unsettled rows of an earlier load');
  return { status: 'on', checkpoint: { ...checkpoint, step: 'orders' } };
}

async function readAndDecide(context: Context, exclusive: Exclusive, checkpoint: LoadCheckpoint): Promise<Stepped> {
  const { pool, run, account, options } = context;
  // The customers were found before a person approved the load, perhaps days ago.
  if (run.isBound) await requireSameTenant(context);
  const baseline = new Baseline();
  const read = (await isAnyUnsettled(pool, run.id))
    ? await readOrders(context, exclusive, BASELINE, baseline)
    : undefined;
  if (read) await readUnlistedOrders(context, exclusive, BASELINE, await unlistedOrders(pool, run));
  return exclusive.transaction(async (db) => {
    if (read && !(await startOfRead(db, run.id, ORDERS_READ))) return { status: 'again', inMs: 0 };
    const isTrusted = await judgeFirst(db, run, 'orders');
    const planned = await decideOrders(db, run, { ...options, isWhole: isTrusted && (read?.isWhole ?? true) });
    if (run.dryRun) await planOnly(db, run);
    else await oweForEarlierOrders(db, run, account.settleMs);
    if (options.savePlan) await keepShown(db, run);
    if (run.dryRun) return end(db, run);
    const writes = planned.create + planned.update + planned.withoutCustomer;
    if (writes === 0) return endOrWait(db, run, checkpoint, planned);
    if (read) await keepBaseline(db, run.id, baseline.hashes());
    return startWriting(db, context, checkpoint, planned, read?.isNamesake);
  });
}

async function startWriting(
  db: Transactional,
  context: Context,
  checkpoint: LoadCheckpoint,
  { create, update, withoutCustomer }: Planned,
  isNamesake: OrdersRead['isNamesake'] | undefined,
): Promise<JobResult> {
  const { run } = context;
  const message = await whyApproval(db, context, checkpoint, create + update + withoutCustomer);
  const step = withoutCustomer > 0 ? 'customers' : 'orders';
  await saveCheckpoint(db, run.id, { ...checkpoint, updates: update, step, isCleared: message === undefined });
  if (message !== undefined) return askFirst(db, run, message);
  await rememberColumns(db, run);
  if (withoutCustomer > 0) return { status: 'again', inMs: 0 };
  await planFirst(db, run, 'orders', isNamesake);
  await movePhase(db, run.id, 'load-orders', 'create-orders');
  return { status: 'next', job: 'create-orders' };
}

/** Nothing is to be written now. */
async function endOrWait(
  db: Transactional,
  run: Context['run'],
  checkpoint: LoadCheckpoint,
  { waiting }: Planned,
): Promise<JobResult> {
  const other = waiting === 0 ? undefined : await loadWaitedFor(db, run);
  if (other !== undefined) return comeBackForTheRest(db, run, { ...checkpoint, step: 'keys' }, other);
  await rememberColumns(db, run);
  return end(db, run);
}

/** Everything else is settled. A load that waits releases its keys first, so that no other load waits for it. */
async function comeBackForTheRest(
  db: Queryable,
  run: Context['run'],
  checkpoint: LoadCheckpoint,
  other: string,
): Promise<JobResult> {
  await releaseKeys(db, run);
  await saveCheckpoint(db, run.id, other === 'ended' ? checkpoint : waitingFor(checkpoint, other));
  return { status: 'again', inMs: 0 };
}

async function end(db: Transactional, run: Context['run']): Promise<JobResult> {
  await releaseKeys(db, run);
  if (await planTheRest(db, run)) return { status: 'again', inMs: 0 };
  await settleCopies(db, run.id);
  await endRun(db, run.id, 'done');
  return { status: 'finished' };
}

async function waitFor(
  { run }: Context,
  exclusive: Exclusive,
  checkpoint: LoadCheckpoint,
  runId: string,
): Promise<Stepped> {
  await exclusive.transaction((db) => saveCheckpoint(db, run.id, waitingFor(checkpoint, runId)));
  return { status: 'again', inMs: 0 };
}

async function wait({ pool, run }: Context, inMs: number, why: string): Promise<Stepped> {
  await addNote(pool, run.id, why);
  return { status: 'again', inMs };
}

function notReceived(runId: string): RunPaused {
  return new RunPaused(
    'LOAD_NOT_RECEIVED',
    `Not all rows of the file of run ${runId} have been read. Load the file again with the same command.`,
  );
}
