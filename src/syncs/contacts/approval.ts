/**
 * A run that would write more than the settings allow pauses until a person approves it. Then it reads and decides again, and
 * writes at most as much as was approved.
 */
import { z } from 'zod';
import { AWAITS_CONFIRMATION } from '../../engine/ledger/approval.ts';
import { pauseRun, type Run, recordProgress } from '../../engine/ledger/runs.ts';
import type { Queryable } from '../../storage/queryable.ts';
import type { ContactsOptions } from './options.ts';

const checkpointSchema = z.object({ job: z.literal('contacts'), shownWrites: z.number() });

/** Pauses the run if it needs approval; returns whether it did. Runs in the transaction of the decision. */
export async function pauseForApproval(
  db: Queryable,
  run: Run,
  { approveAbove, approveAboveShare }: ContactsOptions,
  { writes, contacts }: { readonly writes: number; readonly contacts: number },
): Promise<boolean> {
  const most = Math.min(
    approveAbove ?? Number.POSITIVE_INFINITY,
    approveAboveShare === undefined ? Number.POSITIVE_INFINITY : approveAboveShare * contacts,
  );
  const approved = checkpointSchema.safeParse(run.checkpoint).data?.shownWrites ?? 0;
  if (writes <= Math.max(most, approved)) return false;
  await recordProgress(db, run.id, { checkpoint: { job: 'contacts', shownWrites: writes } });
  const share = `${Math.round((writes / contacts) * 100)}%`;
  const message =
    `It would write ${writes} of ${contacts} contacts (${share}), more than the settings allow without approval. Nothing is ` +
    `sent. See what it would write: \`lockstep runs export ${run.id} --out plan.csv\`. Approve it: ` +
    `\`lockstep runs resume ${run.id}\`. Drop it: \`lockstep runs cancel ${run.id}\``;
  await pauseRun(db, run.id, { code: AWAITS_CONFIRMATION, message });
  return true;
}
