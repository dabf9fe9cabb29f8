/** Keeps what was decided about contacts (decide-contacts.ts): links, matches, plans and verdicts. */
import { MASK } from '../../../base/texts.ts';
import type { Queryable } from '../../../storage/queryable.ts';
import { forgetRows } from '../retention/forget.ts';
import type { Run } from '../runs.ts';
import { matchRows, planRows, settleRows } from '../transitions.ts';
import { CONTACT, CONTACT_LINK, LINKED_CUSTOMER } from './contact-links.ts';
import { changesTo } from './differences.ts';
import { IS_CUSTOMER } from './matching-keys.ts';

export async function keepLinks(db: Queryable, run: Run): Promise<void> {
  const values = [run.id, run.scope, CONTACT_LINK];
  await db.query(
    `delete from ledger.links l using deciding s where l.scope = $1 and l.kind = $2 and l.source_id = s.source_id
       and (s.is_stale or s.by is not null and l.record_id <> s.record_id)`,
    [run.scope, CONTACT_LINK],
  );
  await db.query(
    `insert into ledger.links (scope, kind, source_id, record_id, hash, run_id, known, contact)
     select $2, $3, s.source_id, s.record_id, s.hash, $1, ${LINKED_CUSTOMER('k')}, ${CONTACT('s')}
     from deciding s join ledger.records k on ${IS_CUSTOMER} and k.record_id = s.record_id where s.by is not null
     on conflict (scope, kind, record_id) do update set source_id = excluded.source_id, hash = excluded.hash,
       run_id = excluded.run_id, known = excluded.known, contact = excluded.contact, linked_at = now()`,
    values,
  );
  await db.query(
    `update ledger.links l set contact = null from deciding s -- so that it is a row of the next run, too
     where l.scope = $1 and l.kind = $2 and l.source_id = s.source_id and s.reason = 'CUSTOMER_GONE' and l.contact is not null`,
    [run.scope, CONTACT_LINK],
  );
}

/**
 * An update sends the current customer with the contact's fields applied. A field that the contact had when its customer was
 * written, and has no more, is emptied there; others may have been added to the customer by a person.
 * A dry run reports what it would have done.
 */
export async function keepDecisions(
  db: Queryable,
  run: Run,
  { mappedFields, unchanged }: { readonly mappedFields: readonly string[]; readonly unchanged: number },
): Promise<void> {
  const isUnchanged = `verdict = 'unchanged' and reason is null`;
  const [{ n = 0 } = {}] = (
    await db.query<{ n: number }>(`select count(*)::int as n from deciding where ${isUnchanged}`)
  ).rows;
  await forgetRows(db, run.id, `select n from deciding where ${isUnchanged}`);
  await db.query('update ledger.runs set unchanged = $2 where id = $1', [run.id, unchanged + n]);
  await db.query(`delete from deciding where ${isUnchanged}`);
  await matchRows(db, run.id, {
    sql: `select n, 'customer' as kind, record_id, coalesce(by, 'link') as by from deciding where record_id is not null`,
  });
  await planRows(db, run.id, {
    sql: `select s.n, s.action, s.record_id, case when s.action = 'update' then k.fields || coalesce(
          (select jsonb_object_agg(key, '') from jsonb_object_keys(k.fields) key where key = any($2) and s.was->'has' ? key), '{}') || i.fields end as fields,
          case when s.action = 'update' then k.fields end as was
        from deciding s left join ledger.records k on s.action = 'update' and ${IS_CUSTOMER} and k.record_id = s.record_id
          left join ledger.inputs i on s.action = 'update' and i.run_id = $1 and i.n = s.n
        where s.state = 'ready'`,
    values: [mappedFields],
  });
  await settleRows(db, run.id, {
    sql: `select s.n, case when s.verdict is not null then s.verdict when s.action = 'update' then 'updated' else 'created' end as verdict,
        case when s.verdict is null then 'PLANNED' else s.reason end as reason, coalesce(s.facts, ${CHANGES}) as facts, s.record_id
      from deciding s left join ledger.plans p on p.run_id = $1 and p.n = s.n and p.action = 'update'
        left join ledger.records k on ${IS_CUSTOMER} and k.record_id = p.record_id
      where s.state = 'settled' or $2`,
    values: [run.dryRun],
  });
}

/** SQL: the fields of customer `k` that the planned update `p` would change, as facts. */
const CHANGES = `case when p.n is not null then jsonb_build_object('changes', ${changesTo('k.fields', 'p.fields')}) end`;

/** Updates that would write or empty an e-mail or phone of the customer that the service shows in part only. */
export async function reviewMasked(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `update deciding s set state = 'settled', verdict = 'review', reason = 'MASKED', facts = jsonb_build_object('value', masked.value)
     from (select s.n, min(f.value) as value from deciding s join ledger.records k on ${IS_CUSTOMER} and k.record_id = s.record_id
         cross join lateral jsonb_each_text(k.fields) f
       where s.state = 'ready' and s.action = 'update' and f.key in ('email', 'phone_number') and f.value ~ $2 group by s.n) masked
     where s.n = masked.n`,
    [run.id, MASK.source],
  );
}
