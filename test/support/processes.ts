/** What `ps` shows: the arguments of every process of this machine. */
import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import { promisify } from 'node:util';

/** The command lines that hold `text`. */
export async function processesNaming(text: string): Promise<readonly string[]> {
  return (await commandLines()).filter((line) => line.includes(text));
}

async function commandLines(): Promise<readonly string[]> {
  if (process.platform === 'linux') {
    const pids = (await fs.readdir('/proc')).filter((name) => /^\d+$/.test(name));
    return Promise.all(pids.map((pid) => fs.readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''))); // it may have ended
  }
  const { stdout } = await promisify(execFile)('ps', ['-Aww', '-o', 'args='], { maxBuffer: 64 * 1024 * 1024 });
  return stdout.split('\n');
}
