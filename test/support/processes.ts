/** What `ps` shows: the arguments of every process of this machine. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** The command lines that hold `text`. */
export async function processesNaming(text: string): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)('ps', ['-Aww', '-o', 'args='], { maxBuffer: 64 * 1024 * 1024 });
  return stdout.split('\n').filter((line) => line.includes(text));
}
