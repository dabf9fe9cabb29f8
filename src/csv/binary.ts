/** Detects files that are not text by their first block: a workbook, an archive, an image. */
import { type LockstepError, wrongUse } from '../base/errors.ts';
import { utf16Of } from './encoding.ts';

const SAVE_AS = 'Open it in the spreadsheet and save the sheet as CSV (UTF-8).';
const UNPACK = 'Unpack it and load the CSV inside. Lockstep reads gzip, but no other archive format.';

/** `magic`: a pattern of the first bytes in hexadecimal. */
const KINDS: readonly (readonly [magic: string, kind: string, remedy: string])[] = [
  ['504b0304', 'a workbook or a zip archive', `Save the sheet as CSV (UTF-8), or unpack the archive.`],
  ['d0cf11e0a1b11ae1', 'an old Excel workbook', SAVE_AS],
  ['25504446', 'a PDF', 'Export the table as CSV from the program that made it.'],
  ['1f8b08', 'gzip inside gzip', 'Unpack it once, and load the result.'],
  ['377abcaf271c', 'a 7z archive', UNPACK],
  ['425a68', 'a bzip2 archive', UNPACK],
  ['fd377a585a00', 'an xz archive', UNPACK],
  ['28b52ffd', 'a zstd archive', UNPACK],
  ['50415231', 'a Parquet file', 'Export it as CSV.'],
  ['53514c69746520666f726d6174', 'an SQLite database', 'Export the table as CSV.'],
  ['89504e47', 'an image', 'Choose the CSV instead.'],
  ['ffd8ff', 'an image', 'Choose the CSV instead.'],
  ['7f454c46', 'a program', 'Choose the CSV instead.'],
  ['fffe0000|0000feff|(?:(?!00)..000000){4}|(?:000000(?!00)..){4}', 'text in UTF-32', 'Save it as UTF-8.'],
];

/** Control characters, of which text has at most a few stray ones. */
const MOST_CONTROLS = 0.1;

/** Throws CSV_BINARY. A few NUL bytes in a text are allowed here: they are reported with their row. */
export function refuseBinary(firstBlock: Buffer, name: string): void {
  const head = firstBlock.toString('hex', 0, 16);
  const known = KINDS.find(([magic]) => new RegExp(`^(?:${magic})`).test(head));
  if (known) throw binary(name, known[1], known[2]);
  if (utf16Of(firstBlock) !== undefined) return;
  let controls = 0;
  for (const byte of firstBlock) if (byte < 0x20 && (byte < 0x09 || byte > 0x0d)) controls += 1;
  if (controls > firstBlock.length * MOST_CONTROLS) throw binary(name, 'binary data', 'Choose the CSV instead.');
}

function binary(name: string, kind: string, remedy: string): LockstepError {
  return wrongUse(`${name} is ${kind}, not a CSV. ${remedy}`, 'CSV_BINARY');
}
