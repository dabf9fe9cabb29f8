import { expect, test } from 'vitest';
import { REASON_AREAS, remedyFor } from '../../src/base/reasons/reasons.ts';
import { buildProgram } from '../../src/cli/program.ts';
import type { Run, RunStatus } from '../../src/engine/ledger/runs.ts';
import { hintsFor } from '../../src/operator/hints.ts';
import { textStream } from './command.ts';

const codes = Object.values(REASON_AREAS).flatMap((reasons) => Object.keys(reasons));

/** The commands of a remedy, for a run like this. */
function commandsOf(code: string, run: Partial<Run>): readonly string[] {
  const about = { id: 'run-1', sync: 'nightly', account: 'acme', type: 'orders', dryRun: false, ...run };
  const hints = hintsFor((command) => `lockstep ${command}`, about as Run); // safe: only these are read
  const remedy = remedyFor(code, { target: 'hook', load: 'run-2', options: ['--limit', '3'] }, hints) ?? '';
  return [...remedy.matchAll(/`lockstep ([^`]+)`/g)].map(([, command = '']) => command);
}

/** Throws if the command line does not understand the words; does not perform them. */
async function parse(words: string): Promise<void> {
  const streams = { stdout: textStream(), stderr: textStream() };
  await buildProgram(streams, async () => undefined).parseAsync(words.split(' '), { from: 'user' });
}

test('the command line understands every command of every remedy', async () => {
  const types: readonly Partial<Run>[] = [
    { type: 'orders' },
    { type: 'contacts' },
    { partOf: 'run-0' },
    { dryRun: true },
  ];
  const runs = types.flatMap((type) => [
    { ...type, status: 'done' as const },
    { ...type, status: 'failed' as const },
  ]);
  const commands = new Set(codes.flatMap((code) => runs.flatMap((run) => commandsOf(code, run))));
  expect(commands.size).toBeGreaterThan(15);
  for (const command of commands) await expect(parse(command), command).resolves.toBeUndefined();
});

const AGAIN: readonly (readonly [RunStatus, Partial<Run>, string])[] = [
  ['failed', {}, 'runs resume run-1'],
  ['paused', { type: 'contacts' }, 'runs resume run-1'],
  ['cancelled', {}, 'runs retry run-1'],
  ['cancelled', { type: 'contacts' }, 'run nightly'],
  ['done', { type: 'contacts', options: { plan: 'x' } }, 'run nightly'],
  ['done', { partOf: 'run-0' }, 'runs retry run-0'],
  ['failed', { partOf: 'run-0' }, 'runs resume run-0'],
  ['done', { dryRun: true }, 'orders load FILE --account acme'],
];

test('rows of a run whose account has to be confirmed are sent after that', () => {
  const run = { id: 'run-1', account: 'acme', status: 'paused', errorCode: 'IDENTITY_UNCLEAR' } as Run; // safe: only these are read
  expect(
    remedyFor(
      'NEVER_SENT',
      {},
      hintsFor((command) => `lockstep ${command}`, run),
    ),
  ).toBe('To send what is left: first do what the message of the run says, then `lockstep runs resume run-1`.');
});

test.each(AGAIN)('rows of a run that is %s %j are worked on again by: %s', (status, run, command) => {
  expect(commandsOf('NEVER_SENT', { status, ...run })).toEqual([command]);
});
