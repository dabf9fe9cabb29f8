/**
 * Files that people uploaded. Each is kept in the data directory under an id of its own until it is loaded, at most a day, so
 * that a closed tab or a restart loses nothing. Its own name is only shown.
 */
import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { codeOf, LockstepError } from '../../base/errors.ts';
import { makeDirectory } from '../../base/make-directory.ts';
import { visibleName } from '../../base/visible.ts';
import { shortName } from '../../csv/file-names.ts';
import type { OpenedFile } from '../../csv/receive.ts';
import { type LoadForm, loadForm } from './load-form.ts';

const KEPT_MS = 24 * 3_600_000;
/** The time in which an uploaded file must arrive whole. */
export const UPLOAD_TIMEOUT_MS = 10 * 60_000;

const checked = z.object({
  run: z.string(),
  /** `new`, or that the file was loaded before. */
  status: z.enum(['new', 'unfinished', 'finished']),
  /** The form that loaded it, as JSON. Earlier versions did not keep it. */
  form: z.string().optional(),
  rows: z.number(),
  /** Of the file; an order may have several. Earlier versions did not keep it. */
  lines: z.number().optional(),
  /** Sentences about rows that are valid but look odd. */
  warnings: z.array(z.string()),
});
const kept = z.object({
  id: z.uuid(),
  name: z.string(),
  account: z.string(),
  corrects: z.string().optional(),
  checked: checked.optional(),
});

/** `corrects`: the run whose refused lines it has, corrected. `checked` is set once all its rows are in the ledger; the file itself is then deleted. */
export type Upload = z.output<typeof kept>;
export type Checked = z.output<typeof checked>;

export interface Waiting {
  readonly upload: Upload;
  readonly uploadedAt: Date;
  /** How a person has last read it. */
  readonly form: LoadForm;
}

export interface Uploads {
  readonly dir: string;
  /** Writes a file to disk; it counts once it is kept. Nothing of it is left if it fails. @throws LockstepError DISK_FULL, UPLOAD_BROKEN_OFF */
  write(bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<string>;
  /** `name`: as the browser gave it, without a path. */
  keep(id: string, about: Pick<Upload, 'name' | 'account' | 'corrects'>): Promise<Upload>;
  /** Keeps how a person reads it, for when its page is opened again. A page is shown all the same if that fails, such as on a full disk. */
  choose(id: string, form: LoadForm): Promise<void>;
  /** @throws LockstepError UPLOAD_UNKNOWN */
  read(id: string): Promise<Upload>;
  /** The files whose rows are not in the ledger yet, the newest first. */
  waiting(): Promise<readonly Waiting[]>;
  /** @throws LockstepError UPLOAD_UNKNOWN */
  open(upload: Pick<Upload, 'id' | 'name'>): Promise<OpenedFile>;
  finish(upload: Upload, checked: Checked): Promise<void>;
  remove(id: string): Promise<void>;
  /** Deletes what is older than a day. */
  sweep(): Promise<void>;
}

export function createUploads(dir: string): Uploads {
  const content = (id: string) => path.join(dir, `${id}.csv`);
  const about = (id: string) => path.join(dir, `${id}.json`);
  const form = (id: string) => path.join(dir, `${id}.form`);
  const put = async (file: string, value: object): Promise<void> => {
    const aside = path.join(dir, randomUUID());
    try {
      await fs.writeFile(aside, JSON.stringify(value), { mode: 0o600 });
      await fs.rename(aside, file);
    } catch (error) {
      await fs.rm(aside, { force: true });
      throw failedWrite(error, dir);
    }
  };
  const remove = async (id: string): Promise<void> => {
    for (const file of [content(id), about(id), form(id)]) await fs.rm(file, { force: true });
  };
  const read = async (id: string): Promise<Upload> => kept.parse(JSON.parse(await fs.readFile(about(id), 'utf8')));
  /** None if the file is loaded, or was deleted meanwhile. */
  const waitingAs = async (id: string): Promise<readonly Waiting[]> => {
    try {
      const upload = await read(id);
      if (upload.checked) return [];
      const { mtime: uploadedAt } = await fs.stat(content(id));
      const chosen = await fs.readFile(form(id), 'utf8').catch(() => '{}'); // its page was never opened
      return [{ upload, uploadedAt, form: loadForm.parse(JSON.parse(chosen)) }];
    } catch {
      return [];
    }
  };
  return {
    dir,
    async write(bytes) {
      await makeDirectory(dir, { mode: 0o700 });
      const id = randomUUID();
      try {
        await pipeline(bytes, createWriteStream(content(id), { mode: 0o600, flags: 'wx' }));
        return id;
      } catch (error) {
        await remove(id);
        throw failedWrite(error, dir);
      }
    },
    async keep(id, { name, ...rest }) {
      const upload = { id, name: shortName(visibleName(name)) || 'orders.csv', ...rest };
      await put(about(id), upload);
      return upload;
    },
    choose: (id, chosen) => put(form(id), chosen).catch(() => undefined),
    async read(id) {
      try {
        return await read(z.uuid().parse(id));
      } catch (cause) {
        throw unknown(cause);
      }
    },
    async waiting() {
      const files = (await fs.readdir(dir).catch(() => [])).filter((name) => name.endsWith('.json'));
      const found = await Promise.all(files.map((name) => waitingAs(path.basename(name, '.json'))));
      return found.flat().sort((a, b) => b.uploadedAt.getTime() - a.uploadedAt.getTime());
    },
    async open({ id, name }) {
      try {
        return { name, handle: await fs.open(content(id), 'r') };
      } catch (cause) {
        throw unknown(cause);
      }
    },
    async finish(upload, checked) {
      await put(about(upload.id), { ...upload, checked });
      for (const file of [content(upload.id), form(upload.id)]) await fs.rm(file, { force: true });
    },
    remove,
    async sweep() {
      const files = await fs.readdir(dir).catch(() => []); // no file was uploaded yet
      for (const file of files.map((name) => path.join(dir, name))) {
        const stat = await fs.stat(file).catch(() => undefined); // another process deletes too
        if (stat && Date.now() - stat.mtimeMs > KEPT_MS) await fs.rm(file, { force: true, recursive: true });
      }
    },
  };
}

function unknown(cause: unknown): LockstepError {
  const message = 'This file is not here: it is deleted a day after it was uploaded. Choose it again';
  return new LockstepError('UPLOAD_UNKNOWN', message, { cause });
}

/** The codes of a connection that its client has closed. */
const BROKEN_OFF = ['ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'];

/** DISK_FULL, UPLOAD_BROKEN_OFF */
function failedWrite(error: unknown, dir: string): unknown {
  const code = codeOf(error) ?? '';
  if (BROKEN_OFF.includes(code)) {
    const message = 'The upload ended before all of the file had arrived, so nothing of it is kept. Choose it again.';
    return new LockstepError('UPLOAD_BROKEN_OFF', message, { cause: error });
  }
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return error;
  const message = `There is no space left in ${dir} to keep the file. Free some space, then load it again.`;
  return new LockstepError('DISK_FULL', message, { cause: error });
}

/** UPLOAD_EMPTY */
export function nothingSent(): LockstepError {
  const message =
    'Nothing was sent, or the file is empty. Choose a CSV with a header and at least one row, or paste its lines.';
  return new LockstepError('UPLOAD_EMPTY', message);
}

/** UPLOAD_TOO_LARGE */
export function uploadTooLarge(what: string, maxBytes: number): LockstepError {
  const message = `${what} has more than ${Math.floor(maxBytes / 1024 / 1024)} MiB, the limit of an upload. Split it, or load it on the command line.`;
  return new LockstepError('UPLOAD_TOO_LARGE', message);
}

/** The same bytes, as long as they are not too many. @throws LockstepError UPLOAD_TOO_LARGE, UPLOAD_EMPTY */
export async function* atMostBytes(bytes: AsyncIterable<Uint8Array>, most: number): AsyncGenerator<Uint8Array> {
  let sent = 0;
  for await (const chunk of bytes) {
    sent += chunk.length;
    if (sent > most) throw uploadTooLarge('The file', most);
    yield chunk;
  }
  if (sent === 0) throw nothingSent();
}
