/** Finds the test files with suites for Redis, to name them if there is no Redis. */
import fs from 'node:fs/promises';
import path from 'node:path';

/** The test files below `folder` that use test/support/redis.ts, as paths relative to it. */
export async function suitesNeedingRedis(folder: string): Promise<string[]> {
  const files = (await fs.readdir(folder, { recursive: true })).filter((file) => file.endsWith('.test.ts'));
  const sources = await Promise.all(files.map((file) => fs.readFile(path.join(folder, file), 'utf8')));
  return files.filter((_, index) => /\b(describeWithRedis|redisForTests)\b/.test(sources[index] ?? '')).sort();
}
