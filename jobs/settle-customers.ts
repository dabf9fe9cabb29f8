/**
 * Reads the customers back and settles every row that was sent: a row whose customer exists gets its id and its link; the
 * others are sent again after the time a customer may take to appear.
 */

import { readBaseline } from '../src/engine/ledger/baselines.ts';
import { keepCustomers, nextPass, type SeenCustomer } from '../src/engine/ledger/match-index.ts';
import { linkUpdated } from '../src/engine/ledger/matching/contact-links.ts';
import { planOthers } from '../src/engine/ledger/matching/first-created.ts';
import { settleContacts } from '../src/engine/ledger/matching/settle-contacts.ts';
import { openUpdates } from '../src/engine/ledger/matching/updated-customers.ts';
import { openRows } from '../src/engine/ledger/rows.ts';
import { endRun } from '../src/engine/ledger/run-status.ts';
import { exclusively } from '../src/engine/worker/exclusive.ts';
import { defineJob } from '../src/engine/worker/job.ts';
import { contactsOptions, createsCustomers } from '../src/syncs/contacts/options.ts';
import { readEdited } from '../src/syncs/contacts/read-edited.ts';
import { readUpdated } from '../src/syncs/contacts/read-updated.ts';
import { Baseline } from '../src/syncs/customers/baseline.ts';
import { readCustomers, toSeenCustomer } from '../src/syncs/customers/read-customers.ts';
import { settleReadBack } from '../src/syncs/read-back.ts';

export const settleCustomers = defineJob({
  name: 'settle-customers',
  summary: 'reads customers back and settles what was sent',
  options: contactsOptions,
  waitsInPlace: true,
  run: (context) =>
    exclusively(context, async (exclusive) => {
      const { pool, run, account, options } = context;
      const sent = await openRows(pool, run.id);
      if (sent.ready + sent.intent > 0 && sent.acked + sent.unknown === 0)
        return { status: 'next', job: 'import-customers' };
      if (sent.acked + sent.unknown + sent.staged > 0) {
        const pass = await nextPass(pool, run.id);
        const updates = await openUpdates(pool, run.id);
        const isUpdatedRead =
          sent.staged === 0 && !updates.isAnyOther && (await readUpdated(context, exclusive, pass, updates.ids));
        const before = await readBaseline(pool, run.id);
        const baseline = before && Baseline.of(before);
        const updated = new Set(updates.ids);
        const wants = ({ recordId }: SeenCustomer) => !baseline?.has(recordId) || updated.has(recordId);
        const isWhole = !isUpdatedRead && (await readCustomers(context, exclusive, pass, wants)).isWhole;
        const edited = isWhole ? await readEdited(context, exclusive, pass) : [];
        const next = await settleReadBack(context, exclusive, {
          kind: 'customers',
          sender: 'import-customers',
          pass,
          isWhole,
          baseline,
          settle: (db, read) =>
            settleContacts(db, run, { ...read, matchBy: options.matchBy, pass, settleMs: account.settleMs, edited }),
          keep: (db, records) => {
            const customers = records.map((record) => toSeenCustomer(record, account));
            return keepCustomers(db, run.id, pass, customers, { isListed: false });
          },
        });
        if (next) return next;
        const action = run.type === 'contacts' && !createsCustomers(options) ? 'import' : 'create';
        const others = { action, isWhole } as const;
        if (sent.staged > 0 && (await exclusive.transaction((db) => planOthers(db, run, others))))
          return { status: 'next', job: 'import-customers' };
      }
      await exclusive.transaction(async (db) => {
        await linkUpdated(db, run);
        await endRun(db, run.id, 'done');
      });
      return { status: 'finished' };
    }),
});
