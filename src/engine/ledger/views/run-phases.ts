/** How long each phase of a run took, and what the run waited for in it. */
import type { Queryable } from '../../../storage/queryable.ts';
import { awaitsApproval } from '../approval.ts';
import type { Run, RunStatus } from '../runs.ts';
import { WAITS_FOR_RUN } from '../waiting-runs.ts';

export interface PhaseTimes {
  readonly phase: string;
  readonly startedAt: Date;
  /** Without its waits, and without the work since `workingSince`. In milliseconds. */
  readonly workedMs: number;
  /** Undefined if it waits now, or has ended. */
  readonly workingSince?: Date;
  readonly waits: readonly RunWait[];
}

export interface RunWait {
  /**
   * `approval`: by a person. `account`: it was suspended. `retry`: the service, Postgres or Redis failed. `worker`: no process worked
   * on the run.
   */
  readonly for: 'approval' | 'run' | 'account' | 'retry' | 'worker' | 'paused' | 'failed';
  /** Why the run was paused or had failed, until it was resumed. */
  readonly code?: string;
  /** The run it waited for. */
  readonly run?: string;
  /** Together, if it waited several times for this, without the wait since `since`. In milliseconds. */
  readonly tookMs: number;
  /** Undefined if it is over. */
  readonly since?: Date;
}

interface Step {
  readonly startedAt: Date;
  readonly isOpen: boolean;
  readonly tookMs: number;
  readonly status: RunStatus;
  readonly phase: string;
  readonly errorCode: string;
  readonly isAway: boolean;
  readonly isSuspended: boolean;
  readonly waitsFor: string | null;
  readonly idleMs: number;
}

/** The phases of a run in the order in which they began; none of a run of an earlier version that had ended. */
export async function phaseTimes(db: Queryable, { id }: Pick<Run, 'id'>): Promise<readonly PhaseTimes[]> {
  const found = await db.query<Step>(
    `with steps as (
       select id, ended_at, status, phase, error_code, is_away, is_suspended, waits_for, idle_ms from ledger.run_steps where run_id = $1
       union all
       select null, clock_timestamp(), status, phase, error_code, trouble_since is not null,
         exists (select from ledger.suspensions s where s.scope = u.scope), checkpoint->'waits'->>'run', 0
       from ledger.runs u where id = $1 and status in ('running', 'paused')
     ), timed as (
       select s.*, greatest(u.created_at, lag(s.ended_at, 1, u.created_at) over (order by s.id)) as started_at
       from steps s join ledger.runs u on u.id = $1
     )
     select started_at as "startedAt", id is null as "isOpen", round(extract(epoch from ended_at - started_at) * 1000)::float8 as "tookMs",
       status, phase, coalesce(error_code, '') as "errorCode", is_away as "isAway", is_suspended as "isSuspended", waits_for as "waitsFor", round(idle_ms) as "idleMs"
     from timed where phase is not null and ended_at >= started_at order by id`,
    [id],
  );
  const phases = new Map<string, PhaseTimes>();
  for (const step of found.rows) phases.set(step.phase, withStep(phases.get(step.phase), step));
  return [...phases.values()];
}

function withStep(known: PhaseTimes | undefined, step: Step): PhaseTimes {
  const { phase, startedAt, status, isOpen, idleMs } = step;
  const tookMs = isOpen ? 0 : step.tookMs;
  const idle = status === 'running' ? Math.min(tookMs, idleMs) : 0;
  const since = isOpen ? startedAt : undefined;
  const wait = waitOf(step);
  const { workedMs, waits, ...rest } = known ?? { phase, startedAt, workedMs: 0, waits: [] };
  const added: RunWait[] = wait === undefined ? [] : [{ ...wait, tookMs: tookMs - idle, since }];
  if (idle > 0) added.push({ for: 'worker', tookMs: idle });
  return {
    ...rest,
    workedMs: workedMs + (wait === undefined ? tookMs - idle : 0),
    workingSince: wait === undefined ? since : undefined,
    waits: added.reduce(withWait, waits),
  };
}

function waitOf({ status, errorCode, isAway, isSuspended, waitsFor }: Step): Omit<RunWait, 'tookMs'> | undefined {
  if (status === 'failed' && errorCode !== '') return { for: 'failed', code: errorCode }; // without: it is being opened again
  if (awaitsApproval({ status, errorCode })) return { for: 'approval' };
  if (waitsFor !== null && (status === 'running' || errorCode === WAITS_FOR_RUN)) return { for: 'run', run: waitsFor };
  if (status === 'paused' && errorCode !== '') return { for: 'paused', code: errorCode }; // without: its file is being read
  if (isSuspended) return { for: 'account' };
  return isAway ? { for: 'retry' } : undefined;
}

function withWait(waits: readonly RunWait[], wait: RunWait): readonly RunWait[] {
  const i = waits.findIndex((one) => one.for === wait.for && one.code === wait.code && one.run === wait.run);
  const known = waits[i];
  if (known === undefined) return [...waits, wait];
  return waits.with(i, { ...wait, tookMs: known.tookMs + wait.tookMs });
}
