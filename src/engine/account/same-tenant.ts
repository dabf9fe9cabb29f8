/** Whether the service still shows the records of the tenant that a run began with. */
import { sentSoFar, wasTakenOver } from '../ledger/sent-so-far.ts';
import type { JobContext } from '../worker/job.ts';
import { RunPaused } from './failure.ts';
import { recogniseRecords, waysOn } from './identity.ts';

const OTHER_OR_RESTORED = 'It may be another tenant, or a service that was restored from a backup.';

export function identityUnclear(account: string, what: string, sent: string, cause = OTHER_OR_RESTORED): RunPaused {
  const message = `The service of account "${account}" ${what}. ${cause} ${sent} ${waysOn(account)}`;
  return new RunPaused('IDENTITY_UNCLEAR', message);
}

type Asking = Pick<JobContext<unknown>, 'pool' | 'run' | 'account'>;

/** Looks some known records up by their ids. `what`: what makes it unclear, for the message. @throws RunPaused IDENTITY_UNCLEAR */
export async function requireSameTenant({ pool, run, account }: Asking, what?: string): Promise<void> {
  const { asked, others } = await recogniseRecords(pool, account, run.scope);
  if (others < 2 || others * 2 <= asked) return;
  const found = `${others} of ${asked} known records are other records now`;
  const words = what === undefined ? `has changed: ${found}` : `${what}, and ${found}`;
  throw identityUnclear(account.name, words, await sentSoFar(pool, run.id));
}

/** @throws RunPaused IDENTITY_UNCLEAR */
export type TakeoverCheck = (asking: Asking) => Promise<void>;

/**
 * Checks the tenant of each run that was taken over, once in this process: the process before may have been lost days ago, and
 * the address and the key do not show that another tenant answers now.
 */
export function createTakeoverCheck(): TakeoverCheck {
  const checked = new Set<string>();
  return async (asking) => {
    const { pool, run } = asking;
    if (checked.has(run.id) || !(await wasTakenOver(pool, run.id))) return;
    await requireSameTenant(asking);
    checked.add(run.id);
  };
}
