import fs from 'node:fs';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { type Paths, preparePaths } from '../../../src/storage/embedded/paths.ts';
import { isKept, join } from '../../../src/storage/embedded/presence.ts';
import { PATIENT } from '../../support/patient.ts';
import { scratch } from './scratch.ts';

const newDir = scratch();

/** A keeper controlled by the test: the read end of users.fifo. */
async function keptPaths(): Promise<{ paths: Paths; read(): string; end(): void }> {
  const paths = await preparePaths(await newDir(), '18');
  const fd = fs.openSync(paths.users, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
  const buffer = Buffer.alloc(1000);
  return { paths, read: () => buffer.toString('utf8', 0, fs.readSync(fd, buffer)), end: () => fs.closeSync(fd) };
}

test('a process that comes after the keeper decided to stop does not count as a user', async () => {
  const { paths, end } = await keptPaths();
  const joining = join(paths);
  expect(isKept(paths)).toBe(true);
  end();
  expect(await joining).toBeUndefined();
});

test('the keeper answers a hello, reads a bye, and notices when the last user has gone', async () => {
  const { paths, read, end } = await keptPaths();
  const joining = join(paths);
  const [word, name] = read().trim().split(' ');
  expect(word).toBe('hello');
  fs.writeFileSync(path.join(paths.acks, name ?? ''), '');
  const presence = await joining;
  await vi.waitUntil(() => fs.readdirSync(paths.acks).length === 0, PATIENT);
  expect([presence?.leave(), presence?.leave()]).toEqual([true, true]);
  expect([read(), read()]).toEqual(['bye\n', '']);
  end();
  expect(await join(paths)).toBeUndefined();
});
