/** How one row of a contact sync is sent, and what its answer means for the row and the run. */
import type { Lane } from '../../client/budget/budget.ts';
import { importBody } from '../../client/call/dialect.ts';
import type { Account } from '../../engine/account/account.ts';
import { type WriteOptions, write } from '../../engine/account/writes.ts';
import { IMPORT_REFUSED } from '../../engine/ledger/matching/settle-contacts.ts';
import type { ClaimedRow } from '../../engine/ledger/rows.ts';
import { type SendRow, writeOptions } from '../../engine/worker/row-source.ts';
import { type SentRow, sent, toSent } from '../../engine/worker/sent-row.ts';
import { createdId } from '../created-id.ts';
import type { ReadBefore } from '../record-now.ts';
import { afterRefusal, type ImportMode } from './import-mode.ts';
import { sendUpdate } from './send-update.ts';

/** `before`: what the customers of updates held when they were planned. */
export function contactSender(account: Account, lane: Lane, mode: ImportMode, before: ReadBefore): SendRow {
  return async (row, how) => {
    const options = writeOptions(lane, row, how);
    if (row.action === 'update')
      return sendUpdate(account, row, options, { longIds: mode.longIds('customers'), before });
    if (row.action === 'create' || mode.isOff) return sendCreate(account, row, options);
    const body = importBody(account.dialect, row.sourceId, row.fields, mode.longIds('contacts'));
    const report = await write(account, 'customers.import', { ...options, body });
    const { written } = report;
    if (written.status === 'applied') mode.hasWorked = true;
    if (written.status !== 'refused' && written.status !== 'not-now')
      return toSent(row, report, 'import', createdId(account, 'customers', report));
    const next = afterRefusal(mode, row.sourceId, written);
    switch (next.status) {
      case 'create': {
        const created = await sendCreate(account, row, options); // not applied (assumption A3 in docs/protocol.md): creating cannot double it
        return { ...created, calls: report.calls + created.calls, limited: report.limited + created.limited };
      }
      case 'wait':
        return sent(row, 'import', report, { outcome: 'unknown', reason: IMPORT_REFUSED, facts: next.facts });
      default:
        return toSent(row, report, 'import');
    }
  };
}

async function sendCreate(account: Account, row: ClaimedRow, options: WriteOptions): Promise<SentRow> {
  const report = await write(account, 'customers.create', { ...options, body: row.fields });
  return toSent(row, report, 'create', createdId(account, 'customers', report));
}
