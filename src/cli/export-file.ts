/** Files that a command writes because its caller names them, or the same on stdout; in constant memory. */
import { randomBytes } from 'node:crypto';
import { open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { codeOf, messageOf, wrongUse } from '../base/errors.ts';
import type { Session } from './session.ts';

export const TO_STDOUT = '-';

const CHUNK_LENGTH = 64 * 1024;

/** The option of every command that writes such a file. */
export const FORCE = ['--force', 'replace the file if it exists'] as const;

export interface Replacing {
  readonly force?: boolean;
}

interface Exported {
  /** How many were written. */
  readonly lines: number;
  /** Its absolute path; null: they went to stdout. */
  readonly file: string | null;
}

/** @throws LockstepError FILE_EXISTS, EXPORT_NOT_WRITABLE */
export async function exportLines(
  { out, cwd }: Session,
  target: string,
  lines: AsyncIterable<string>,
  how: Replacing,
): Promise<Exported> {
  if (target === TO_STDOUT) return { lines: await writeLines(lines, (text) => out.content(text)), file: null };
  const file = await fileToWrite(cwd, target, how);
  return { lines: await writeFile(file, lines), file };
}

/** The absolute path. Pipes and devices may exist. @throws LockstepError FILE_EXISTS */
export async function fileToWrite(cwd: string, given: string, { force = false }: Replacing): Promise<string> {
  const file = path.resolve(cwd, given);
  const before = await stat(file).catch(() => undefined);
  if (force || before?.isFile() !== true) return file;
  throw wrongUse(`${given} exists already. Name another file, or add --force to replace it`, 'FILE_EXISTS');
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
    const message = `The file ${file} cannot be written: ${messageOf(error)}. Name another file`;
    throw wrongUse(message, 'EXPORT_NOT_WRITABLE', error);
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
