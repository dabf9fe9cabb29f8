/** What happens to the machine of a day: to its Postgres, its disk, and the clocks of its processes. Linux only. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { familyOf } from '../../bench/cost.ts';
import type { Random } from '../support/drawn-service.ts';

/** A run that no process has worked on for a minute reads the service back; an earlier restore is not noticed. */
const BACKUP_AGE_MS = 65_000;
/** The receiver of webhooks accepts calls that are up to five minutes old. */
const SET_BY_S = ['-120', '-30', '-3', '+0', '+3', '+30', '+120'];
const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';

export interface DayMachine {
  /** The environment of worker `n`: its clock can be set if libfaketime is installed. */
  envOf(n: number): Record<string, string>;
  /** Unmounts the disk. */
  close(): Promise<void>;
  /** `stopAll` kills every process that uses Postgres; `startAll` starts the workers again. */
  happenings(
    inBackground: (work: Promise<unknown>) => void,
    all: { stopAll(): Promise<void>; startAll(): void },
  ): Readonly<Record<string, () => unknown>>;
}

/** Makes `dir` a file system of its own, in memory, if the process has mounts of its own (run.ts). */
export async function mountDisk(dir: string): Promise<boolean> {
  if (process.env.OWN_MOUNTS === undefined) return false;
  await mkdir(dir);
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=600m,mode=0700', 'lockstep', dir]);
  return true;
}

/** `ownDisk`: the data directory is such a file system. */
export async function machineOf(
  cwd: string,
  { int, pick }: Random,
  { ownDisk, workers }: { readonly ownDisk: boolean; readonly workers: number },
): Promise<DayMachine> {
  const postgres = path.join(cwd, '.lockstep/postgres');
  const [data, backup] = [path.join(postgres, 'data'), path.join(cwd, 'backup')];
  let backedUpAt = Number.POSITIVE_INFINITY;
  const clockOf = (n: number) => path.join(cwd, `clock-${n}`);
  for (let n = 0; n < workers; n++) await writeFile(clockOf(n), '+0s');
  return {
    envOf(n): Record<string, string> {
      if (!existsSync(FAKETIME)) return {};
      return {
        LD_PRELOAD: FAKETIME,
        FAKETIME_TIMESTAMP_FILE: clockOf(n),
        FAKETIME_CACHE_DURATION: '1',
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
      };
    },
    async close() {
      if (ownDisk) execFileSync('umount', ['--lazy', path.join(cwd, '.lockstep')]);
    },
    happenings: (inBackground, { stopAll, startAll }) => ({
      'Postgres is killed': async () => kill(await postmaster(data), 'SIGKILL'),
      'the clock of a worker is set': () => writeFile(clockOf(int(workers)), `${pick(SET_BY_S)}s`),
      'a backup is made': async () => {
        const pid = await postmaster(data);
        if (pid === 0 || backedUpAt < Date.now()) return false;
        // As if the power failed at this moment: nothing is written while the files are copied.
        const all = await familyOf(pid);
        for (const one of all) kill(one, 'SIGSTOP');
        await cp(data, backup, { recursive: true, preserveTimestamps: true });
        execFileSync('chown', ['-R', '--reference', data, backup]);
        for (const one of all) kill(one, 'SIGCONT');
        backedUpAt = Date.now();
        return true;
      },
      'Postgres is restored': async () => {
        if (Date.now() < backedUpAt + BACKUP_AGE_MS) return false;
        await stopAll();
        kill(await postmaster(data), 'SIGKILL');
        await delay(4_000); // longer than twice `settle`, so that all requests are decided and shown
        await rm(data, { recursive: true, force: true });
        execFileSync('cp', ['-a', backup, data]);
        await rm(path.join(data, 'postmaster.pid'), { force: true });
        startAll();
        return true;
      },
      ...(ownDisk && {
        'the disk is full': async () => {
          const { bavail, bsize } = await statfs(path.join(cwd, '.lockstep'));
          const ballast = path.join(cwd, '.lockstep/ballast');
          await writeFile(ballast, Buffer.alloc(bavail * bsize)).catch(() => undefined); // it writes what fits
          inBackground(delay(pick([500, 3_000, 8_000])).then(() => rm(ballast, { force: true })));
        },
      }),
    }),
  };
}

/** 0: none is known. */
async function postmaster(data: string): Promise<number> {
  const text = await readFile(path.join(data, 'postmaster.pid'), 'utf8').catch(() => '');
  return Number(text.split('\n')[0]);
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    if (pid > 0) process.kill(pid, signal);
  } catch {
    // It was killed before, and its file is still there.
  }
}
