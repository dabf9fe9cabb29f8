/** Sends what a contact sync decided: imports or creates customers, and updates customers whose contact has changed. */
import { knownLongIds } from '../src/engine/account/list-shapes.ts';
import { ACCEPTED, isImportOff, stopImporting } from '../src/engine/ledger/matching/import-trial.ts';
import { readBefore } from '../src/engine/ledger/rows.ts';
import { keepLearnt } from '../src/engine/ledger/scopes/learnt.ts';
import { defineJob, type JobContext, type JobResult } from '../src/engine/worker/job.ts';
import { sendReady } from '../src/engine/worker/send-ready.ts';
import { importMode } from '../src/syncs/contacts/import-mode.ts';
import { type ContactsOptions, contactsRunOptions, createsCustomers } from '../src/syncs/contacts/options.ts';
import { contactSender } from '../src/syncs/contacts/send.ts';

export const importCustomers = defineJob({
  name: 'import-customers',
  options: contactsRunOptions,
  parallel: 2, // while one drains at the end of its slice, the other uses the budget
  run: send,
});

async function send(context: JobContext<ContactsOptions>): Promise<JobResult> {
  const { pool, run, account } = context;
  const before = await knownMode(context);
  const mode = importMode(before);
  try {
    const of = { runId: run.id, kind: 'customer', settleMs: account.settleMs } as const;
    const sender = contactSender(account, run.lane, mode, (n) => readBefore(pool, { ...of, n }));
    return await sendReady(context, sender, 'settle-customers');
  } finally {
    if (mode.hasWorked && !before.hasWorked) await keepLearnt(pool, account.scope, ACCEPTED, true);
    if (mode.isOff && !before.isOff) await stopImporting(pool, run);
  }
}

async function knownMode(context: JobContext<ContactsOptions>) {
  const { pool, run, options } = context;
  const longIds = await knownLongIds(context);
  if (createsCustomers(options)) return { isOff: true, hasWorked: false, longIds };
  if (options.importWith === 'import') return { isOff: false, hasWorked: true, longIds };
  return { isOff: await isImportOff(pool, run), hasWorked: false, longIds };
}
