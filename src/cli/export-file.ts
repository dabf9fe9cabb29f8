/** Writes exported lines to a file or to stdout, in constant memory. */
import { randomBytes } from 'node:crypto';
import { open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { codeOf, LockstepError, messageOf } from '../base/errors.ts';
import { WRONG_USE } from './errors.ts';
import type { Session } from './session.ts';

export const TO_STDOUT = '-';

const CHUNK_LENGTH = 64 * 1024;

/** Returns how many lines were written. @throws LockstepError EXPORT_NOT_WRITABLE */
export function exportLines({ out, cwd }: Session, target: string, lines: AsyncIterable<string>): Promise<number> {
  if (target === TO_STDOUT) return writeLines(lines, (text) => out.content(text));
  return writeFile(path.resolve(cwd, target), lines);
}

/** Replaces the file only once the last line is written. A pipe or a device is written to directly. */
async function writeFile(file: string, lines: AsyncIterable<string>): Promise<number> {
  const draft = path.join(path.dirname(file), `.lockstep-${randomBytes(8).toString('hex')}`);
  try {
    const before = await stat(file).catch(() => undefined);
    const isReplaced = before === undefined || before.isFile() || before.isDirectory();
    const handle = await (isReplaced ? open(draft, 'wx', 0o600) : open(file, 'w'));
    try {
      const count = await writeLines(lines, (text) => handle.appendFile(text));
      await handle.close();
      if (isReplaced) await rename(draft, file);
      return count;
    } finally {
      await handle.close();
    }
  } catch (error) {
    await rm(draft, { force: true });
    if (!isFileProblem(error)) throw error;
    const message = `The rows cannot be written to ${file}: ${messageOf(error)}. Choose another file`;
    throw new LockstepError('EXPORT_NOT_WRITABLE', message, { cause: error, exitCode: WRONG_USE });
  }
}

function isFileProblem(error: unknown): boolean {
  return ['ENOENT', 'EACCES', 'EPERM', 'EISDIR', 'ENOTDIR', 'ENOSPC', 'EROFS', 'EDQUOT', 'ENAMETOOLONG'].includes(
    codeOf(error) ?? '',
  );
}

async function writeLines(lines: AsyncIterable<string>, write: (text: string) => Promise<void>): Promise<number> {
  let text = '';
  let count = 0;
  for await (const line of lines) {
    text += line;
    count += 1;
    if (text.length < CHUNK_LENGTH) continue;
    await write(text);
    text = '';
  }
  await write(text);
  return count;
}
