/** How long the ledger keeps each kind of data: `retention`. Ages in milliseconds; undefined: kept without end. */
import { z } from 'zod';
import { formatDuration, parseDurationMs } from './durations.ts';
import { textAs } from './fields.ts';
import { quote } from './message-parts.ts';

const DAY_MS = 86_400_000;
/** Every repetition, of calls that come in and of calls that go out, has ended by then. */
const LEAST_MS = 7 * DAY_MS;
const MOST_MS = 3_650 * DAY_MS;

const EXPECTED = `forever, or a duration from ${formatDuration(LEAST_MS)} to ${formatDuration(MOST_MS)}, such as 90d`;

const age = textAs<number | undefined>((text) => {
  if (text === 'forever') return { value: undefined };
  const ms = parseDurationMs(text);
  return ms !== undefined && ms >= LEAST_MS && ms <= MOST_MS
    ? { value: ms }
    : `expected ${EXPECTED}; got ${quote(text)}`;
}, EXPECTED);

export const retention = z
  .strictObject({
    rows: age
      .prefault('forever')
      .describe('Rows of ended runs, with their attempts; their counts stay with the run. Default: forever.'),
    runs: age
      .prefault('forever')
      .describe('Ended runs without rows; their counts are added up by month. Default: forever.'),
    deliveries: age
      .prefault('30d')
      .describe('Ended deliveries, except the newest of each task and target. Default: 30d.'),
    inbox: age
      .prefault('30d')
      .describe('Identities of received calls, by which repeated calls are found. Default: 30d.'),
  })
  .prefault({})
  .describe('How long the ledger keeps each kind of data; the role worker deletes older data once an hour.')
  .transform(({ rows, runs, deliveries, inbox }) => ({
    rowsMs: rows,
    runsMs: runs,
    deliveriesMs: deliveries,
    inboxMs: inbox,
  }));

export type RetentionSettings = z.output<typeof retention>;
