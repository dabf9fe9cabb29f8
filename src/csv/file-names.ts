/** Names for files that are written beside a CSV, however long or odd its own name is. */
import { createHash } from 'node:crypto';
import { visibleName } from '../base/visible.ts';

/** File systems allow 255 bytes; the endings for results and problems need some of them. */
const MAX_BYTES = 200;

/** The name itself if it is short enough; otherwise its beginning and a hash of the whole name. */
export function shortName(name: string): string {
  const bytes = Buffer.from(name);
  if (bytes.length <= MAX_BYTES) return name;
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 12);
  const begins = new TextDecoder().decode(bytes.subarray(0, MAX_BYTES - hash.length - 1), { stream: true });
  return `${begins}~${hash}`;
}

/** The base name for the results of a file: `x.csv` and `x.csv.gz` have separate results. */
export function resultsBase(fileName: string): string {
  return shortName(visibleName(fileName).replace(/\.csv$/i, '')) || 'orders';
}
