/** How a customer is updated: with all its fields, because a service may empty those that it is not sent. */
import { type LongIds, toBodyId } from '../../client/call/dialect.ts';
import type { JsonObject } from '../../client/call/json.ts';
import type { Account } from '../../engine/account/account.ts';
import { type WriteOptions, write } from '../../engine/account/writes.ts';
import type { Before, ClaimedRow } from '../../engine/ledger/rows.ts';
import { type SentRow, toSentUpdate } from '../../engine/worker/sent-row.ts';
import { maskedIn } from '../customers/keys.ts';
import { toSeenCustomer } from '../customers/read-customers.ts';
import { type ReadBefore, readNow, withCalls } from '../record-now.ts';

export interface UpdateHow {
  readonly longIds: LongIds;
  readonly before: ReadBefore;
}

/** Sends the record of the list with the changes applied, or, if the list is old, the current one. A read shows whether it was stored. */
export async function sendUpdate(
  account: Account,
  row: ClaimedRow,
  options: WriteOptions,
  { longIds, before }: UpdateHow,
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
