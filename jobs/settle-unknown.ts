/**
 * Reads the customers back and settles everything that was sent: what is there gets its id and its link, what is not is
 * sent again once it has had the time to appear.
 */
import { readEdited } from '../src/contacts/edited.ts';
import { contactsOptions } from '../src/contacts/options.ts';
import { Baseline } from '../src/customers/baseline.ts';
import { readCustomers } from '../src/customers/read-customers.ts';
import { readBaseline } from '../src/engine/ledger/baselines.ts';
import { linkUpdated } from '../src/engine/ledger/matching/contact-links.ts';
import { settleContacts } from '../src/engine/ledger/matching/settle-contacts.ts';
import { checkRead, nextPass } from '../src/engine/ledger/records.ts';
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
        const before = await readBaseline(pool, run.id);
        const baseline = before && Baseline.of(before);
        const isNew = ({ recordId }: { readonly recordId: string }) => !baseline?.has(recordId);
        const { readAt, isWhole } = await readCustomers(context, exclusive, pass, isNew);
        const { settleMs } = account;
        const edited = isWhole ? await readEdited(context, exclusive, { pass, readAt, settleMs }) : [];
        const how = { matchBy: options.matchBy, pass, readAt, isWhole, settleMs, edited };
        const settled = await exclusive.transaction(async (db) =>
          (await checkRead(db, run.id, { kind: 'customer', pass })) ? settleContacts(db, run, how) : undefined,
        );
        if (!settled) return { status: 'again', inMs: 0 };
        if (settled.ready > 0) return { status: 'next', job: 'import-customers' };
        if (settled.open > 0) return { status: 'again', inMs: settled.againInMs + MARGIN_MS };
      } else if (sent.ready + sent.intent > 0) return { status: 'next', job: 'import-customers' };
      await exclusive.transaction((db) => linkUpdated(db, run));
      return { status: 'finished' };
    }),
});
