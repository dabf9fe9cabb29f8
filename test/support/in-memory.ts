/** Temporary files in memory, where Linux has room for them: databases are files, and writing them takes much of the time. */
import fs from 'node:fs';

const MEMORY = '/dev/shm';
/** Several times what a run needs at once. */
const LEAST_BYTES = 4 * 1024 ** 3;

/** Sets TMPDIR for this process and all that it starts, unless it is set. */
export function useMemory(): void {
  if (hasRoom()) process.env.TMPDIR ??= MEMORY;
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = fs.statfsSync(MEMORY);
    return bavail * bsize >= LEAST_BYTES;
  } catch {
    return false; // not Linux
  }
}
