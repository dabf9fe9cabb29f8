/** JSON pointers, as RFC 6901 specifies them. Pure. */

/** The value at `pointer`; undefined if there is none. The pointer is valid: the settings have checked it. */
export function valueAt(document: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((value, step) => {
      const isContainer = typeof value === 'object' && value !== null;
      return isContainer && Object.hasOwn(value, step) ? new Map(Object.entries(value)).get(step) : undefined;
    }, document);
}

/** Whether the answer says that there is no such value: null, or beyond the end of a list. */
export function isAbsent(document: unknown, pointer: string): boolean {
  const value = valueAt(document, pointer);
  if (value !== undefined || pointer === '') return value === null;
  return Array.isArray(valueAt(document, pointer.slice(0, pointer.lastIndexOf('/'))));
}
