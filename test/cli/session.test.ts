import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { screenOf } from '../../src/cli/print/screen.ts';
import { Session } from '../../src/cli/session.ts';
import { textStream } from './command.ts';

function sessionAt(stdin: PassThrough) {
  const stdout = textStream(true);
  const streams = { stdout: screenOf(stdout), stderr: screenOf(textStream()) };
  const signals = new EventEmitter();
  const process = { env: {}, cwd: '/', signals, abort: () => undefined, stdin };
  return {
    ...{ stdout, signals },
    session: new Session({ ...streams, ...process }, { data: 'd', json: false, verbose: false, init: false }),
  };
}

const ANSWERS = [
  ['y\n', 'yes'],
  ['Yes\n', 'yes'],
  ['\n', 'no'],
  ['no\n', 'no'],
] as const;

test.each(ANSWERS)('asks on the stdout of the session; the answer %j is %s', async (answer, meaning) => {
  const stdin = new PassThrough();
  const { stdout, session } = sessionAt(stdin);
  const asked = session.ask('Write \u001b[31mthat?', new AbortController().signal);
  stdin.write(answer);
  expect(await asked).toBe(meaning);
  expect(stdout.text()).toBe('Write \\u001b[31mthat? [y/N] ');
});

test('a signal ends a question without an answer', async () => {
  const { session } = sessionAt(new PassThrough());
  const stop = new AbortController();
  const asked = session.ask('Write that?', stop.signal);
  stop.abort();
  expect(await asked).toBe(undefined);
});

test('what a signal says does not continue the question', async () => {
  const { session, stdout, signals } = sessionAt(new PassThrough());
  const signal = session.untilStopped('Stopping.', session.out.say);
  const asked = session.ask('Write that?', signal);
  signals.emit('SIGINT');
  await asked;
  expect(stdout.text()).toMatch(/\[y\/N\] \nStopping\.\n$/);
});

test('a second signal says that it stops at once', () => {
  const { session, stdout, signals } = sessionAt(new PassThrough());
  session.untilStopped('Stopping.', session.out.say);
  signals.emit('SIGINT');
  signals.emit('SIGINT');
  expect(stdout.text()).toBe('Stopping.\nStopped at once.\n');
});

test('the end of the input ends a question without an answer', async () => {
  const stdin = new PassThrough();
  const asked = sessionAt(stdin).session.ask('Write that?', new AbortController().signal);
  stdin.end();
  expect(await asked).toBe(undefined);
});
