/**
 * A lock between processes, which the kernel releases however its holder ends: an abstract socket's name on
 * Linux (Node >= 20.8), a locked file elsewhere.
 */
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { codeOf } from '../../base/errors.ts';
import type { Paths } from './paths.ts';

export interface Lock {
  release(): void;
}

/** BSD's and macOS' open(2) flag for an exclusive lock; Node has no name for it. */
const O_EXLOCK = 0x20;

/**
 * The lock of a data directory, or undefined while another process holds it. Its holder also holds the read end of
 * starter.fifo: other users can take the name of an abstract socket, but cannot open the fifo.
 */
export async function tryLock(paths: Paths): Promise<Lock | undefined> {
  const lock =
    process.platform === 'linux' ? await nameLock(`\0${lockName(paths)}`) : fileLock(path.join(paths.dir, 'lock'));
  if (!lock) return undefined;
  const starter = fs.openSync(paths.starter, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
  const release = (): void => {
    fs.closeSync(starter);
    lock.release();
  };
  return { release };
}

/** As `ss -xl` shows it, after an @. */
export function lockName({ id }: Paths): string {
  return `lockstep-${id}`;
}

async function nameLock(name: string): Promise<Lock | undefined> {
  const server = net.createServer();
  const listening = new Promise<boolean>((resolve, reject) => {
    server.once('listening', () => resolve(true));
    server.once('error', (error) => (codeOf(error) === 'EADDRINUSE' ? resolve(false) : reject(error)));
  });
  server.listen({ path: name, exclusive: true });
  if (!(await listening)) return undefined;
  server.unref();
  return { release: () => server.close() };
}

function fileLock(file: string): Lock | undefined {
  const { O_RDONLY, O_CREAT, O_NONBLOCK } = fs.constants;
  try {
    const fd = fs.openSync(file, O_RDONLY | O_CREAT | O_NONBLOCK | O_EXLOCK, 0o600);
    return { release: () => fs.closeSync(fd) };
  } catch (error) {
    if (codeOf(error) === 'EAGAIN') return undefined;
    throw error;
  }
}
