/** The run that creates the missing customers of a load: the load starts it, waits for it, and takes what it has created. */
import { RunFailed, RunPaused } from '../../engine/account/failure.ts';
import { keepBaseline } from '../../engine/ledger/baselines.ts';
import { startOfRead } from '../../engine/ledger/match-index.ts';
import {
  type Creating,
  countMissing,
  createMissing,
  settleNotCreated,
  takeCreated,
} from '../../engine/ledger/matching/missing-customers.ts';
import { resolveCustomers } from '../../engine/ledger/matching/order-customers.ts';
import { readRun } from '../../engine/ledger/runs.ts';
import type { Exclusive } from '../../engine/worker/exclusive.ts';
import type { JobContext } from '../../engine/worker/job.ts';
import type { ContactsOptions } from '../contacts/options.ts';
import type { Baseline } from '../customers/baseline.ts';
import { BASELINE } from '../read-list.ts';
import { continueFrom, type LoadCheckpoint, type Stepped, saveCheckpoint } from './load-checkpoint.ts';
import type { OrdersOptions } from './options.ts';

export const CUSTOMERS_READ = { kind: 'customer', pass: BASELINE } as const;
/** How often it checks whether the run has ended. */
const LOOK_MS = 500;

type Context = JobContext<OrdersOptions>;

/** Options for creating customers that have no contact. */
const CREATE_ONLY: ContactsOptions = {
  rowsPerPage: 500,
  importWith: 'create',
  onChange: 'ignore',
  matchBy: ['email', 'phone'],
};

export function startCreating(
  { run, account }: Context,
  exclusive: Exclusive,
  checkpoint: LoadCheckpoint,
  baseline: Baseline,
): Promise<Creating> {
  return exclusive.transaction(async (db): Promise<Creating> => {
    const readAt = await startOfRead(db, run.id, CUSTOMERS_READ);
    if (!readAt) return { status: 'stale' };
    const creating = await createMissing(db, run, { readAt, settleMs: account.settleMs, options: CREATE_ONLY });
    if (creating.status !== 'started') return creating;
    await keepBaseline(db, creating.run.id, baseline.hashes());
    await saveCheckpoint(db, run.id, { ...checkpoint, step: 'creating', creator: creating.run.id });
    return creating;
  });
}

export async function awaitCreated(
  { pool, run, need }: Context,
  exclusive: Exclusive,
  checkpoint: LoadCheckpoint,
): Promise<Stepped> {
  const { creator: creatorId } = checkpoint;
  if (creatorId === undefined) return { status: 'on', checkpoint: { ...checkpoint, step: 'customers' } };
  await need(creatorId);
  const { status, phase, error, errorCode } = await readRun(pool, creatorId);
  switch (status) {
    case 'running':
      return { status: 'again', inMs: LOOK_MS };
    case 'paused':
      throw new RunPaused(
        'CUSTOMERS_PAUSED',
        `Run ${creatorId}, which creates the missing customers, is paused: ${error}`,
      );
    case 'failed': {
      const isSuperseded = phase === undefined;
      if (isSuperseded) return { status: 'on', checkpoint: { ...checkpoint, step: 'customers' } };
      const message = `Run ${creatorId}, which creates the missing customers, has failed: ${error}`;
      throw new RunFailed(errorCode ?? 'CUSTOMERS_FAILED', message);
    }
    case 'done':
    case 'cancelled': {
      const left = await exclusive.transaction(async (db) => {
        if (!(await startOfRead(db, run.id, CUSTOMERS_READ))) return undefined;
        await takeCreated(db, run, creatorId);
        await resolveCustomers(db, run, { keepMissing: true, isWhole: true });
        await settleNotCreated(db, run, creatorId);
        return countMissing(db, run);
      });
      return continueFrom(exclusive, run.id, { ...checkpoint, step: left === 0 ? 'keys' : 'customers' });
    }
    default:
      return status satisfies never;
  }
}
