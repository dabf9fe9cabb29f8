/** The last creation for each task, in the ledger: after a crash it shows that an item or a comment may exist that nothing names yet. */
import { type Delivery, TASK_KINDS } from '../../contract/target.ts';
import type { Queryable } from '../../storage/queryable.ts';
import type { CreatedItem, Creating, DetailLog, LoggedCreation } from '../targets/items/creation-log.ts';
import { isOlder, isSameTask } from './delivery-sql.ts';

const OF_TASK = 'scope = $1 and target = $2 and source_id = $3';

export function creationLog(db: Queryable, target: string): DetailLog {
  const keyOf = ({ account, task }: Creating) => [account, target, `${task.kind}:${task.id}`];
  return {
    async lastOf(what) {
      const { rows } = await db.query<LoggedCreation>(
        `select at::text as at, (extract(epoch from clock_timestamp() - at) * 1000)::float8 as "agoMs",
           is_taken as "isTaken", result from ledger.creations where ${OF_TASK}`,
        keyOf(what),
      );
      return rows[0];
    },
    async begin(what, last) {
      const { rows } = await db.query<{ at: string }>(
        `insert into ledger.creations as c (scope, target, source_id, delivery_id) values ($1, $2, $3, $5)
         on conflict (scope, target, source_id) do update
           set at = clock_timestamp(), is_taken = false, result = null, delivery_id = excluded.delivery_id
           where c.at = $4::timestamptz
         returning at::text as at`,
        [...keyOf(what), last?.at, what.id],
      );
      return rows[0]?.at;
    },
    async noteTaken(what, result) {
      await db.query(`update ledger.creations set is_taken = true, result = $4 where ${OF_TASK}`, [
        ...keyOf(what),
        result,
      ]);
    },
    async lastCreated(agoMs) {
      const { rows } = await db.query<CreatedItem>(
        `select scope as account, json_build_object('kind', split_part(source_id, ':', 1), 'id', substr(source_id, strpos(source_id, ':') + 1)) as task,
           result as "itemId"
         from ledger.creations where target = $1 and result is not null and split_part(source_id, ':', 1) = any($2)
           and at <= clock_timestamp() - $3 * interval '1 ms' order by at desc limit 1`,
        [target, TASK_KINDS, agoMs],
      );
      return rows[0];
    },
    async lastDelivered({ id }: Delivery) {
      const { rows } = await db.query<Pick<Delivery, 'id' | 'task'>>(
        `select t.id, t.task from ledger.deliveries d join ledger.deliveries t on ${isSameTask('t', 'd')}
         left join ledger.creations c
           on c.target = d.target and c.scope = d.scope and c.source_id = d.kind || ':' || d.task_id
         where d.id = $1 and (t.id = c.delivery_id or (${isOlder('t', 'd')} and t.verdict in ('delivered', 'already')))
         order by t.created_at desc, t.sequence desc limit 1`,
        [id],
      );
      return rows[0];
    },
    async forget(what, at) {
      await db.query(`delete from ledger.creations where ${OF_TASK} and at = coalesce($4::timestamptz, at)`, [
        ...keyOf(what),
        at,
      ]);
    },
  };
}
