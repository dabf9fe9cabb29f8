/**
 * What a contact is found by: the contract's four fields, folded when they are written, so that a search is not at the
 * mercy of the database's locale (the embedded one knows the upper and lower case of ASCII only).
 */
const SEARCHED = ['first_name', 'last_name', 'email', 'phone'] as const;

/** Case and Unicode composition (é as one character or two) make no difference to a search; accents do. */
function fold(text: string): string {
  return text.normalize('NFC').toLowerCase();
}

/** The searched ones among `fields`, folded; a null (no phone) stays null. */
export function foldedContact(fields: Readonly<Record<string, unknown>>): Record<string, string | null> {
  const folded: Record<string, string | null> = {};
  for (const name of SEARCHED) {
    const value = fields[name];
    if (typeof value === 'string') folded[name] = fold(value);
    else if (value === null) folded[name] = null;
  }
  return folded;
}

/** The SQL condition over a contact row `r` for the pattern in `parameter`, such as `$5`; first and last name also match together. */
export function matchesPattern(parameter: string): string {
  const fullName = `concat_ws(' ', r.folded->>'first_name', r.folded->>'last_name')`;
  return `(${fullName} like ${parameter} or r.folded->>'email' like ${parameter} or r.folded->>'phone' like ${parameter})`;
}

/** The LIKE pattern for "contains `term`", with the pattern's own characters taken literally. */
export function containing(term: string): string {
  return `%${fold(term).replace(/[\\%_]/g, '\\$&')}%`;
}
