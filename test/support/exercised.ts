/** Which operations of vendors, with which answers, the tests have seen: for the table that docs/make-vendors.ts writes. */
import { appendFileSync } from 'node:fs';

/** Appends a line to the file that EXERCISED names, if it names one. */
export function noteExercised(vendor: string, operation: string, answer: string): void {
  const { EXERCISED: file } = process.env;
  if (file !== undefined) appendFileSync(file, `${vendor}\t${operation}\t${answer}\n`);
}
