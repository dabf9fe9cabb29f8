/**
 * Whether an order that exists says what the row says. Only what both of them say is compared: a service may show no
 * amounts, or give a status of its own to an order that was sent without one.
 */

type Member = 'amount' | 'status' | 'description';
const MEMBERS: readonly Member[] = ['amount', 'status', 'description'];

/** What is compared after a write: a service may write a description in its own way. */
export const WRITTEN: readonly Member[] = ['amount', 'status'];

/** SQL over row `s` and record `k`: whether they differ. */
export function differ(members: readonly Member[] = MEMBERS): string {
  return `(${members.map((name) => `coalesce(${said('s', name)} <> ${said('k', name)}, false)`).join(' or ')})`;
}

/** SQL over row `s` and record `k`: the facts of how they differ, a JSON array; null where they do not. */
export function differences(members: readonly Member[] = MEMBERS): string {
  const parts = members.map((name) => `case when ${said('s', name)} <> ${said('k', name)} then ${factsOf(name)} end`);
  return `to_jsonb(nullif(array_remove(array[${parts.join(', ')}], null), '{}'))`;
}

function factsOf(name: Member): string {
  if (name === 'description') return `jsonb_build_object('field', 'description')`;
  return `jsonb_build_object('field', '${name}', 'is', k.fields->>'${name}', 'expected', s.fields->>'${name}')`;
}

/** A status may come back in other letters, a description with other line ends and spaces. */
function said(of: 's' | 'k', name: Member): string {
  const value = `(${of}.fields->>'${name}')`;
  if (name === 'status') return `lower(${value})`;
  if (name === 'description') return `regexp_replace(trim(${value}), '\\s+', ' ', 'g')`;
  return value;
}
