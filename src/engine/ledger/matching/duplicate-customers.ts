/** Duplicate customers, which the operator has to remove: the service has no call for it. */
import { SAME_PERSON } from './matching-keys.ts';

/**
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
