/** The directory of `--results`, checked before anything is read. */
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { codeOf } from '../../base/errors.ts';
import { wrongUse } from '../errors.ts';

/** The absolute path. @throws LockstepError RESULTS_NOT_A_DIRECTORY if a file has that name, or is above it, or it is named like a file */
export async function resultsDir(cwd: string, given: string): Promise<string> {
  const dir = path.resolve(cwd, given);
  const found = await stat(dir).catch((error: unknown) => codeOf(error));
  const isFile = found === 'ENOTDIR' || (typeof found === 'object' && !found.isDirectory());
  const isMeantAsFile = typeof found !== 'object' && /\.(?:csv|tsv|txt|json)$/i.test(given);
  if (!isFile && !isMeantAsFile) return dir;
  throw wrongUse(
    `--results ${given}: this is ${isFile ? 'a file' : 'the name of a file'}, and a directory is needed. Name another, such as --results results.`,
    'RESULTS_NOT_A_DIRECTORY',
  );
}
