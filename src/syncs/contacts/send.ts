/** How one row of a contact sync is sent, and what its answer means for the row and the run. */
import type { Lane } from '../../client/budget/budget.ts';
import { importBody, type LongIds, toBodyId } from '../../client/call/dialect.ts';
import type { JsonObject } from '../../client/call/json.ts';
import type { Account } from '../../engine/account/account.ts';
import { type WriteOptions, write } from '../../engine/account/writes.ts';
import { IMPORT_REFUSED } from '../../engine/ledger/matching/import-trial.ts';
import type { Before, ClaimedRow } from '../../engine/ledger/rows.ts';
import { type SendRow, writeOptions } from '../../engine/worker/row-source.ts';
import { type SentRow, sent, toSent, toSentUpdate } from '../../engine/worker/sent-row.ts';
import { maskedIn } from '../customers/keys.ts';
import { toSeenCustomer } from '../customers/read-customers.ts';
import { createdId, type ReadBefore, readNow, withCalls } from '../record-now.ts';
import { afterRefusal, type ImportMode } from './import-mode.ts';

/** `before`: what the customers of updates held when they were planned. */
export function contactSender(account: Account, lane: Lane, mode: ImportMode, before: ReadBefore): SendRow {
  return async (row, how) => {
    const options = writeOptions(lane, row, how);
    if (row.action === 'update') return sendUpdate(account, row, options, mode.longIds('customers'), before);
    if (row.action === 'create' || mode.isOff) return sendCreate(account, row, options);
    const body = importBody(account.dialect, row.sourceId, row.fields, mode.longIds('contacts'));
    const report = await write(account, 'customers.import', { ...options, body });
    const { written } = report;
    if (written.status === 'applied' || (written.status === 'in-doubt' && written.isThere)) mode.hasWorked = true;
    if (written.status !== 'refused' && written.status !== 'not-now')
      return toSent(row, report, 'import', createdId(account, 'customers', report));
    const next = afterRefusal(mode, row.sourceId, written);
    switch (next.status) {
      case 'create':
        // Not applied (assumption A3 in docs/protocol.md): creating cannot double it.
        return withCalls(await sendCreate(account, row, options), report);
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

/**
 * Updates a customer with all its fields, because a service may empty those that it is not sent: the record of the list with the
 * changes applied, or, if the list is old, the current one. A read shows whether it was stored.
 */
async function sendUpdate(
  account: Account,
  row: ClaimedRow,
  options: WriteOptions,
  longIds: LongIds,
  before: ReadBefore,
): Promise<SentRow> {
  const planned = await before(row.n);
  if (!planned.isOld) return send(account, row, options, longIds);
  const now = await readNow(account, 'customers', row, options);
  const fields = now.record === undefined ? row.fields : changed(row.fields, planned, now.record, account);
  return withCalls(await send(account, { ...row, fields }, options, longIds), now);
}

/** The record with what the row changes. A member that it does not show is sent as the list showed it. */
function changed(fields: ClaimedRow['fields'], { fields: was }: Before, record: JsonObject, account: Account) {
  const now = toSeenCustomer(record, account).fields as ClaimedRow['fields']; // safe: texts, and the tenant as it is stored
  if (maskedIn(now as Before['fields']) !== undefined) return fields;
  const mine = Object.entries(fields).map(([name, value]) => {
    if (value !== was[name]) return [name, value];
    const isEmptied = name in record && name !== 'tenant_id';
    return [name, now[name] ?? (isEmptied ? '' : value)];
  });
  return { ...now, ...Object.fromEntries(mine) };
}

async function send(account: Account, row: ClaimedRow, options: WriteOptions, longIds: LongIds): Promise<SentRow> {
  const body = { ...row.fields, id: toBodyId(row.recordId ?? '', longIds) };
  return toSentUpdate(row, await write(account, 'customers.update', { ...options, body }), 'customer');
}
