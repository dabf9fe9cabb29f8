/**
 * Reads the customers back and settles everything that was sent: what is there gets its id and its link, what is not is
 * sent again once it has had the time to appear.
 */
import { takeEdits } from '../src/contacts/edited.ts';
import { finishContacts } from '../src/contacts/finish.ts';
import { contactsOptions } from '../src/contacts/options.ts';
import { settleContacts } from '../src/contacts/settle.ts';
import { readCustomers } from '../src/customers/read-customers.ts';
import { nextPass } from '../src/engine/ledger/records.ts';
import { openRows } from '../src/engine/ledger/rows.ts';
import { exclusively } from '../src/worker/exclusive.ts';
import { defineJob } from '../src/worker/job.ts';

/** A read that is due at some moment starts a little after it. */
const MARGIN_MS = 20;

export const settleUnknown = defineJob({
  name: 'settle-unknown',
  summary: 'reads customers back and settles what was sent',
  options: contactsOptions,
  waitsInPlace: true,
  run: (context) =>
    exclusively(context, async (exclusive) => {
      const { pool, run, account, options } = context;
      const sent = await openRows(pool, run.id);
      if (sent.acked + sent.unknown > 0) {
        const pass = await nextPass(pool, run.id);
        const { readAt, isWhole } = await readCustomers(context, exclusive, pass);
        if (isWhole) await takeEdits(context, exclusive, { pass, readAt, settleMs: account.settleMs });
        const settled = await exclusive.transaction((db) =>
          settleContacts(db, run, { matchBy: options.matchBy, pass, readAt, isWhole, settleMs: account.settleMs }),
        );
        if (settled.ready > 0) return { status: 'next', job: 'import-customers' };
        if (settled.open > 0) return { status: 'again', inMs: settled.againInMs + MARGIN_MS };
      } else if (sent.ready + sent.intent > 0) return { status: 'next', job: 'import-customers' };
      await exclusive.transaction((db) => finishContacts(db, run));
      return { status: 'finished' };
    }),
});
