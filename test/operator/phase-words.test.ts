/** Which phases a run has, in which order, and in words. */
import { expect, test } from 'vitest';
import { catalog } from '../../jobs/catalog.ts';
import { phasesOf, phaseWords } from '../../src/operator/phase-words.ts';

const startedAt = new Date();
const times = (...phases: readonly string[]) => phases.map((phase) => ({ phase, startedAt, workedMs: 0, waits: [] }));
const run = { phase: undefined, dryRun: false, options: {} };

test.each([
  ['of a load that sends', { ...run, type: 'orders', phase: 'create-orders' }, times('load-orders', 'create-orders')],
  ['of a load of an earlier version', { ...run, type: 'orders' }, []],
])('%s, those to come are known', (_, of, had) => {
  expect(phasesOf(of, had)).toEqual(['load-orders', 'create-orders', 'settle-orders']);
});

test('a phase that only some runs have stays in its place after the run', () => {
  const had = times('scan-tasks', 'read-items', 'deliver-status');
  const expected = ['scan-tasks', 'read-items', 'deliver-status'];
  expect(phasesOf({ ...run, type: 'tasks' }, had)).toEqual(expected);
  expect(phasesOf({ ...run, type: 'tasks', phase: 'read-items' }, times('scan-tasks'))).toEqual(expected);
  expect(phasesOf({ ...run, type: 'audit' }, times('audit-list'))).toEqual(['audit-list']);
});

test('a dry run has none but its reading', () => {
  expect(phasesOf({ ...run, type: 'contacts', dryRun: true }, times('scan-contacts'))).toEqual(['scan-contacts']);
});

test('each job has words for people', () => {
  const named = catalog.jobs.map(({ name }) => name);
  expect(named.filter((name) => phaseWords(name) === name.replaceAll('-', ' '))).toEqual([]);
});
