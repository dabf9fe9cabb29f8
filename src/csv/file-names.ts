/** Names for files that are written beside a CSV, however long or odd its own name is. */
import { createHash } from 'node:crypto';
import { visibleName } from '../base/visible.ts';

/** File systems take 255 bytes; the endings of results and problems need some of them. */
const MAX_BYTES = 200;

/** The name itself where it is short enough; else its beginning, and a hash of all of it. */
export function shortName(name: string): string {
  const bytes = Buffer.from(name);
  if (bytes.length <= MAX_BYTES) return name;
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 12);
  const begins = new TextDecoder().decode(bytes.subarray(0, MAX_BYTES - hash.length - 1), { stream: true });
  return `${begins}~${hash}`;
}

/** What the results of a file are named after: `x.csv` and `x.csv.gz` have results of their own. */
export function resultsBase(fileName: string): string {
  return shortName(visibleName(fileName).replace(/\.csv$/i, '')) || 'orders';
}
