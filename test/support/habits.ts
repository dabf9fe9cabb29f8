/**
 * Habits of services: ways to behave that a careful developer may choose from the contract, beside those of
 * drawn-service.ts. `npm run worlds -- --habit NAME` gives every drawn service the named one, `--habit each` each
 * of them in turn.
 */

/** With these a run may rightly stop, or leave rows for a person. */
const UNCLEAR = [
  'shows amounts in cents',
  'answers JSON in a string',
  'writes a comment after the JSON',
  'counts hidden records',
  'answers 404 for an empty list',
  'writes labels with a hash',
  'gives ids again',
] as const;

export const HABITS = [
  ...UNCLEAR,
  // lists
  'has a replica that lags',
  'lists by last update',
  'repeats records in lists',
  'has pages of uneven sizes',
  'repeats the last page',
  'returns to the first page',
  'makes too large pages small',
  'refuses large pages',
  'fails on large pages',
  'answers 204 for an empty list',
  // records
  'lists deleted records',
  'shows ids as other types in single reads',
  'answers null for a missing record',
  'answers the first record for every id',
  'has no single reads',
  'shuffles members',
  'hides amounts',
  'splits names',
  'stamps every answer',
  'writes whole numbers with a fraction',
  // writes
  'creates after the answer',
  'answers creates with a job',
  'answers creates with the customer',
  'refuses equal records with 409',
  'refuses equal records with 422',
  'answers the equal record',
  'empties what an update leaves out',
  'refuses updates that are not whole',
  'refuses unknown members',
  'wants the tenant in updates',
  // what it makes of texts
  'writes names in capitals',
  'escapes HTML',
  'truncates names',
  'decomposes letters',
  'writes phones as E.164',
  'writes phones without the country',
  'shows amounts with a sign',
  'capitalizes states',
  // transport
  'limits with 503',
  'limits with an envelope',
  'limits with 403',
  'has a wrong clock',
  'begins with a byte order mark',
  'calls JSON text',
  'answers some calls with a web page',
  'resets connections',
  'redirects to the other prefix',
] as const;
export type Habit = (typeof HABITS)[number];

export const REFUSABLE_HABITS: ReadonlySet<Habit | 'none'> = new Set(UNCLEAR);
