import { expect, onTestFinished, test, vi } from 'vitest';
import { createLog, logEvents } from '../../src/cli/log.ts';
import { paint, styled } from '../../src/cli/print/colour.ts';
import { createOutput, table } from '../../src/cli/print/output.ts';
import { screenOf } from '../../src/cli/print/screen.ts';
import { textStream } from './command.ts';

test('--json writes only the object to stdout', () => {
  const stdout = textStream(true);
  const out = createOutput(screenOf(stdout), screenOf(textStream()), { isJson: true });
  out.say('for people');
  out.live('progress');
  out.result({ run: 'x' });
  expect(stdout.text()).toBe('{"run":"x"}\n');
});

test('rewrites a live line, cuts it to the terminal’s width, and clears it before other output', () => {
  const stdout = textStream(true);
  const out = createOutput(screenOf(stdout), screenOf(textStream()), { isJson: false });
  out.live('x'.repeat(100));
  out.say('done');
  const [, live, cleared] = stdout.text().split('\r\u001b[2K');
  expect(live).toBe(`${'x'.repeat(58)}…`);
  expect(cleared).toBe('done\n');
});

test('a line of progress with wide letters stays on one line', () => {
  const stdout = textStream(true);
  const out = createOutput(screenOf(stdout), screenOf(textStream()), { isJson: false });
  out.live('美'.repeat(40));
  expect(stdout.text()).toBe(`\r\u001b[2K${'美'.repeat(29)}…`);
});

test('an entry of the log does not continue the line of progress', () => {
  const stdout = textStream(true);
  const out = createOutput(screenOf(stdout), screenOf(textStream()), { isJson: false });
  const log = createLog(screenOf(stdout), { isVerbose: false, clear: () => out.live('') });
  out.live('reading tasks');
  log.warn({ rows: { unchanged: 14, review: 1 } }, 'target is failing');
  expect(stdout.text()).toBe(
    '\r\u001b[2Kreading tasks\r\u001b[2Kwarn: target is failing  rows=unchanged:14,review:1\n',
  );
});

test('aligns columns by their width on a terminal', () => {
  expect(
    table(
      ['NAME', 'N'],
      [
        ['美咲', '7'],
        ['Zoé', '12'],
      ],
      { right: [1] },
    ).map((line) => paint(line, false)),
  ).toEqual(['NAME   N', '美咲   7', 'Zoé   12']);
});

test('on a terminal each entry of a process that logs events has its time', () => {
  const stderr = textStream(true);
  const log = createLog(screenOf(stderr), { isVerbose: false });
  logEvents(log);
  log.info({ run: 'r1' }, 'run started');
  expect(stderr.text()).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \S+ info: run started {2}run=r1\n$/);
});

test.each([
  [true, 'warn: late: away  run=r1\n'],
  [false, expect.stringMatching(/^\{"level":40,.*"message":"away".*"msg":"late"\}\n$/)],
])('the log is readable on a terminal (%s) and JSON elsewhere, without stacks', (isTTY, written) => {
  const stderr = textStream(isTTY);
  const log = createLog(screenOf(stderr), { isVerbose: false });
  log.info('not shown');
  log.warn({ err: new Error('away'), run: 'r1' }, 'late');
  expect(stderr.text()).toEqual(written);
  expect(stderr.text()).not.toContain('output.test.ts');
});

test('a failure that repeats is logged once a minute, with how often it came since', () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const stderr = textStream(true);
  const log = createLog(screenOf(stderr), { isVerbose: false });
  const fail = (message: string, run = 'r1') => log.warn({ err: new Error(message), run }, 'late');
  for (let n = 0; n < 3; n++) fail('away');
  fail('refused');
  fail('away', 'r2');
  vi.advanceTimersByTime(60_000);
  fail('away');
  fail('refused');
  const logged = ['away  run=r1', 'refused  run=r1', 'away  run=r2', 'away  run=r1  repeated=2', 'refused  run=r1'];
  expect(stderr.text()).toBe(logged.map((words) => `warn: late: ${words}\n`).join(''));
});

test('moves columns that do not fit to lines of their own', () => {
  const rows = [['run-1', 'nightly', 'done', '12 created']];
  const lines = table(['RUN', 'SYNC', 'STATUS', 'OF THESE'], rows, { columns: 24 }).map((line) => paint(line, false));
  expect(lines).toEqual(['RUN    SYNC     STATUS', '    OF THESE', 'run-1  nightly  done', '    12 created']);
  const narrow = table(['A', 'B', 'C'], [['12345678', '12345', '1234567']], { columns: 12 });
  expect(narrow.slice(-3)).toEqual(['12345678', '    12345', '    1234567']);
});

test.each([
  [true, {}, '\u001b[32mdone\u001b[0m\\u001b[31m\n'],
  [true, { NO_COLOR: '1' }, 'done\\u001b[31m\n'],
  [true, { TERM: 'dumb' }, 'done\\u001b[31m\n'],
  [false, {}, 'done\\u001b[31m\n'],
  [false, { FORCE_COLOR: '1' }, '\u001b[32mdone\u001b[0m\\u001b[31m\n'],
])('colours our own texts only (terminal: %s, %j)', (isTTY, env, written) => {
  const stdout = textStream(isTTY);
  const out = createOutput(screenOf(stdout, env), screenOf(textStream()), { isJson: false });
  out.say(`${styled('good', 'done')}\u001b[31m`);
  expect(stdout.text().replace('\r\u001b[2K', '')).toBe(written);
});

test('adds to a command in a message what this process was started with, once', () => {
  const stdout = textStream();
  const complete = (command: string) => `lockstep ${command.endsWith(' --data d') ? command : `${command} --data d`}`;
  const out = createOutput(screenOf(stdout), screenOf(textStream()), { isJson: false, complete });
  out.say('Resume it with: `lockstep runs resume r1`, or `lockstep start --data d`');
  expect(stdout.text()).toBe('Resume it with: `lockstep runs resume r1 --data d`, or `lockstep start --data d`\n');
});
