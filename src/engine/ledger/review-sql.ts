/** SQL that the list of what waits for a person, decisions, and their application share. */

/** Decision `d` counts. An ignored row stays ignored; a decision to use or create a record is applied once. */
export const IN_FORCE = `(d.undone_at is null and d.lapsed_at is null and (d.applied_at is null or d.choice = 'ignore'))`;

/** The ids of the customers that the facts of a review name, as a JSON array; its other ids may be of orders. */
export const NAMED_CUSTOMERS = (facts: string): string =>
  `case when ${facts}->>'what' = 'order' then '[]' else coalesce(${facts}->'customers', ${facts}->'ids',
    to_jsonb(array_remove(array[coalesce(${facts}->>'customer', ${facts}->>'id')], null))) end`;

/** The filter of the sync of run `u`; null: it reads all contacts. */
export const FILTER_OF = (u: string): string => `${u}.options->'where'`;
