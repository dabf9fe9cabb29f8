/**
 * Compares an existing order with its row. Only members that both have are compared: a service may show no amounts, or set
 * its own status on an order that was sent without one.
 */

type Member = 'amount' | 'status' | 'description';
const MEMBERS: readonly Member[] = ['amount', 'status', 'description'];

/** Members compared after a write: a service may reformat a description. */
export const WRITTEN: readonly Member[] = ['amount', 'status'];

/** SQL over row `s` and record `k`: whether they differ. */
export function differ(members: readonly Member[] = MEMBERS): string {
  return `(${members.map((name) => `coalesce(${said('s', name)} <> ${said('k', name)}, false)`).join(' or ')})`;
}

/** SQL over row `s` and record `k`: their differences as facts, a JSON array; null if there are none. */
export function differences(members: readonly Member[] = MEMBERS): string {
  const parts = members.map((name) => `case when ${said('s', name)} <> ${said('k', name)} then ${factsOf(name)} end`);
  return `to_jsonb(nullif(array_remove(array[${parts.join(', ')}], null), '{}'))`;
}

function factsOf(name: Member): string {
  if (name === 'description') return `jsonb_build_object('field', 'description')`;
  return `jsonb_build_object('field', '${name}', 'is', k.fields->>'${name}', 'expected', s.fields->>'${name}')`;
}

/** A status may come back in another case, a description with other line ends and spaces. */
function said(of: 's' | 'k', name: Member): string {
  const value = `(${of}.fields->>'${name}')`;
  if (name === 'status') return `lower(${value})`;
  if (name === 'description') return `regexp_replace(trim(${value}), '\\s+', ' ', 'g')`;
  return value;
}
