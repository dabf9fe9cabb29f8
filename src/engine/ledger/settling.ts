/** What every read-back has to do, whatever it reads: what is missing, updates with an unknown outcome, what is left open. */
import { absenceAfterMs } from '../../absence.ts';
import { type AuditedResource, oweAudits } from './debts.ts';
import type { Queryable, Run } from './runs.ts';

/**
 * SQL: of what the service acknowledged, so much is missing from the list that the list is not to be trusted. A service may
 * lose a call now and then; one that loses a tenth, and three, shows a part of its list only.
 */
export const LACKS_MUCH = (missing: string, found: string): string =>
  `(${missing} > 0 and (${found} = 0 or (${missing} >= 3 and ${missing} * 10 >= ${found})))`;

export interface Settled {
  /** Rows to be sent again: they are not there, and were given the time to be. */
  readonly ready: number;
  /** Rows that may still appear; a read that starts after `againInMs` decides them. */
  readonly open: number;
  readonly againInMs: number;
}

/** An update leaves the same however often it is sent: one in doubt is simply sent again. */
export async function repeatUpdates(db: Queryable, runId: string): Promise<void> {
  await db.query(
    `update ledger.rows set state = 'ready' where run_id = $1 and state = 'unknown' and action = 'update'`,
    [runId],
  );
}

export interface Judging {
  readonly resource: AuditedResource;
  readonly settleMs: number;
  /**
   * SQL: common table expressions over the missing rows, the last of which is `judged (source_id, reason)`; a row without a
   * reason is sent again. `$1` is the run, `$2` when absence began to count, then `values`.
   */
  readonly judged: string;
  readonly values: readonly unknown[];
  /** SQL over row `s`: what a person reads, by reason. */
  readonly details: Readonly<Record<string, string>>;
}

/** Sends missing rows again, which leaves an audit debt for each, or hands them to a person. */
export async function decideMissing(db: Queryable, run: Run, readAt: Date, judging: Judging): Promise<void> {
  const { resource, settleMs, judged, values, details } = judging;
  const sentBefore = new Date(readAt.getTime() - absenceAfterMs(settleMs));
  const reasons = Object.entries(details).map(([reason, detail]) => `when '${reason}' then ${detail}`);
  await db.query(
    `with ${judged}, decided as (
       update ledger.rows s set
         state = case when judged.reason is null then 'ready' else 'settled' end,
         verdict = case when judged.reason is not null then 'review' end,
         reason = judged.reason, detail = case judged.reason ${reasons.join(' ')} end
       from judged where s.run_id = $1 and s.source_id = judged.source_id returning s.*
     )
     ${oweAudits(resource, `decided s join ledger.runs u on u.id = s.run_id where s.state = 'ready'`, values.length + 3)}`,
    [run.id, sentBefore, ...values, settleMs],
  );
}

/**
 * A refusal inside an HTTP 200 may come from a service that keeps the record all the same. What the read-back has not found
 * is rejected, in the service's words; what comes later has the key that later runs look for.
 */
export async function rejectRefused(db: Queryable, runId: string): Promise<void> {
  await db.query(
    `update ledger.rows set state = 'settled', verdict = 'rejected'
     where run_id = $1 and state = 'unknown' and reason = 'REFUSED_BY_SERVICE'`,
    [runId],
  );
}

export async function whatIsOpen(db: Queryable, runId: string, settleMs: number): Promise<Settled> {
  const counted = await db.query<Settled>(
    `select (count(*) filter (where state = 'ready'))::int as ready,
       (count(*) filter (where state in ('acked', 'unknown')))::int as open,
       coalesce(greatest(0, extract(epoch from max(since) filter (where state in ('acked', 'unknown')) - clock_timestamp())
         * 1000 + $2), 0)::float8 as "againInMs"
     from ledger.rows where run_id = $1 and state <> 'settled'`,
    [runId, absenceAfterMs(settleMs)],
  );
  return counted.rows[0] ?? { ready: 0, open: 0, againInMs: 0 };
}
