import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { screenOf } from '../../src/cli/screen.ts';
import { openSession } from '../../src/cli/session.ts';
import { textStream } from './command.ts';

function sessionAt(stdin: PassThrough) {
  const stdout = textStream(true);
  const streams = { stdout: screenOf(stdout), stderr: screenOf(textStream()) };
  const process = { env: {}, cwd: '/', signals: new EventEmitter(), abort: () => undefined, stdin };
  return { stdout, session: openSession({ ...streams, ...process }, { data: 'd', json: false, verbose: false }) };
}

const ANSWERS = [
  ['y\n', true],
  ['Yes\n', true],
  ['\n', false],
  ['no\n', false],
] as const;

test.each(ANSWERS)('asks on the stdout of the session; the answer %j is %s', async (answer, isYes) => {
  const stdin = new PassThrough();
  const { stdout, session } = sessionAt(stdin);
  const asked = session.ask('Write \u001b[31mthat?', new AbortController().signal);
  stdin.write(answer);
  expect(await asked).toBe(isYes);
  expect(stdout.text()).toBe('Write \\u001b[31mthat? [y/N] ');
});

test('a signal answers a question with no', async () => {
  const { session } = sessionAt(new PassThrough());
  const stop = new AbortController();
  const asked = session.ask('Write that?', stop.signal);
  stop.abort();
  expect(await asked).toBe(false);
});
