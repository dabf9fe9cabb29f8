/**
 * What is found in an answer by JSON pointers, as RFC 6901 specifies them, with one more step: `name=value` leads from a list to its
 * first element whose member has that value. Pure.
 */
import { z } from 'zod';

/** The value at `pointer`; undefined if there is none. The pointer is valid: the settings have checked it. */
export function valueAt(document: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce(stepInto, document);
}

function stepInto(value: unknown, step: string): unknown {
  const [, name, wanted] = /^([^=]+)=(.*)$/s.exec(step) ?? [];
  if (Array.isArray(value) && name !== undefined)
    return value.find((element) => String(memberOf(element, name)) === wanted);
  return memberOf(value, step);
}

function memberOf(value: unknown, name: string): unknown {
  const isContainer = typeof value === 'object' && value !== null;
  return isContainer && Object.hasOwn(value, name) ? new Map(Object.entries(value)).get(name) : undefined;
}

/** Whether the answer says that there is no such value: no content, null, or no such element of a list. */
export function isAbsent(document: unknown, pointer: string): boolean {
  if (document === null) return true;
  const value = valueAt(document, pointer);
  if (value !== undefined) return value === null;
  return Array.isArray(valueAt(document, pointer.slice(0, pointer.lastIndexOf('/'))));
}

/** What `read` finds in an answer; if it finds nothing, the answer is unreadable, and `lack` says why. */
export function reading<T>(read: (body: unknown) => T | undefined, lack: string) {
  return z.unknown().transform((body, context): T => {
    const found = read(body);
    if (found !== undefined) return found;
    context.addIssue({ code: 'custom', message: lack });
    return z.NEVER;
  });
}
