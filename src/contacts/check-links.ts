/**
 * Checks links before anything is written over them: a customer that is linked must still be the one it was, and so must
 * the contact. Ids say nothing about that where the service is another tenant, or was restored from a backup.
 */
import type { Queryable, Run } from '../engine/ledger/runs.ts';
import { waysOn } from '../worker/identity.ts';
import { RunPaused } from '../worker/trouble.ts';
import { CONTACT_LINK } from './staging.ts';

/** SQL: what a contact or customer is recognised by, as a link keeps it. */
export const KNOWN = (record: string): string =>
  `jsonb_strip_nulls(jsonb_build_object('email', ${record}.email, 'phone', ${record}.phone, 'name', ${record}.name))`;

const KEYS = ['email', 'phone', 'name'];
/** Links of earlier versions do not say what their customer was: the contact is the best evidence of it. */
const WAS = `coalesce(l.known, ${KNOWN('s')})`;
const REBOUND_AT = '(select rebound_at from ledger.scopes where id = $2)';

/** That a customer names the contact it came from does not count: those ids are small integers at any service, too. */
const IS_SAME = `(${WAS} = '{}' or ${KEYS.map((key) => `${WAS}->>'${key}' = k.${key}`).join(' or ')})`;
const COMPARABLE = KEYS.map((key) => `(${WAS}->>'${key}' is not null and s.${key} is not null)::int`).join(' + ');
const IS_ANOTHER_CONTACT = `(${COMPARABLE} >= 2 and not coalesce(${KEYS.map((key) => `${WAS}->>'${key}' = s.${key}`).join(' or ')}, false))`;

const LINKED = `ledger.rows s
  join ledger.links l on l.scope = $2 and l.kind = $3 and l.source_id = s.source_id
  join ledger.records k on k.run_id = $1 and k.record_id = l.record_id
  where s.run_id = $1 and s.record_id = l.record_id`;

/**
 * To be run in the transaction that decides. Where few links disagree, their contacts are for a person; after an operator
 * has said that the tenant is the same, links that disagree are dropped, and their contacts are matched again.
 * @throws RunPaused IDENTITY_UNCLEAR where many disagree
 */
export async function checkLinks(db: Queryable, run: Run): Promise<void> {
  const values = [run.id, run.scope, CONTACT_LINK];
  await dropStaleLinks(db, run);
  const counted = await db.query<{ all: number; others: number; example: string | null }>(
    `select count(*)::int as all, (count(*) filter (where not coalesce(${IS_SAME}, false)))::int as others,
       min(format('customer %s was %s and is %s', k.record_id, ${WORDS(WAS)}, ${WORDS(KNOWN('k'))}))
         filter (where not coalesce(${IS_SAME}, false)) as example
     from ${LINKED} and l.known is not null`,
    values,
  );
  const { all = 0, others = 0, example } = counted.rows[0] ?? {};
  if (others * 5 > all && (others > 1 || others === all)) throw otherCustomers(run, others, all, example ?? '');
  await db.query(
    `with stranger as (
       select s.source_id, k.record_id, not coalesce(${IS_SAME}, false) as is_other, ${WORDS(WAS)} as was,
         ${WORDS(KNOWN('k'))} as is_now, ${WORDS(KNOWN('s'))} as contact
       from ${LINKED} and s.action = 'update' and (not coalesce(${IS_SAME}, false) or ${IS_ANOTHER_CONTACT})
     )
     update ledger.rows s set state = 'settled', action = null, verdict = 'review',
       reason = case when is_other then 'LINK_DISAGREES' else 'CONTACT_REPLACED' end,
       detail = case when is_other then format('customer %s, which it is linked with, was %s and is %s', stranger.record_id, was, is_now)
         else format('the contact was %s and is %s: an update would make another person of customer %s', was, contact, stranger.record_id) end
     from stranger where s.run_id = $1 and s.source_id = stranger.source_id`,
    values,
  );
  if (run.dryRun) return;
  await db.query(
    `update ledger.links l set known = fresh.known, linked_at = clock_timestamp()
     from (select l.source_id, ${KNOWN('k')} as known from ${LINKED} and coalesce(${IS_SAME}, false)) fresh
     where l.scope = $2 and l.kind = $3 and l.source_id = fresh.source_id
       and (l.known is distinct from fresh.known or l.linked_at < ${REBOUND_AT})`,
    values,
  );
}

function WORDS(known: string): string {
  return `coalesce(nullif(concat_ws(', ', ${known}->>'name', ${known}->>'email', ${known}->>'phone'), ''), 'without name')`;
}

/**
 * After an operator has said that the tenant is the same: links whose customer is another one now, or is not there. Their
 * contacts are staged again, and matched by their keys.
 */
async function dropStaleLinks(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `with stale as (
       select s.source_id from ledger.rows s
         join ledger.links l on l.scope = $2 and l.kind = $3 and l.source_id = s.source_id
         left join ledger.records k on k.run_id = $1 and k.record_id = l.record_id
       where s.run_id = $1 and l.linked_at < ${REBOUND_AT} and (k.record_id is null or not coalesce(${IS_SAME}, false))
     ), dropped as (
       delete from ledger.links l using stale where not $4 and l.scope = $2 and l.kind = $3 and l.source_id = stale.source_id
     )
     update ledger.rows s set state = 'staged', action = null, verdict = null, reason = null, record_id = null
     from stale where s.run_id = $1 and s.source_id = stale.source_id`,
    [run.id, run.scope, CONTACT_LINK, run.dryRun],
  );
}

function otherCustomers({ account, id }: Run, others: number, all: number, example: string): RunPaused {
  return new RunPaused(
    'IDENTITY_UNCLEAR',
    `Of ${all} linked customers of account "${account}", ${others} are other people than before: ${example}. ` +
      `It may be another tenant, or a service that was restored from a backup. Nothing was written. ${waysOn(account)} ` +
      `Then go on with: lockstep runs resume ${id}`,
  );
}
