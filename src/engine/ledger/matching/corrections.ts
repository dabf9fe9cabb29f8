/** Which load has the corrected lines of a load. */
import type { Queryable } from '../../../storage/queryable.ts';
import { NOT_APPROVED } from '../approval.ts';

/** If a receiver on another machine has staged nothing for this long, it counts as dead. */
export const SILENT_S = 60;

/**
 * SQL: the load that has the corrected lines of load `run`. Instead of a load that a person did not approve, the one that has
 * its corrected lines counts. A load that its process left half received does not count.
 */
export const CORRECTION_OF = (run: string): string => `(with recursive corrections as (
    select ${run}::text as id, '${NOT_APPROVED}'::text as error_code, null::timestamptz as created_at
    union select c.id, c.error_code, c.created_at from corrections o
      join ledger.loads l on l.form->>'corrects' is not null and l.form->>'corrects' = o.id
      join ledger.runs c on c.id = l.run_id
    where o.error_code = '${NOT_APPROVED}' and (l.is_received
      or (c.status = 'paused' and l.received_at + ${SILENT_S} * interval '1 s' > clock_timestamp())))
  select id from corrections where error_code is distinct from '${NOT_APPROVED}' order by created_at limit 1)`;

export async function correctionOf(db: Queryable, run: string): Promise<string | undefined> {
  const found = await db.query<{ id: string | null }>(`select ${CORRECTION_OF('$1')} as id`, [run]);
  return found.rows[0]?.id ?? undefined;
}

/** The same for the file of the loads with this id, approved or not. */
export async function correctionOfFile(
  db: Queryable,
  { scope, loadId }: { readonly scope: string; readonly loadId: string },
): Promise<string | undefined> {
  const found = await db.query<{ id: string | null }>(
    `select ${CORRECTION_OF('u.id')} as id from ledger.loads l join ledger.runs u on u.id = l.run_id
     where l.scope = $1 and l.load_id = $2 and not u.dry_run order by u.created_at desc`,
    [scope, loadId],
  );
  return found.rows.find(({ id }) => id !== null)?.id ?? undefined;
}
