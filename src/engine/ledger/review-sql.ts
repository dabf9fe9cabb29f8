/** SQL that the list of what waits for a person, decisions, their application, and problems of runs share. */

/** Decision `d` counts. An ignored row stays ignored; a decision to use or create a record is applied once. */
export const IN_FORCE = `(d.undone_at is null and d.lapsed_at is null and (d.applied_at is null or d.choice = 'ignore'))`;

/** Run `id` loads a file. The rows of a run that watches a folder are files, about which nothing can be decided. */
export const IS_LOAD = (id: string): string => `exists (select from ledger.loads l where l.run_id = ${id})`;

/** The ids of the customers that the facts of a review name, as a JSON array; its other ids may be of orders. */
export const NAMED_CUSTOMERS = (facts: string): string =>
  `case when ${facts}->>'what' = 'order' then '[]' else coalesce(${facts}->'customers', ${facts}->'ids',
    to_jsonb(array_remove(array[coalesce(${facts}->>'customer', ${facts}->>'id')], null))) end`;

/** The filter of the sync of run `u`; null: it reads all contacts. */
export const FILTER_OF = (u: string): string => `${u}.options->'where'`;

/**
 * SQL: a later load has the order of input `i` of run `u`: of the same customer, or in a file of results, where a person may have
 * corrected the customer. A row that is not valid names none. `offset 0`: each order is looked up in an index; Postgres would
 * read all orders of all loads for a few.
 */
export const IS_IN_LATER_LOAD = `exists (select from ledger.inputs o join ledger.runs later on later.id = o.run_id
      join ledger.loads l on l.run_id = later.id
    where o.label = i.label and o.cells is not null
      and (l.form->>'isCorrection' = 'true' or (o.client_id, o.email, o.phone, o.name) is not distinct from (i.client_id, i.email, i.phone, i.name))
      and later.scope = u.scope and later.created_at > u.created_at and later.job = 'orders' and later.status = 'done' and not later.dry_run offset 0)`;
