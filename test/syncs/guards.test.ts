import { expect, test } from 'vitest';
import { exceeds, exceedsMessage } from '../../src/syncs/guards.ts';

test.each([
  [
    { approveAbove: 2 },
    { writes: 5, of: 2_004 },
    '5 of 2,004 rows (less than 1%), and needs approval to write more than 2',
  ],
  [{ approveAboveShare: 0.25 }, { writes: 5, of: 10 }, '5 of 10 rows (50%), and needs approval to write more than 2'],
  [
    { approveAbove: 9, approveAboveShare: 0.5 },
    { writes: 10, of: 1_000 },
    '10 of 1,000 rows (1%), and needs approval to write more than 9',
  ],
])('%j pauses a run of %j, and the message names the share and the limit', (guards, extent, words) => {
  expect(exceeds(guards, extent)).toBe(true);
  expect(exceedsMessage('rows', guards, extent)).toBe(`The run would write ${words}. Nothing is sent.`);
});
