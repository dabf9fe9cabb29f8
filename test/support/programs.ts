/** Programs that tests start in processes of their own: bundled once per run of vitest, because sources take long to load. */
import path from 'node:path';
import { inject } from 'vitest';

/** The file to start for `name`, such as `test/support/sync-program`. */
export function programFile(name: string): string {
  return path.join(inject('programs'), `${name}.js`);
}
