/**
 * Names processes, so that another process of the same host can see that one was killed: what it holds (a claim, slots of a
 * budget) is then free at once, not only when it expires.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import os from 'node:os';
import { z } from 'zod';

const workerIdentity = z.object({ id: z.string(), host: z.string(), pid: z.number(), started: z.string() });
export type WorkerIdentity = z.infer<typeof workerIdentity>;

/** This process, for claims and job ids. */
export function thisWorker(id: string): WorkerIdentity {
  return { id, host: thisHost(), pid: process.pid, started: startOf(process.pid) ?? '' };
}

/** Whether the process with this identity has certainly ended: it ran on this host and no longer does. */
export function isGone(worker: unknown): boolean {
  const identity = workerIdentity.safeParse(worker);
  return identity.success && isDead(identity.data);
}

/** One budget in this process, for the other processes that share its key. */
export function thisHolder(): { readonly name: string; readonly isGone: (name: string) => boolean } {
  return { name: JSON.stringify(thisWorker(randomUUID())), isGone: isNameGone };
}

function isNameGone(name: string): boolean {
  try {
    return isGone(JSON.parse(name));
  } catch {
    return false; // not a name made by Lockstep
  }
}

function isDead(worker: WorkerIdentity): boolean {
  if (worker.host !== thisHost()) return false;
  try {
    process.kill(worker.pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
  const started = startOf(worker.pid);
  return started !== undefined && worker.started !== '' && started !== worker.started; // the pid now belongs to another process
}

/** Identifies the scope of pids: containers and cloned machines may share a host name but not their pids. */
function thisHost(): string {
  const boot = fromProc(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'));
  const pids = fromProc(() => readlinkSync('/proc/self/ns/pid'));
  return [os.hostname(), boot, pids].filter((part) => part !== undefined).join('/');
}

/** When a process started, in clock ticks since boot; undefined if /proc does not show it. */
function startOf(pid: number): string | undefined {
  const stat = fromProc(() => readFileSync(`/proc/${pid}/stat`, 'utf8'));
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
}

/** Undefined on systems without /proc, and for processes that do not exist. */
function fromProc(read: () => string): string | undefined {
  try {
    return read().trim();
  } catch {
    return undefined;
  }
}
