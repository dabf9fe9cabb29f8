/** The last creation for each task, in the ledger: after a crash it shows that an item may exist that no link names yet. */

import type { Delivery } from '../../contract/target.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { sourceIdOf } from '../links/item-links.ts';
import type { CreationLog, LoggedCreation } from '../targets/service-creation.ts';

const OF_TASK = 'scope = $1 and target = $2 and source_id = $3';

export function creationLog(db: Queryable, target: string): CreationLog {
  const keyOf = ({ account, task }: Delivery) => [account, target, sourceIdOf(task)];
  return {
    async lastOf(delivery) {
      const { rows } = await db.query<LoggedCreation>(
        `select at::text as at, (extract(epoch from clock_timestamp() - at) * 1000)::float8 as "agoMs",
           is_taken as "isTaken" from ledger.creations where ${OF_TASK}`,
        keyOf(delivery),
      );
      return rows[0];
    },
    async begin(delivery, last) {
      const { rows } = await db.query<{ at: string }>(
        `insert into ledger.creations as c (scope, target, source_id) values ($1, $2, $3)
         on conflict (scope, target, source_id) do update set at = clock_timestamp(), is_taken = false
           where c.at = $4::timestamptz
         returning at::text as at`,
        [...keyOf(delivery), last?.at ?? null],
      );
      return rows[0]?.at;
    },
    async noteTaken(delivery) {
      await db.query(`update ledger.creations set is_taken = true where ${OF_TASK}`, keyOf(delivery));
    },
    async forget(delivery, at) {
      await db.query(`delete from ledger.creations where ${OF_TASK} and at = coalesce($4::timestamptz, at)`, [
        ...keyOf(delivery),
        at ?? null,
      ]);
    },
  };
}
