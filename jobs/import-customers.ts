/** Sends what a contact sync decided: imports or creates customers, and updates those whose contact has changed. */
import { type ContactsOptions, contactsOptions } from '../src/contacts/options.ts';
import { contactSender, type ImportMode } from '../src/contacts/send.ts';
import { keepLearnt, readLearnt } from '../src/ledger/learnt.ts';
import { defineJob, type JobContext, type JobResult } from '../src/worker/job.ts';
import { sendReady } from '../src/worker/send-ready.ts';
import { knownLongIds } from '../src/worker/shapes.ts';

export const importCustomers = defineJob({
  name: 'import-customers',
  summary: 'imports or creates customers for contacts, and updates changed ones',
  options: contactsOptions,
  parallel: 2, // one drains at the end of its slice while the other keeps the budget in use
  run: send,
});

async function send(context: JobContext<ContactsOptions>): Promise<JobResult> {
  const { pool, run, account } = context;
  const mode = await knownMode(context);
  const before = mode.works;
  try {
    return await sendReady(context, contactSender(account, run.lane, mode), 'settle-unknown');
  } finally {
    if (mode.works !== before) await keepLearnt(pool, account.scope, 'import', mode.works);
  }
}

async function knownMode(context: JobContext<ContactsOptions>): Promise<ImportMode> {
  const { pool, account, options } = context;
  const longIds = await knownLongIds(context);
  if (options.importWith !== 'auto') return { works: options.importWith === 'import', refusals: 0, longIds };
  const learnt = (await readLearnt(pool, account.scope)).get('import');
  return { works: typeof learnt === 'boolean' ? learnt : undefined, refusals: 0, longIds };
}
