/** Which runs a process works on: every process notes its runs every few seconds, even while they wait. */
import type { Queryable } from '../../storage/queryable.ts';

const NOTED_EVERY_S = 3;
/** After this time without a note, no process works on the run. */
const UNATTENDED_S = 15;
/** Failures before a pause of this length say nothing about the service now. */
const FORGOTTEN_S = 60;

/** Notes that this process works on these runs. Failures from before a time without any process are forgotten. */
export async function noteAttended(db: Queryable, runIds: readonly string[]): Promise<void> {
  if (runIds.length === 0) return;
  await db.query(
    `with due as (
       select id from ledger.runs where id = any($1) and status = 'running' and (attended_at is null
         or attended_at not between clock_timestamp() - $2 * interval '1 s' and clock_timestamp())
       for update skip locked
     )
     update ledger.runs u set attended_at = clock_timestamp(),
       trouble_since = case when attended_at > clock_timestamp() - $3 * interval '1 s' then trouble_since end
     from due where u.id = due.id`,
    [runIds, NOTED_EVERY_S, FORGOTTEN_S],
  );
}

/** Whether a process works on the run, or may be about to because the run has just been started. */
export async function isAttended(db: Queryable, runId: string): Promise<boolean> {
  const found = await db.query(
    `select 1 from ledger.runs
     where id = $1 and greatest(attended_at, created_at) > clock_timestamp() - $2 * interval '1 s'`,
    [runId, UNATTENDED_S],
  );
  return found.rowCount !== 0;
}
