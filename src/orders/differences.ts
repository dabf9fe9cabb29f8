/**
 * Whether an order that is there says what the row says. Only what both of them say is compared: a service may show no
 * amounts, or give a status of its own to an order that was sent without one.
 */

const MEMBERS = ['amount', 'status', 'description'] as const;

/** SQL over row `s` and record `k`: how they differ, in words, such as "amount 12.5 instead of 12"; empty where they do not. */
export function differences(members: readonly (typeof MEMBERS)[number][] = MEMBERS): string {
  const parts = members.map((name) => `case when ${said('s', name)} <> ${said('k', name)} then ${inWords(name)} end`);
  return `concat_ws(', ', ${parts.join(', ')})`;
}

function inWords(name: (typeof MEMBERS)[number]): string {
  if (name === 'description') return `'another description'`;
  return `format('${name} %s instead of %s', k.fields->>'${name}', s.fields->>'${name}')`;
}

/** A status may come back in other letters, a description with other line ends and spaces. */
function said(of: 's' | 'k', name: (typeof MEMBERS)[number]): string {
  const value = `(${of}.fields->>'${name}')`;
  if (name === 'status') return `lower(${value})`;
  if (name === 'description') return `regexp_replace(trim(${value}), '\\s+', ' ', 'g')`;
  return value;
}
