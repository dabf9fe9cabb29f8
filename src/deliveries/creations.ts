/**
 * The creations that were about to be sent to a target, kept among the ledger's links: whoever comes upon one after a
 * crash knows that there may be something already which nobody has linked yet.
 */
import type { Queryable } from '../ledger/runs.ts';
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
         from ledger.links where account = $1 and kind = $2 and source_id = $3`,
        [...keyOf(delivery), TAKEN],
      );
      return rows[0];
    },
    async begin(delivery, marker, last) {
      const { rowCount } = await db.query(
        `insert into ledger.links (account, kind, source_id, record_id, run_id, linked_at)
         values ($1, $2, $3, $4, '', clock_timestamp())
         on conflict (account, kind, source_id) do update set linked_at = excluded.linked_at, hash = null
           where ledger.links.linked_at = $5::timestamptz`,
        [...keyOf(delivery), marker, last?.at ?? null],
      );
      return rowCount === 1;
    },
    async noteTaken(delivery) {
      await db.query('update ledger.links set hash = $4 where account = $1 and kind = $2 and source_id = $3', [
        ...keyOf(delivery),
        TAKEN,
      ]);
    },
    async forget(delivery) {
      await db.query('delete from ledger.links where account = $1 and kind = $2 and source_id = $3', keyOf(delivery));
    },
  };
}
