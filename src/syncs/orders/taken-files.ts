/**
 * Files that were moved aside from a watched folder, to be loaded unchanged: a file that arrives later under the same name is
 * another file. They are kept in `.lockstep-files/<run>/<id>/` within the folder, where only this user may write, until they
 * go to `done` or `failed`. A run takes over the files of a run that has ended.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { lstat, mkdir, open, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { codeOf, LockstepError, unlessMissing } from '../../base/errors.ts';
import { type Folder, makeRealFolder, openRealFolder, reasonOf } from '../../base/open-folder.ts';
import { visible } from '../../base/visible.ts';
import { resultsBase, shortName } from '../../csv/file-names.ts';
import { RESULT_KINDS } from '../../csv/result-files.ts';
import { type Entry, openSeen, pathOf, type SeenFile, see } from './folder.ts';

/** Where a file is moved once its load has ended. */
export const OUTCOMES = ['done', 'failed'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface TakenFile extends SeenFile {
  readonly id: string;
  readonly path: string;
}

const WORK = '.lockstep-files';
const BLOCK_BYTES = 1024 * 1024;
const OTHERS_MAY_WRITE = 0o022;

/** The files that one run has taken from a folder. All methods throw FOLDER_UNSAFE and FOLDER_UNWRITABLE. */
export class TakenFiles {
  readonly #folder: Folder;
  readonly #run: string;
  #work: Folder | undefined;

  /** The caller closes `folder`. */
  constructor(folder: Folder, run: string) {
    this.#folder = folder;
    this.#run = run;
  }

  /** Refuses a folder in which one of our folders is replaced by a link. */
  async check(): Promise<void> {
    for (const name of OUTCOMES) await (await this.#existing(name))?.close();
    this.#work ??= await this.#existing(WORK);
    if (this.#work) await mustBeOurs(this.#work);
  }

  /** Moves a file of the folder to this run. Undefined if the file is gone. */
  async take(id: string, { entry, name }: Pick<Entry, 'entry' | 'name'>): Promise<TakenFile | undefined> {
    return this.#guard(async () => {
      const work = await this.#open();
      await mkdir(work.at(`${this.#run}/${id}`), { recursive: true, mode: 0o700 });
      await rename(pathOf(this.#folder, entry), work.at(`${this.#run}/${id}/${shortName(name)}`)).catch(unlessMissing);
      return this.find(id);
    });
  }

  /** Undefined if it was not taken, or was put away. */
  async find(id: string): Promise<TakenFile | undefined> {
    const work = this.#work;
    if (!work) return undefined;
    const dir = `${this.#run}/${id}`;
    const [name] = (await readdir(work.at(dir)).catch(unlessMissing)) ?? [];
    if (name === undefined) return undefined;
    const file = work.at(`${dir}/${name}`);
    const seen = await see(file, name);
    return seen && { ...seen, id, path: file };
  }

  /** The hash of the file's present bytes; `changing` while it is being written; undefined if it is gone. */
  async sha256(id: string): Promise<string | undefined> {
    const file = await this.find(id);
    if (!file) return undefined;
    const handle = await openSeen(file.path, file).catch((error: unknown) => {
      if (codeOf(error) !== 'CSV_CHANGED') throw error;
    });
    if (!handle) return 'changing';
    try {
      const hash = createHash('sha256');
      const block = Buffer.alloc(BLOCK_BYTES);
      for (let at = 0; ; ) {
        const { bytesRead } = await handle.read(block, 0, BLOCK_BYTES, at);
        if (bytesRead === 0) return hash.digest('hex');
        hash.update(block.subarray(0, bytesRead));
        at += bytesRead;
      }
    } finally {
      await handle.close();
    }
  }

  /** This run's files, and files of runs for which `isOver` says that they have ended: they belong to this run from now on. */
  async takeOver(isOver: (run: string) => Promise<boolean>): Promise<readonly TakenFile[]> {
    const work = this.#work;
    if (!work) return [];
    return this.#guard(async () => {
      for (const run of await readdir(work.at('.'))) {
        if (run === this.#run || !run.startsWith('run-') || !(await isOver(run))) continue;
        for (const id of await readdir(work.at(run))) {
          await mkdir(work.at(this.#run), { recursive: true, mode: 0o700 });
          await rename(work.at(`${run}/${id}`), work.at(`${this.#run}/${newFileId()}`));
        }
        await rmdir(work.at(run)).catch(unlessInUse);
      }
      const ids = (await readdir(work.at(this.#run)).catch(unlessMissing)) ?? [];
      const files = await Promise.all(ids.map((id) => this.find(id)));
      return files.flatMap((file) => file ?? []);
    });
  }

  /** A name in `done` or `failed` that is free, for the file and for everything written beside it. */
  async freeName(name: string, outcome: Outcome): Promise<string> {
    const dir = await this.#existing(outcome);
    if (!dir) return shortName(name);
    try {
      for (let free = shortName(name); ; free = shortName(`${randomBytes(3).toString('hex')}-${name}`)) {
        const beside = RESULT_KINDS.map((kind) => `${resultsBase(free)}.${kind}.csv`);
        const names = [free, problemName(free), ...beside];
        const taken = await Promise.all(names.map((one) => lstat(dir.at(one)).catch(unlessMissing)));
        if (taken.every((one) => one === undefined)) return free;
      }
    } finally {
      await dir.close();
    }
  }

  /** Writes what belongs to a file, then moves the file; after a crash, repeating it has the same result. */
  async putAway(
    id: string,
    { outcome, place: name, problem }: { readonly outcome: Outcome; readonly place: string; readonly problem?: string },
    write: (folder: Folder, base: string) => Promise<unknown> = async () => undefined,
  ): Promise<void> {
    const folder = await this.#guard(() => makeRealFolder(outcome, this.#folder));
    try {
      await write(folder, resultsBase(name));
      await this.#guard(async () => {
        if (problem !== undefined) await writeWhole(folder, problemName(name), `${visible(problem)}\n`);
        const file = await this.find(id);
        if (file) await rename(file.path, folder.at(name));
        const work = await this.#open();
        await rmdir(work.at(`${this.#run}/${id}`)).catch(unlessMissing);
      });
    } finally {
      await folder.close();
    }
  }

  /** Removes empty folders. */
  async close(): Promise<void> {
    const work = this.#work;
    this.#work = undefined;
    if (!work) return;
    await rmdir(work.at(this.#run)).catch(unlessInUse);
    await work.close();
    await rmdir(this.#folder.at(WORK)).catch(unlessInUse);
  }

  async #open(): Promise<Folder> {
    if (this.#work) return this.#work;
    const work = await makeRealFolder(WORK, this.#folder);
    await mustBeOurs(work);
    this.#work = work;
    return work;
  }

  /** Undefined if it is missing. */
  async #existing(name: string): Promise<Folder | undefined> {
    return this.#guard(() => openRealFolder(name, this.#folder).catch(unlessMissing));
  }

  async #guard<T>(act: () => Promise<T>): Promise<T> {
    try {
      return await act();
    } catch (error) {
      if (error instanceof LockstepError) throw error;
      const message = `Files cannot be moved within ${this.#folder.path}: ${reasonOf(error)}. Give the worker's user the right to write there.`;
      throw new LockstepError('FOLDER_UNWRITABLE', message, { cause: error });
    }
  }
}

export function newFileId(): string {
  return randomUUID().slice(0, 8);
}

const problemName = (name: string) => `${shortName(name)}.problem.txt`;

/** A folder that another user made, or may write to, must not hold files that are being loaded. */
async function mustBeOurs(work: Folder): Promise<void> {
  const { uid, mode } = await lstat(work.at('.'));
  const isOurs = process.getuid === undefined || uid === process.getuid();
  if (isOurs && (process.platform === 'win32' || (mode & OTHERS_MAY_WRITE) === 0)) return;
  const message = `${work.path} belongs to another user, or others may write to it. See what is in it, and remove it.`;
  throw new LockstepError('FOLDER_UNSAFE', message);
}

/** Writes a file so that it appears whole under its name, and replaces a link of that name. */
async function writeWhole(folder: Folder, name: string, text: string): Promise<void> {
  const aside = folder.at(`.lockstep-${randomUUID()}`);
  const handle = await open(aside, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
    await rename(aside, folder.at(name));
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}

function unlessInUse(error: unknown): undefined {
  if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(codeOf(error) ?? '')) throw error;
}
