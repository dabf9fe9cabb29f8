/** One read of all customers into the run's match index: the baseline before the first write, and every read-back. */
import { idOf, isJsonObject, type Json } from '../client/dialect.ts';
import { LockstepError } from '../errors.ts';
import { keepRecords, type SeenRecord } from '../ledger/records.ts';
import { recordProgress } from '../ledger/runs.ts';
import type { Exclusive } from '../worker/exclusive.ts';
import type { JobContext } from '../worker/job.ts';
import { readStream } from '../worker/reads.ts';
import { customerFieldsOf, keysOf } from './mapping.ts';

/** Reads the list once, whole; answers when the read began, on the database's clock. @throws RunFailed, ComeBack */
export async function readCustomers(
  { pool, run, account, signal }: JobContext<unknown>,
  exclusive: Exclusive,
  pass: number,
): Promise<Date> {
  const clock = await pool.query<{ now: Date }>('select clock_timestamp() as now');
  await readStream(account, 'customers.getall', {
    lane: run.lane,
    signal,
    onRecords: async (batch) => {
      const records = batch.map((record) => toSeenRecord(record, account.dialect));
      await exclusive.transaction((db) => keepRecords(db, run.id, pass, records));
    },
  });
  await recordProgress(pool, run.id, { calls: 1 });
  return clock.rows[0]?.now ?? new Date();
}

function toSeenRecord(record: Json, dialect: Parameters<typeof idOf>[2]): SeenRecord {
  const recordId = idOf(record, 'customers', dialect);
  if (recordId === undefined || !isJsonObject(record)) {
    throw new LockstepError(
      'RECORD_WITHOUT_ID',
      'A customer came without an id. Name the member that holds it under accounts.NAME.dialect.idField.customers.',
    );
  }
  const fields = customerFieldsOf(record);
  const contactId = record.contact_id;
  const isReference = typeof contactId === 'number' || typeof contactId === 'string';
  const tenant = typeof record.tenant_id === 'number' ? { tenant_id: record.tenant_id } : {};
  return {
    recordId,
    contactId: isReference && contactId !== '' ? String(contactId) : undefined,
    ...keysOf(fields),
    fields: { ...fields, ...tenant },
  };
}
