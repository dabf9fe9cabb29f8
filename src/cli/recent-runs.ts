/** The ids of runs that commands have shown, in a file of the data directory: a shell completes them without a database. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

const KEPT = 50;

const fileIn = (dataDir: string) => path.join(dataDir, 'recent-runs');

/** The newest first. */
export async function recentRuns(dataDir: string): Promise<readonly string[]> {
  const text = await readFile(fileIn(dataDir), 'utf8').catch(() => '');
  return text.split('\n').filter((id) => id !== '');
}

/** Without a data directory, or without the right to write there, nothing is kept: only completion misses it. */
export async function rememberRuns(dataDir: string, ids: readonly string[]): Promise<void> {
  const kept = [...new Set([...ids, ...(await recentRuns(dataDir))])].slice(0, KEPT);
  await writeFile(fileIn(dataDir), kept.map((id) => `${id}\n`).join('')).catch(() => undefined);
}
