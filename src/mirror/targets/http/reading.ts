/** What an http target finds in the answer to a call. */
import { z } from 'zod';

/** What `read` finds in an answer; if it finds nothing, the answer is unreadable, and `lack` says why, also of a body. */
export function reading<T>(read: (body: unknown) => T | undefined, lack: string | ((body: unknown) => string)) {
  return z.unknown().transform((body, context): T => {
    const found = read(body);
    if (found !== undefined) return found;
    context.addIssue({ code: 'custom', message: typeof lack === 'string' ? lack : lack(body) });
    return z.NEVER;
  });
}
