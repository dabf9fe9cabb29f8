/**
 * A process as a user of an embedded Postgres: from `join` until `leave`, or until the process dies, the keeper keeps it running.
 * How the fifos do this is described in paths.ts and keeper.sh.
 */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf } from '../../base/errors.ts';
import type { Paths } from './paths.ts';

const { O_RDONLY, O_WRONLY, O_NONBLOCK, O_NOFOLLOW } = fs.constants;
const ACK_POLL_MS = 5;
/** A keeper answers within milliseconds unless it is stopped. */
const ACK_MS = 30_000;

export interface Presence {
  /** Ends the use; true if no other process uses it, so that its keeper stops Postgres now. Idempotent. */
  leave(): boolean;
}

/** Joins the users of a running Postgres; undefined if it has no keeper, or is just being stopped. */
export async function join(paths: Paths): Promise<Presence | undefined> {
  const users = openIfRead(paths.users);
  return users === undefined ? undefined : greet(paths, users);
}

/** Is there a keeper that takes new users? */
export function isKept(paths: Paths): boolean {
  return isRead(paths.users);
}

/** Is a process starting Postgres at this moment? */
export function isStarting(paths: Paths): boolean {
  return isRead(paths.starter);
}

/** Is the keeper or any process of its Postgres still there? */
export function hasFamily(paths: Paths): boolean {
  return isRead(paths.family);
}

/**
 * Tells the keeper that we are here and waits for its answer, which promises that it continues until we leave: it may have
 * been about to stop. Takes over `users`, the write end of users.fifo.
 */
export async function greet(paths: Paths, users: number): Promise<Presence | undefined> {
  const peers = fs.openSync(paths.peers, O_RDONLY | O_NONBLOCK);
  const name = `${process.pid}-${randomBytes(6).toString('hex')}`;
  const ack = path.join(paths.acks, name);
  const deadline = Date.now() + ACK_MS;
  say(users, `hello ${name}`);
  while (!fs.existsSync(ack)) {
    if (!isKept(paths) || Date.now() > deadline) {
      fs.closeSync(peers);
      fs.closeSync(users);
      return undefined;
    }
    await sleep(ACK_POLL_MS);
  }
  fs.rmSync(ack, { force: true });
  return presenceOf(paths, users, peers);
}

function presenceOf(paths: Paths, users: number, peers: number): Presence {
  let isLast: boolean | undefined;
  const leave = (): boolean => {
    if (isLast !== undefined) return isLast;
    fs.closeSync(peers);
    isLast = !isRead(paths.peers);
    say(users, 'bye');
    fs.closeSync(users);
    return isLast;
  };
  return { leave };
}

/** Sends a line to the keeper, if there still is one. */
function say(users: number, line: string): void {
  try {
    fs.writeSync(users, `${line}\n`);
  } catch (error) {
    if (codeOf(error) !== 'EPIPE') throw error;
  }
}

function isRead(fifo: string): boolean {
  const fd = openIfRead(fifo);
  if (fd !== undefined) fs.closeSync(fd);
  return fd !== undefined;
}

/** The write end of a fifo, or undefined if no process holds its read end, or the whole directory has been removed. */
function openIfRead(fifo: string): number | undefined {
  try {
    return fs.openSync(fifo, O_WRONLY | O_NONBLOCK | O_NOFOLLOW);
  } catch (error) {
    if (codeOf(error) === 'ENXIO' || codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
