/** Contacts as inputs of a run. */

import type { Queryable } from '../../../storage/queryable.ts';
import type { Run } from '../runs.ts';

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
}

/** Row numbers ascend in the order in which the contacts were seen. */
export async function keepContacts(
  db: Queryable,
  { id }: Run,
  inputs: readonly { readonly contact: ContactInput; readonly n: number }[],
): Promise<void> {
  if (inputs.length === 0) return;
  const column = <K extends keyof ContactInput>(name: K) => inputs.map(({ contact }) => contact[name] ?? null);
  await db.query(
    `insert into ledger.inputs (run_id, n, source_id, label, hash, email, phone, name, org, fields)
     select $1, * from unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::jsonb[])`,
    [
      id,
      inputs.map(({ n }) => n),
      column('id'),
      column('label'),
      column('hash'),
      column('email'),
      column('phone'),
      column('name'),
      column('org'),
      inputs.map(({ contact }) => JSON.stringify(contact.fields)),
    ],
  );
}
