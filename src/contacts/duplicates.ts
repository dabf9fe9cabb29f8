/** Customers that are there more than once, which a person has to remove: the service has no call for it. */

import { SAME_PERSON } from '../engine/ledger/matching/customer-levels.ts';
import type { Queryable, Run } from '../engine/ledger/runs.ts';

/**
 * Reports free customers that are the same person as a contact which has its customer: a commit that came later than
 * `settle`, or somebody else's. `free`: SQL, which records `k` to look at; its `$2` is `pass`.
 */
export async function reportDuplicates(
  db: Queryable,
  run: Run,
  { free, pass }: { free: string; pass: number },
): Promise<void> {
  await db.query(
    `with free as materialized (select * from ledger.records k where ${free}),
     had as (
       select * from ledger.rows s where s.run_id = $1 and s.state = 'settled' and s.record_id is not null
         and (s.verdict in ('created', 'existing', 'unchanged') or s.reason = 'DUPLICATE')
     ), extra as (
       select source_id, string_agg(record_id, ', ' order by length(record_id), record_id) as ids from (
         select s.source_id, k.record_id from had s join free k on k.contact_id = s.source_id
         union
         select s.source_id, k.record_id from had s join free k on ${SAME_PERSON} where k.contact_id is null
       ) pairs group by source_id
     )
     update ledger.rows s set verdict = 'review', reason = 'DUPLICATE',
       detail = format('it is there more than once: customers %s and %s; remove what is too many by hand', s.record_id, ids)
     from extra where s.run_id = $1 and s.source_id = extra.source_id`,
    [run.id, pass],
  );
}
