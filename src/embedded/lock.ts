/**
 * A lock between processes that the kernel releases when its holder dies, however it dies: an abstract socket's name on
 * Linux (Node >= 20.8), a locked file elsewhere.
 */
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { codeOf } from '../errors.ts';
import type { Place } from './place.ts';

export interface Lock {
  release(): void;
}

/** BSD's and macOS' open(2) flag for an exclusive lock; Node has no name for it. */
const O_EXLOCK = 0x20;

/** The lock of a place, or undefined while another process holds it. */
export async function tryLock(place: Place): Promise<Lock | undefined> {
  return process.platform === 'linux' ? nameLock(`\0lockstep-${place.id}`) : fileLock(path.join(place.dir, 'lock'));
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
