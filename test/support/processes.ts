/** Processes of this machine, as `ps` shows them. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

/** The command lines that hold `text`. */
export async function processesNaming(text: string): Promise<readonly string[]> {
  return (await commandLines()).filter((line) => line.includes(text));
}

/** The process id of the Postgres that runs, or ran last, on this directory. */
export function postmasterOf(dataDir: string): number {
  return Number(readFileSync(path.join(dataDir, 'postgres/data/postmaster.pid'), 'utf8').split('\n')[0]);
}

async function commandLines(): Promise<readonly string[]> {
  if (process.platform === 'linux') {
    const pids = (await fs.readdir('/proc')).filter((name) => /^\d+$/.test(name));
    return Promise.all(pids.map((pid) => fs.readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''))); // it may have ended
  }
  const { stdout } = await promisify(execFile)('ps', ['-Aww', '-o', 'args='], { maxBuffer: 64 * 1024 * 1024 });
  return stdout.split('\n');
}
