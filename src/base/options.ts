/** Words for wrong options that a program gives to a function of the package. */
import type { z } from 'zod';

/** Names each option with what is wrong, and shows no value, because that may be a secret. */
export function optionProblems({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`)).join('; ');
}
