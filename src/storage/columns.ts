/**
 * These members of rows as arrays, one for each member, for `unnest`. Undefined becomes null, and an object JSON.
 */
export function columnsOf<Row extends object>(
  rows: readonly Row[],
  ...members: readonly (keyof Row)[]
): readonly (readonly unknown[])[] {
  return members.map((member) => rows.map((row) => toValue(row[member])));
}

function toValue(value: unknown): unknown {
  const isObject = typeof value === 'object' && value !== null && !(value instanceof Date);
  return isObject ? JSON.stringify(value) : (value ?? null);
}
