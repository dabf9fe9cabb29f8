/** The directory of `--results`, checked before anything is read. */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { codeOf, wrongUse } from '../../base/errors.ts';

/** The absolute path. @throws LockstepError RESULTS_NOT_A_DIRECTORY if a file has that name, or is above it, or it is named like a file */
export async function resultsDir(cwd: string, given: string): Promise<string> {
  const dir = path.resolve(cwd, given);
  const found = await stat(dir).catch((error: unknown) => codeOf(error));
  const isBelow = found === 'ENOTDIR';
  const isFile = isBelow || (typeof found === 'object' && !found.isDirectory());
  const isMeantAsFile = typeof found !== 'object' && /\.(?:csv|tsv|txt|json)$/i.test(given);
  if (!isFile && !isMeantAsFile) return dir;
  const what = isBelow ? 'below a file' : isFile ? 'a file' : 'the name of a file';
  throw wrongUse(
    `--results ${given}: this is ${what}, and a directory is needed. Name another, such as --results results.`,
    'RESULTS_NOT_A_DIRECTORY',
  );
}
