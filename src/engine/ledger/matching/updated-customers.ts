/** Updates of customers, checked by a read that began after they were sent. */
import { absenceAfterMs } from '../../../base/absence.ts';
import type { Queryable } from '../../../storage/queryable.ts';
import type { Run } from '../runs.ts';
import { IS_LAST_UPDATE, type ReadBack } from '../settling.ts';
import { settleRows } from '../transitions.ts';

/** The customers of open updates, and whether any other row is open. */
export async function openUpdates(
  db: Queryable,
  runId: string,
): Promise<{ readonly ids: readonly string[]; readonly isAnyOther: boolean }> {
  const found = await db.query<{ ids: string[] | null; isAnyOther: boolean | null }>(
    `select array_agg(distinct record_id) filter (where action = 'update') as ids, bool_or(action <> 'update') as "isAnyOther"
     from ledger.plans where run_id = $1 and n not in (select n from ledger.verdicts where run_id = $1)`,
    [runId],
  );
  const [{ ids, isAnyOther } = { ids: null, isAnyOther: null }] = found.rows;
  return { ids: ids ?? [], isAnyOther: isAnyOther ?? false };
}

/** SQL: a value without what services write in other forms: letter case, spaces, the signs of phone numbers. */
const PLAIN = (value: string) => `regexp_replace(lower(coalesce(${value}, '')), '[^[:alnum:]]', '', 'g')`;

/** SQL: customer `k` shows nothing of update `p`: each member that it changes has its former value. */
const IS_IGNORED = `coalesce((select bool_and(${PLAIN('k.fields->>f.key')} = ${PLAIN('p.was->>f.key')})
  from jsonb_each_text(p.fields) f where ${PLAIN('f.value')} <> ${PLAIN('p.was->>f.key')}), false)`;

/** Settles updates that are not sent again and whose customers the read has shown, after the time that the service may lag. Needs `sent`. */
export async function settleUpdated(
  db: Queryable,
  run: Run,
  { pass, readAt, settleMs }: Pick<ReadBack, 'readAt' | 'settleMs'> & { readonly pass: number },
): Promise<void> {
  await settleRows(db, run.id, {
    sql: `select s.n, case when f.reason is null then 'updated' else 'review' end as verdict, f.reason,
        case f.reason when 'UPDATE_IGNORED' then jsonb_build_object('customer', p.record_id)
          when 'UPDATE_UNCONFIRMED' then jsonb_build_object('customer', p.record_id, 'sends', s.sends, 'answer', s.facts->>'answer')
          end as facts, p.record_id
      from sent s join ledger.plans p on p.run_id = $1 and p.n = s.n
        left join ledger.records k on k.run_id = $1 and k.kind = 'customer' and k.record_id = p.record_id and k.last_pass = $2
        cross join lateral (select case when k.record_id is null then case s.state when 'unknown' then 'UPDATE_UNCONFIRMED' end
          when ${IS_IGNORED} then case s.state when 'acked' then 'UPDATE_IGNORED' else 'UPDATE_UNCONFIRMED' end end as reason offset 0) f
      where ${IS_LAST_UPDATE('s')}
        and (s.since + $4 * interval '1 ms' <= $3 or (k.record_id is not null and f.reason is null))`,
    values: [pass, readAt, absenceAfterMs(settleMs)],
  });
}
