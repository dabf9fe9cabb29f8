/**
 * The creations that were about to be sent to a target, kept among the ledger's links: whoever comes upon one after a
 * crash knows that there may be something already which nobody has linked yet.
 */
import type { Queryable } from '../engine/ledger/runs.ts';
import { sourceIdOf } from '../links/item-links.ts';
import type { CreationLog, LoggedCreation } from '../targets/service-creation.ts';
import type { Delivery } from '../targets/target.ts';

/** In place of a hash of content, which these have none of. */
const TAKEN = 'taken';

/** Under a kind of their own beside the links with the target's items. */
export function creationLog(db: Queryable, target: string): CreationLog {
  const keyOf = ({ account, task }: Delivery) => [account, `creating:${target}`, sourceIdOf(task)];
  return {
    async lastOf(delivery) {
      const { rows } = await db.query<LoggedCreation>(
        `select linked_at::text as at, (extract(epoch from clock_timestamp() - linked_at) * 1000)::float8 as "agoMs",
           coalesce(hash = $4, false) as "isTaken"
         from ledger.links where scope = $1 and kind = $2 and source_id = $3`,
        [...keyOf(delivery), TAKEN],
      );
      return rows[0];
    },
    async begin(delivery, marker, last) {
      const key = keyOf(delivery);
      const { rows } =
        last === undefined
          ? await db.query<{ at: string }>(
              `insert into ledger.links (scope, kind, source_id, record_id, run_id, linked_at)
               values ($1, $2, $3, $4, '', clock_timestamp()) on conflict do nothing
               returning linked_at::text as at`,
              [...key, marker],
            )
          : await db.query<{ at: string }>(
              `update ledger.links set linked_at = clock_timestamp(), hash = null
               where scope = $1 and kind = $2 and source_id = $3 and linked_at = $4::timestamptz
               returning linked_at::text as at`,
              [...key, last.at],
            );
      return rows[0]?.at;
    },
    async noteTaken(delivery) {
      await db.query('update ledger.links set hash = $4 where scope = $1 and kind = $2 and source_id = $3', [
        ...keyOf(delivery),
        TAKEN,
      ]);
    },
    async withdraw(delivery, at) {
      await db.query(
        `delete from ledger.links where scope = $1 and kind = $2 and source_id = $3 and linked_at = $4::timestamptz`,
        [...keyOf(delivery), at],
      );
    },
    async forget(delivery) {
      await db.query('delete from ledger.links where scope = $1 and kind = $2 and source_id = $3', keyOf(delivery));
    },
  };
}
