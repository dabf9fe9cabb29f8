/**
 * The keys that match a contact and a customer, strongest first. A weaker key counts only if each stronger one is missing
 * on at least one side: two people with one switchboard number but different e-mails are two people. If two keys that count name
 * two records, neither is chosen.
 */
import type { MatchKey } from '../../../settings/schema-sync.ts';
import type { Queryable } from '../../../storage/queryable.ts';
import { oweForEarlierSends } from '../audit-debts.ts';
import type { Run } from '../runs.ts';

/** SQL: record `k` is a customer that run `$1` has read. */
export const IS_CUSTOMER = `k.run_id = $1 and k.kind = 'customer'`;

export interface Level {
  /** SQL: the evidence as reports name it. */
  readonly by: string;
  /** SQL: whether row `s` and record `k` agree at this level. */
  readonly agrees: string;
  /** Keys that may name another record than the one that was chosen so far. */
  readonly rivals?: readonly RivalKey[];
}

export interface RivalKey {
  readonly key: Exclude<MatchKey, 'name'>;
  /** SQL: the key as reports name it. */
  readonly by: string;
  /** SQL: the key of row `s` names record `k`, and no stronger key says that they are two people. */
  readonly names: string;
}

/** SQL: row `s` and record `k` are equal in all keys: any of these rows may belong to any of these records. */
export const SAME_PERSON = [
  ...['email', 'phone', 'name', 'org'].map((key) => `coalesce(s.${key}, '') = coalesce(k.${key}, '')`), // allows a hash join; "is not distinct from" does not
  'coalesce(s.email, s.phone, s.name) is not null',
].join(' and ');

/** SQL: the names of the keys that row `s` has. */
export const KEYS_OF_ROW = `concat_ws(' and ', ${[
  ['email', 'e-mail'],
  ['phone', 'phone'],
  ['name', 'name'],
  ['org', 'organization'],
]
  .map(([key, word]) => `case when s.${key} is not null then '${word}' end`)
  .join(', ')})`;

/** Adds audit debts for customers that a run is about to send although an ended run may have sent the same person. */
export function oweForEarlierCustomers(db: Queryable, run: Run, settleMs: number): Promise<void> {
  const runs = `u.resource = 'customers'`;
  return oweForEarlierSends(db, run, { resource: 'customers', settleMs, runs, same: SAME_PERSON });
}

/** SQL: the keys as reports name them. */
const WORDS = { email: `'e-mail'`, phone: `'phone'` } as const;

const all = (...conditions: readonly string[]) => conditions.join(' and ');
const same = (key: string) => `s.${key} = k.${key}`;
const apart = (key: string) => `(s.${key} is null or k.${key} is null)`;

const KEYS = ['email', 'phone'] as const;

/**
 * The levels for the keys of a sync; name and organisation together are the last resort for a contact without any of
 * the keys. A key that the sync does not match by proves nothing, but disputes a choice between records that have the
 * other key.
 */
export function levelsFor(wanted: readonly MatchKey[]): readonly Level[] {
  const matchBy = wanted.filter((key) => key !== 'name');
  const others = KEYS.filter((key) => !matchBy.includes(key));
  const keyed = matchBy.map((key, i): Level => {
    const stronger = matchBy.slice(0, i);
    const names = all(same(key), ...stronger.map((k) => `(${apart(k)} or ${same(k)})`));
    const unmatched = others.map((other) => ({ key: other, by: WORDS[other], names: all(same(key), same(other)) }));
    return {
      by: WORDS[key],
      agrees: all(same(key), ...stronger.map(apart)),
      rivals: [{ key, by: WORDS[key], names }, ...unmatched],
    };
  });
  const named = all(same('name'), 's.org is not distinct from k.org', ...matchBy.map((key) => `s.${key} is null`));
  return [...keyed, { by: KEYS_OF_ROW, agrees: named }];
}

const IS_READ = (record: string) => `${record}.run_id = $1 and ${record}.last_pass = $2`;

/**
 * SQL: the customers of a debt: its record, customers with its contact id, and customers that are the same person as its
 * row, or as its record in the spelling of the service. A customer that another row of its run has belongs to that row.
 */
export const SAME_CUSTOMER = `select m.run_id, m.source_id, m.record_id from (
    select d.run_id, d.source_id, k.record_id from due d join ledger.records k on ${IS_READ('k')} and k.record_id = d.record_id
    union select d.run_id, d.source_id, k.record_id from due d join ledger.records k on ${IS_READ('k')}
      and k.contact_id = d.contact_id
    union select s.run_id, s.source_id, k.record_id from due s join ledger.records k on ${IS_READ('k')}
      and k.contact_id is null and ${SAME_PERSON}
    union select d.run_id, d.source_id, k.record_id from due d join ledger.records s on ${IS_READ('s')}
      and s.record_id = d.record_id and s.contact_id is null
      join ledger.records k on ${IS_READ('k')} and k.contact_id is null and ${SAME_PERSON}) m
  join due d using (run_id, source_id)
  where not exists (select from ledger.verdicts o where o.run_id = m.run_id and o.record_id = m.record_id and o.n <> d.n)`;

/**
 * Duplicate customers, which the operator has to remove: the service has no call for it.
 * SQL: `n, ids` of contacts that have their customer, and the free customers that are the same person: committed later
 * than `settle`, or created by others. `had`: SQL of the contacts with their `record_id`; `free`: SQL of the customers.
 */
export function duplicates(had: string, free: string): string {
  return `with free as materialized (${free}), had as materialized (${had}), pairs as (
      select s.n, s.record_id as own, k.record_id from had s join free k on k.contact_id = s.source_id
      union select s.n, s.record_id, k.record_id from had s join free k on ${SAME_PERSON} where k.contact_id is null
    )
    select n, to_jsonb(own || array_agg(record_id order by length(record_id), record_id)) as ids from pairs group by n, own`;
}
