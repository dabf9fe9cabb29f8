import { expect, test } from 'vitest';
import { sharedWhileOpen } from '../../src/console/live/open-run-reads.ts';
import type { Run } from '../../src/engine/ledger/runs.ts';

const OPEN = { id: 'run-1', status: 'running', phase: 'send' } as Run; // as: only what a state is read from

/** How many reads two make that ask at the same time. */
async function readsOf(first: Run, second: Run): Promise<number> {
  const owner = {};
  let reads = 0;
  const read = async () => ++reads;
  await Promise.all([first, second].map((run) => sharedWhileOpen(owner, 'report', { run, read })));
  return reads;
}

test('who asks about an unfinished run at the same time shares the counts', async () => {
  expect(await readsOf(OPEN, OPEN)).toBe(1);
});

test.for([
  ['of another run', { id: 'run-2' }],
  ['of another state', { status: 'paused' as const }],
  ['of another phase', { phase: 'settle' as const }],
  ['once it is attended', { attendedAt: new Date(0) }],
])('counts %s are read again', async ([, other]) => {
  expect(await readsOf(OPEN, { ...OPEN, ...(other as Partial<Run>) })).toBe(2);
});

test('the counts of a run that has ended are read each time', async () => {
  const ended = { ...OPEN, endedAt: new Date(0) };
  expect(await readsOf(ended, ended)).toBe(2);
});
