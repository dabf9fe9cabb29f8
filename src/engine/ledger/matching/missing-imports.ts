/** Imported contacts that are missing from a read of the customers while the read shows customers without a contact. */
import type { Queryable } from '../../../storage/queryable.ts';
import { prepareSetWork, startOfRead } from '../match-index.ts';
import type { Run } from '../runs.ts';
import { gatherSent } from '../settling.ts';
import { NEW_CUSTOMER } from './settle-contacts.ts';

/** At most `limit` of them, in the order they were seen; run it in its own transaction. */
export async function missingImports(
  db: Queryable,
  run: Run,
  { pass, settleMs }: { readonly pass: number; readonly settleMs: number },
  limit: number,
): Promise<readonly { readonly id: string; readonly hash: string }[]> {
  const readAt = await startOfRead(db, run.id, { kind: 'customer', pass });
  const isNew = NEW_CUSTOMER('$1', '$2');
  if ((await db.query(`select from ledger.records k where ${isNew} limit 1`, [run.id, pass])).rowCount === 0) return [];
  await prepareSetWork(db, run.id);
  await gatherSent(db, run.id);
  // One `not exists` for each key: Postgres joins each by a hash, and would compare each row with each record for an "or".
  const isUnnamed = ['o.source_id = k.contact_id', 'o.email = k.email', 'k.email is null and o.phone = k.phone']
    .map((same) => `not exists (select from ledger.inputs o where o.run_id = $1 and ${same})`)
    .join(' and ');
  // A phone names the customer only if one of the two has no e-mail, as in the matching: the e-mail may have been edited.
  const byPhone = ['i', 'k'].map((one) => `${one}.email is null and k.phone = i.phone`);
  const isMissing = ['k.contact_id = i.source_id', 'k.email = i.email', ...byPhone]
    .map((same) => `not exists (select from shown k where ${same})`)
    .join(' and ');
  const missing = await db.query<{ id: string; hash: string }>(
    `with strangers as materialized (select from ledger.records k where ${isNew} and ${isUnnamed} limit 1),
     shown as (
       select k.contact_id, k.email, k.phone from ledger.records k
       where k.run_id = $1 and k.kind = 'customer' and k.first_pass > 0 and k.last_pass = $2
     )
     select i.source_id as id, i.hash from sent s join ledger.inputs i on i.run_id = $1 and i.n = s.n
     where s.action = 'import' and s.since + $4 * interval '1 ms' <= $3 and exists (select from strangers) and ${isMissing}
     order by i.n limit $5`,
    [run.id, pass, readAt, settleMs, limit],
  );
  return missing.rows;
}
