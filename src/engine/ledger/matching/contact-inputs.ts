/** Contacts as inputs of a run. */
import type { Cause } from '../../../base/reasons/reason.ts';
import { columnsOf } from '../../../storage/columns.ts';
import type { Queryable } from '../../../storage/queryable.ts';
import type { Run } from '../runs.ts';
import { settleRows } from '../transitions.ts';

export interface ContactInput {
  readonly id: string;
  readonly label: string;
  readonly hash: string;
  readonly email: string | undefined;
  readonly phone: string | undefined;
  readonly name: string | undefined;
  readonly org: string | undefined;
  /** The fields that are sent, with the customer's field names. */
  readonly fields: object;
  /** Why it must not be sent: its row is invalid from the start, and its customer stays as it is. Default: none. */
  readonly failures?: readonly Cause[];
}

/** Row numbers ascend in the order in which the contacts were seen. */
export async function keepContacts(
  db: Queryable,
  { id }: Run,
  inputs: readonly { readonly contact: ContactInput; readonly n: number }[],
): Promise<void> {
  if (inputs.length === 0) return;
  const rows = inputs.map(({ contact, n }) => ({ ...contact, n }));
  await db.query(
    `insert into ledger.inputs (run_id, n, source_id, label, hash, email, phone, name, org, fields)
     select $1, * from unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::jsonb[])`,
    [id, ...columnsOf(rows, 'n', 'id', 'label', 'hash', 'email', 'phone', 'name', 'org', 'fields')],
  );
  await rejectFailed(db, id, inputs);
}

async function rejectFailed(
  db: Queryable,
  runId: string,
  inputs: readonly { readonly contact: ContactInput; readonly n: number }[],
): Promise<void> {
  const failed = inputs.flatMap(({ n, contact: { failures: [first, ...also] = [] } }) =>
    first === undefined ? [] : { n, reason: first.code, facts: { ...first.facts, ...(also.length > 0 && { also }) } },
  );
  if (failed.length === 0) return;
  await settleRows(db, runId, {
    sql: `select n, 'invalid' as verdict, reason, facts, null as record_id
      from jsonb_to_recordset($2) as t (n bigint, reason text, facts jsonb)`,
    values: [JSON.stringify(failed)],
  });
}
