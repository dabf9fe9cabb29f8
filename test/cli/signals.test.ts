import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { commandFailure } from '../../src/cli/errors.ts';
import { aborted, listenForStop } from '../../src/cli/signals.ts';

test('the first signal asks for a clean end, the second ends at once, and signals after closing are ignored', async () => {
  const source = new EventEmitter();
  const heard: string[] = [];
  const stopping = listenForStop(source, { onFirst: () => heard.push('first'), onSecond: () => heard.push('second') });
  expect(stopping.signal.aborted).toBe(false);
  source.emit('SIGTERM');
  await aborted(stopping.signal);
  source.emit('SIGINT');
  stopping.close();
  source.emit('SIGINT');
  expect(heard).toEqual(['first', 'second']);
});

test('a command that a signal interrupts does not call that a defect', () => {
  const source = new EventEmitter();
  const stopping = listenForStop(source, { onFirst: () => undefined, onSecond: () => undefined });
  source.emit('SIGTERM');
  stopping.close();
  expect(commandFailure(stopping.signal.reason, undefined)).toEqual({
    code: 'STOPPED',
    message: 'Stopped by a signal before the work was done. Run the command again',
    exitCode: 3,
  });
});
