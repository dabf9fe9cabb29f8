/** Sends what a contact sync decided: imports or creates customers, and updates those whose contact has changed. */
import { type ContactsOptions, contactsOptions } from '../src/contacts/options.ts';
import { contactSender, type ImportMode } from '../src/contacts/send.ts';
import { keepLearnt, readLearnt } from '../src/ledger/learnt.ts';
import { openRows } from '../src/ledger/rows.ts';
import { markTrouble } from '../src/ledger/runs.ts';
import { defineJob, type JobContext, type JobResult } from '../src/worker/job.ts';
import { pump } from '../src/worker/pump.ts';

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
  const sendRow = contactSender(account, run.lane, mode);
  let isAnswering = false;
  const pumped = await pump(context, async (row, how) => {
    const sent = await sendRow(row, how);
    isAnswering ||= sent.result.state === 'acked' || sent.result.state === 'settled';
    return sent;
  });
  if (mode.works !== before) await keepLearnt(pool, account.name, 'import', mode.works);
  if (pumped.status === 'stopped') {
    if (isAnswering) await markTrouble(pool, run.id, false); // a service that comes and goes is not one that stays away
    throw pumped.cause;
  }
  if (pumped.status === 'more') return { status: 'again', inMs: 0 };
  const open = await openRows(pool, run.id);
  return open.ready + open.intent === 0 ? { status: 'next', job: 'settle-unknown' } : { status: 'idle' };
}

async function knownMode({ pool, account, options }: JobContext<ContactsOptions>): Promise<ImportMode> {
  if (options.importWith !== 'auto') return { works: options.importWith === 'import', refusals: 0 };
  const learnt = (await readLearnt(pool, account.name)).get('import');
  return { works: typeof learnt === 'boolean' ? learnt : undefined, refusals: 0 };
}
