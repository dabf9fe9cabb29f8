/** Loads whose rows an earlier load has from another file. */
import type { Queryable } from '../../storage/queryable.ts';
import { ARRIVED } from './unsettled.ts';

/** The load that has the same rows from another file, and has sent some of them or may; undefined if there is none. */
export async function loadedBefore(db: Queryable, runId: string): Promise<string | undefined> {
  const found = await db.query<{ id: string }>(
    `select u.id from ledger.loads l
       join ledger.loads o on o.scope = l.scope and o.content = l.content and o.sha256 <> l.sha256
       join ledger.runs u on u.id = o.run_id and not u.dry_run
     where l.run_id = $1 and (u.status <> 'cancelled'
       or exists (select from ledger.attempts a where a.run_id = u.id and a.outcome in ${ARRIVED}))
     order by u.created_at limit 1`,
    [runId],
  );
  return found.rows[0]?.id;
}
