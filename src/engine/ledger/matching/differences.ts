/**
 * What differs between a row and a record. Of an existing order only members that its row has too are compared: a service may
 * show no amounts, or set its own status on an order that was sent without one. Where orders are to be updated, one that does
 * not show all members of its row is updated, too.
 */

type Member = 'amount' | 'status' | 'description';
const MEMBERS: readonly Member[] = ['amount', 'status', 'description'];

/** Members compared after a write: a service may reformat a description. */
export const WRITTEN: readonly Member[] = ['amount', 'status'];

/** SQL over row `s` and record `k`: whether they differ. */
export function differ(members: readonly Member[] = MEMBERS): string {
  return `(${members.map((name) => `coalesce(${said('s', name)} <> ${said('k', name)}, false)`).join(' or ')})`;
}

/** SQL over row `s` and record `k`: whether the record does not show a member that the row has, so that they may differ. */
export function hides(members: readonly Member[] = MEMBERS): string {
  return `(${members.map((name) => `(s.fields ? '${name}' and not k.fields ? '${name}')`).join(' or ')})`;
}

/** SQL over row `s` and record `k`: their differences as facts, a JSON array; null if there are none. */
export function differences(members: readonly Member[] = MEMBERS): string {
  const parts = members.map((name) => `case when ${said('s', name)} <> ${said('k', name)} then ${factsOf(name)} end`);
  return `to_jsonb(nullif(array_remove(array[${parts.join(', ')}], null), '{}'))`;
}

/** SQL over row `s` and record `k`: members in `s.kept` that the record does not show any more, as facts; null if there are none. */
export const LOST = `(select jsonb_agg(jsonb_build_object('field', f.key, 'is', coalesce(k.fields->>f.key, ''), 'expected', f.value))
  from jsonb_each_text(s.kept) f where f.value is distinct from k.fields->>f.key)`;

/** SQL: the facts of CONTENT_DIFFERS. `lost`: members that the record does not show any more, as facts. */
export function contentDiffers(action: 'created' | 'updated', order: string, lost = `'[]'`): string {
  return `jsonb_build_object('order', ${order}, 'action', '${action}', 'differences', coalesce(${differences(WRITTEN)}, '[]') || ${lost})`;
}

function factsOf(name: Member): string {
  if (name === 'description') return `jsonb_build_object('field', 'description')`;
  return `jsonb_build_object('field', '${name}', 'is', k.fields->>'${name}', 'expected', s.fields->>'${name}')`;
}

/**
 * A status may come back in another case, a description with other line ends and spaces; both in another Unicode form, and escaped for
 * HTML.
 */
function said(of: 's' | 'k', name: Member): string {
  const value = `(${of}.fields->>'${name}')`;
  if (name === 'status') return `lower(normalize(${unescapedSql(value)}))`;
  if (name === 'description') return `trim(regexp_replace(normalize(${unescapedSql(value)}), '\\s+', ' ', 'g'))`;
  return value;
}

/** SQL: the same text, however often it was escaped. */
function unescapedSql(text: string): string {
  const plain = ESCAPES.reduce(
    (sql, [written, meaning]) => `regexp_replace(${sql}, '${written}', '${meaning}', 'gi')`,
    text,
  );
  return `case when ${text} like '%&%' then ${plain} else ${text} end`;
}

const ESCAPES = [
  ['&(amp;)+', '&'],
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&(apos|#0*39|#x0*27);', "''"],
] as const;

/** The note of a run that compared orders whose amounts it could not read. */
export const HIDDEN_AMOUNTS =
  'amounts of orders were not compared with the file: the service does not show them, or not in a form that Lockstep can read';

/** The member by which an order is found: an update does not change it, and the stored fields of a record do not have it. */
export const FOUND_BY = 'order_id';

/** Characters of a value that a plan shows. */
const MOST_SHOWN = 200;

/** SQL: what an update with `fields` would change in a record whose fields are `was`, as facts. */
export function changesTo(was: string, fields: string): string {
  return `(select coalesce(jsonb_agg(jsonb_build_object('field', f.key, 'is', left(coalesce(${was}->>f.key, ''), ${MOST_SHOWN}),
      'expected', left(f.value, ${MOST_SHOWN})) order by f.key), '[]')
    from jsonb_each_text(${fields}) f where f.key <> '${FOUND_BY}' and f.value <> coalesce(${was}->>f.key, ''))`;
}

/**
 * SQL: what the update of row `n` of run `$1`, which was shown to a person, would change, as facts; null for other rows. `n` may
 * name any table but these three.
 */
export const SHOWN_CHANGES = (n: string): string => `(
  select jsonb_build_object('changes', ${changesTo('shown_write.was', 'coalesce(its_plan.fields, its_input.fields)')})
  from ledger.shown shown_write
    left join ledger.plans its_plan on its_plan.run_id = shown_write.run_id and its_plan.n = shown_write.n
    join ledger.inputs its_input on its_input.run_id = shown_write.run_id and its_input.n = shown_write.n
  where shown_write.run_id = $1 and shown_write.n = ${n} and shown_write.was is not null)`;
