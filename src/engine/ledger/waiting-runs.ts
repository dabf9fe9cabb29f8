/** Runs that wait for another run: they pause while the other run is paused, and are resumed when it is not. */
import { z } from 'zod';
import type { Queryable } from '../../storage/queryable.ts';
import { resumeRun } from './run-status.ts';
import type { Run } from './runs.ts';

/** The error code of such a paused run; the run it waits for is in its checkpoint. */
export const WAITS_FOR_RUN = 'WAITS_FOR_RUN';

/** The run that a run waits for now. */
export function waitsFor({ checkpoint }: Pick<Run, 'checkpoint'>): string | undefined {
  return z.object({ waits: z.object({ run: z.string() }) }).safeParse(checkpoint).data?.waits.run;
}

/** Resumes runs whose reason for the pause no longer exists. */
export async function resumeWaiting(db: Queryable): Promise<void> {
  const found = await db.query<{ id: string }>(
    `select r.id from ledger.runs r left join ledger.runs other on other.id = r.checkpoint->'waits'->>'run'
     where r.status = 'paused' and r.error_code = $1 and other.status is distinct from 'paused'`,
    [WAITS_FOR_RUN],
  );
  for (const { id } of found.rows) await resumeRun(db, id);
}

export interface WriterBeside extends Pick<Run, 'id' | 'status' | 'errorCode' | 'account' | 'title'> {
  readonly settled: number;
  readonly open: number;
}

/** The unfinished run that writes the same resource, with its numbers of settled and open rows. */
export async function writerBeside(
  db: Queryable,
  { id, sync, scope, resource }: Run,
): Promise<WriterBeside | undefined> {
  const found = await db.query<WriterBeside>(
    `select u.id, u.status, u.error_code as "errorCode", u.account, coalesce(u.title, u.sync) as title, (count(r.*) filter (where r.state = 'settled'))::int as settled,
       (count(r.*) filter (where r.state <> 'settled'))::int as open
     from ledger.runs u left join ledger.rows r on r.run_id = u.id
     where u.status in ('running', 'paused') and not u.dry_run and u.id <> $1
       and (u.sync = $2 or (u.scope = $3 and u.resource = $4)) group by u.id limit 1`,
    [id, sync, scope, resource],
  );
  return found.rows[0];
}
