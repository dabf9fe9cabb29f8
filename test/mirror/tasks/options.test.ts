import { expect, test } from 'vitest';
import { tasksRunOptions } from '../../../src/mirror/tasks/options.ts';
import { parseSettings } from '../../../src/settings/parse.ts';
import { syncNamed } from '../../../src/settings/settings.ts';

function parse(options: string) {
  const text = `
accounts: { demo: {} }
syncs: { mirror: { job: tasks, account: demo, targets: [hook], options: ${options} } }
targets: { hook: { type: webhook, url: https://x.example/hook, secret: { env: S } } }`;
  return parseSettings({ text, file: 'test.yaml', env: {} });
}

const BACK = { onConflict: 'service', poll: [], pollShare: 1, reconcile: false };

test.each([
  ['{}', { subtasks: false, subtasksShare: 0.05, backfill: false, pipelines: false, doneColumns: [], ...BACK }],
  [
    '{ pipelines: [3, p-7], doneColumns: [" Done "], subtasks: true, subtasksShare: 1 }',
    { subtasks: true, subtasksShare: 1, backfill: false, pipelines: ['3', 'p-7'], doneColumns: ['Done'], ...BACK },
  ],
])('the options %s are what a run of the sync reads', (options, read) => {
  const parsed = parse(options);
  if (parsed.status !== 'valid') throw new Error(JSON.stringify(parsed.problems));
  const sync = syncNamed(parsed.settings, 'mirror');
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
])('the options %s are refused', (options) => expect(parse(options).status).toBe('invalid'));
