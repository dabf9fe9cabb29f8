/**
 * A folder of order files, written by people who are trusted less than this process: its entries, and which files are
 * complete. Only plain files are opened, no link is followed, and no open waits for a writer.
 */
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir } from 'node:fs/promises';
import { codeOf, LockstepError, messageOf, unlessMissing, wrongUse } from '../../base/errors.ts';
import { type Folder, openRealFolder, reasonOf } from '../../base/open-folder.ts';
import { visibleName } from '../../base/visible.ts';

/** A file as one listing of the folder showed it. */
export interface SeenFile {
  /** Without control characters. */
  readonly name: string;
  /** Identifies the file, its size and its time: the text differs as soon as any of them changes. */
  readonly version: string;
  readonly modifiedMs: number;
  /** The last byte ends a line: the writer may have finished. */
  readonly endsLine: boolean;
  /** Why it is not loaded, if it is not a plain file. */
  readonly oddity: string | undefined;
}

export interface Entry extends SeenFile {
  /** Its name as bytes, in base64: a name may not be valid text. */
  readonly entry: string;
}

/** A file that ends with a line end is complete if it has not changed for this long … */
const QUIET_MS = 3_000;
/** … and a file that ends within a line, or is compressed, if no process is likely to be writing it still. */
const LONG_QUIET_MS = 30_000;
const OLD_MS = 60_000;
/** A workbook is taken, too: it is put away with the reason, where its owner looks for it. */
const TAKEN = /\.((csv|txt|tsv)(\.gz)?|xlsx|xlsm|xlsb|xls|ods)$/i;
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** @throws LockstepError FOLDER_UNREADABLE, FOLDER_UNSAFE */
export async function openWatched(folder: string): Promise<Folder> {
  return readable(folder, () => openRealFolder(folder));
}

/**
 * Files to load, by name and the oldest first; last the entries that are not plain files. Hidden files belong to other programs.
 * @throws LockstepError FOLDER_UNREADABLE
 */
export async function entriesIn(folder: Folder): Promise<readonly Entry[]> {
  return readable(folder.path, async () => {
    const found: Entry[] = [];
    for (const raw of await readdir(folder.at('.'), { encoding: 'buffer' })) {
      if (!isTaken(raw.toString())) continue;
      const entry = raw.toString('base64');
      const seen = await see(pathOf(folder, entry), fileNameOf(entry));
      if (seen) found.push({ ...seen, entry });
    }
    const rank = ({ oddity }: Entry) => (oddity === undefined ? 0 : 1);
    return found.sort((a, b) => rank(a) - rank(b) || a.modifiedMs - b.modifiedMs || a.name.localeCompare(b.name));
  });
}

/** The path to an entry; in bytes, because its name may not be valid text. */
export function pathOf(folder: Folder, entry: string): Buffer {
  return Buffer.concat([Buffer.from(folder.at('')), Buffer.from(entry, 'base64')]);
}

export function fileNameOf(entry: string): string {
  return visibleName(Buffer.from(entry, 'base64').toString());
}

/** Since when a newly seen file is unchanged: its own time counts only if it is older than clocks can differ. */
export function sameSince({ modifiedMs }: SeenFile, nowMs: number): number {
  return nowMs - modifiedMs > OLD_MS ? modifiedMs : nowMs;
}

/** Whether a file that has not changed for `sameForMs` has been written to its end. */
export function isComplete({ endsLine }: SeenFile, sameForMs: number): boolean {
  return sameForMs >= (endsLine ? QUIET_MS : LONG_QUIET_MS);
}

/** Undefined if there is no such file. */
export async function see(file: Buffer | string, name: string): Promise<SeenFile | undefined> {
  const stat = await lstat(file, { bigint: true }).catch(unlessMissing);
  if (!stat) return undefined;
  const oddity = oddityOf(stat);
  const facts = {
    name,
    version: `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}`,
    modifiedMs: Number(stat.mtimeMs),
    oddity,
  };
  const isTold = oddity !== undefined || stat.size === 0n || /\.gz$/i.test(name);
  return { ...facts, endsLine: !isTold && (await endsWithLine(file, facts.version)) };
}

/** Opens a plain file if it is still the one that was seen. @throws LockstepError CSV_CHANGED, CSV_UNREADABLE */
export async function openSeen(
  file: Buffer | string,
  { name, version }: Pick<SeenFile, 'name' | 'version'>,
): Promise<FileHandle> {
  const handle = await open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((error: unknown) => {
    const message = `Cannot read ${name}: ${reasonOf(error)}. Check the file and its permissions.`;
    throw wrongUse(message, 'CSV_UNREADABLE', error);
  });
  const { dev, ino, size, mtimeNs } = await handle.stat({ bigint: true });
  if (`${dev}:${ino}:${size}:${mtimeNs}` === version) return handle;
  await handle.close();
  throw new LockstepError('CSV_CHANGED', `${name} was changed or replaced before it was read.`);
}

function oddityOf(stat: {
  readonly nlink: bigint;
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}): string | undefined {
  if (stat.isSymbolicLink()) return 'is a symbolic link';
  if (stat.isDirectory()) return 'is a folder';
  if (!stat.isFile()) return 'is a pipe, a socket or a device';
  return stat.nlink > 1n ? 'has another name elsewhere (a hard link)' : undefined;
}

function isTaken(name: string): boolean {
  return !name.startsWith('.') && !name.startsWith('~$') && TAKEN.test(name); // the one of Excel's that it keeps while a file is open
}

/** In UTF-16 the last byte of a line end may be a zero. False if the file cannot be read: loading it reports the cause. */
async function endsWithLine(file: Buffer | string, version: string): Promise<boolean> {
  const handle = await openSeen(file, { name: '', version }).catch(() => undefined);
  if (!handle) return false;
  try {
    const { size } = await handle.stat();
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, Math.max(0, size - 2));
    const end = buffer.subarray(0, bytesRead);
    const last = end.at(-1) === 0 ? end.at(0) : end.at(-1);
    return last === 0x0a || last === 0x0d;
  } finally {
    await handle.close();
  }
}

async function readable<T>(folder: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof LockstepError) throw error;
    const why =
      codeOf(error) === 'ENOENT' ? 'it does not exist. Create it' : `${messageOf(error)}. Check its permissions`;
    const message = `The folder ${folder} cannot be read: ${why}, or set options.folder of the sync to another folder.`;
    throw new LockstepError('FOLDER_UNREADABLE', message, { cause: error });
  }
}
