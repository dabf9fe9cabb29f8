import { expect, test } from 'vitest';
import { tasksRunOptions } from '../../../src/mirror/tasks/options.ts';
import { syncNamed } from '../../../src/settings/settings.ts';
import { problemsIn, settingsOf } from '../../settings/problems-in.ts';

const withOptions = (options: string) => `
accounts: { demo: {} }
syncs: { mirror: { job: tasks, account: demo, targets: [hook], options: ${options} } }
targets: { hook: { type: webhook, url: https://x.example/hook, secret: { env: S } } }`;

const BACK = { onConflict: 'service', poll: [], pollShare: 1, reconcile: false };

test.each([
  ['{}', { subtasks: false, subtasksShare: 0.05, backfill: false, pipelines: false, doneColumns: [], ...BACK }],
  [
    '{ pipelines: [3, p-7], doneColumns: [" Done "], subtasks: true, subtasksShare: 1 }',
    { subtasks: true, subtasksShare: 1, backfill: false, pipelines: ['3', 'p-7'], doneColumns: ['Done'], ...BACK },
  ],
])('the options %s are what a run of the sync reads', (options, read) => {
  const sync = syncNamed(settingsOf(withOptions(options)), 'mirror');
  expect(tasksRunOptions.parse({ ...sync.options, targets: ['hook'] })).toEqual({ ...read, targets: ['hook'] });
});

test.each([
  '{ subtasksShare: 2 }',
  '{ pipelines: [] }',
  '{ pipelines: ["  "] }',
  '{ doneColumns: [""] }',
  '{ pollShare: 2 }',
  '{ onConflict: both }',
  '{ poll: [hook] }',
  '{ poll: [other] }',
])('the options %s are refused', (options) => expect(problemsIn(withOptions(options))).not.toEqual([]));
