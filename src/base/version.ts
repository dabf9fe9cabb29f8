/** The version of this package. */
import { createRequire } from 'node:module';

export function version(): string {
  // Safe: npm accepts no package without a version.
  return (createRequire(import.meta.url)('../../package.json') as { version: string }).version;
}
