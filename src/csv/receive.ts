/**
 * Receives a CSV once, from a file or from stdin, plain or gzip, and determines its length, its fingerprint, and
 * whether it is text.
 *
 * Everything is streamed with limits, before and after unpacking, so a small archive that unpacks endlessly stops at a
 * limit. A file is opened once and kept open until `close`; a file that replaces it under its name is not read. Input
 * that can be read only once (stdin, a pipe) is copied to a file without a name. A later read fails with CSV_CHANGED if its
 * bytes differ from those of the first read.
 */
import { createHash, type Hash, randomUUID } from 'node:crypto';
import fs, { type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { pipeline as piped } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { codeOf, LockstepError, messageOf, wrongUse } from '../base/errors.ts';
import { makeDirectory } from '../base/make-directory.ts';
import { refuseBinary } from './binary.ts';
import { Utf8Check } from './encoding.ts';
import { ReadingTime } from './reading-time.ts';

const MIB = 1024 * 1024;
const BLOCK_BYTES = 64 * 1024;
/** The sample from which delimiter, header and number forms are detected. The encoding is detected from the whole file. */
const SAMPLE_BYTES = MIB;

export interface ReceiveLimits {
  /** The limit for the file before unpacking; default 2 GiB. */
  readonly maxBytes: number;
  /** The limit after unpacking gzip; default 4 GiB. */
  readonly maxUnpackedBytes: number;
  /** The limit for reading, all passes together; default 10 minutes. */
  readonly maxReadMs: number;
}

export interface OpenedFile {
  /** For messages. */
  readonly name: string;
  readonly handle: FileHandle;
}

/** A path, `-` for stdin, or what opens the file: it is closed even if it cannot be received. */
export type FileSource = string | (() => Promise<OpenedFile>);

export interface ReceiveOptions {
  /** The directory for the copy of stdin or a pipe, which is kept until `close`. */
  readonly spoolDir: string;
  readonly limits?: Partial<ReceiveLimits>;
  readonly stdin?: AsyncIterable<Uint8Array>;
  readonly signal?: AbortSignal;
}

interface Content {
  readonly sizeBytes: number;
  readonly unpackedBytes: number;
  /** Hex, of the bytes as received (before unpacking). */
  readonly sha256: string;
  readonly isUtf8: boolean;
  /** The first MiB, unpacked. */
  readonly sample: Buffer;
}

export interface Received extends Content {
  /** As the user named it; `stdin` for `-`. */
  readonly name: string;
  readonly isGzip: boolean;
  readonly time: ReadingTime;
  /** Reads it again, unpacked. Throws CSV_CHANGED at the end if the bytes differ from the received ones. */
  read(): AsyncGenerator<Buffer>;
  /** Closes the file; a private copy is gone then. */
  close(): Promise<void>;
}

/** Throws CSV_NOT_FOUND, CSV_IS_DIRECTORY, CSV_UNREADABLE, CSV_EMPTY, CSV_BINARY, CSV_TOO_LARGE or CSV_GZIP_BROKEN. */
export async function receive(source: FileSource, options: ReceiveOptions): Promise<Received> {
  const limits = { maxBytes: 2048 * MIB, maxUnpackedBytes: 4096 * MIB, maxReadMs: 600_000, ...options.limits };
  const opened = await openInput(source, limits, options);
  try {
    const { name, handle, close } = opened;
    const time = new ReadingTime(name, limits.maxReadMs);
    const input: Input = { name, handle, limits, time, signal: options.signal, isGzip: await beginsWithGzip(handle) };
    const facts = await survey(input);
    return { name, close, time, ...facts, isGzip: input.isGzip, read: () => readAgain(input, facts) };
  } catch (error) {
    await opened.close();
    throw asReadError(error, opened.name);
  }
}

interface OpenInput extends OpenedFile {
  close(): Promise<void>;
}

interface Input extends OpenedFile {
  readonly isGzip: boolean;
  readonly limits: ReceiveLimits;
  readonly time: ReadingTime;
  readonly signal: AbortSignal | undefined;
}

interface Facts extends Content {
  readonly modifiedMs: number;
}

async function openInput(source: FileSource, limits: ReceiveLimits, options: ReceiveOptions): Promise<OpenInput> {
  if (source === '-') return spool(options.stdin ?? process.stdin, 'stdin', limits, options);
  const { name, handle } = await (typeof source === 'string' ? openFile(source) : source());
  const close = once(() => handle.close());
  try {
    const stat = await handle.stat();
    if (stat.isDirectory()) {
      throw wrongUse(`${name} is a directory. Name one CSV file.`, 'CSV_IS_DIRECTORY');
    }
    if (stat.isFile() && stat.size > limits.maxBytes) throw tooLarge(name, limits.maxBytes);
    if (stat.isFile()) return { name, handle, close };
    // A pipe, such as bash's <(…), can be read only once.
    const copy = await spool(blocksOf(handle), name, limits, options);
    await close();
    return copy;
  } catch (error) {
    await close();
    throw asReadError(error, name);
  }
}

async function openFile(name: string): Promise<OpenedFile> {
  try {
    return { name, handle: await fs.open(name, 'r') };
  } catch (error) {
    throw asReadError(error, name);
  }
}

/** From `position`, or from where the handle is. Not a stream of the handle, which could not be closed before the stream has ended. */
async function* blocksOf(handle: FileHandle, position?: number): AsyncGenerator<Buffer> {
  for (let at = position; ; ) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(BLOCK_BYTES), 0, BLOCK_BYTES, at ?? null);
    if (bytesRead === 0) return;
    if (at !== undefined) at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Keeps a copy of input that can be read only once. The copy has no name, so that it is gone with the process, even if that is killed. */
async function spool(
  bytes: AsyncIterable<Uint8Array>,
  name: string,
  { maxBytes }: ReceiveLimits,
  { spoolDir, signal }: ReceiveOptions,
): Promise<OpenInput> {
  await makeDirectory(spoolDir);
  const file = path.join(spoolDir, `received-${randomUUID()}.csv`);
  const handle = await fs.open(file, 'wx+', 0o600);
  const close = once(() => handle.close());
  try {
    await fs.unlink(file);
    const copy = async (blocks: AsyncIterable<Uint8Array>): Promise<void> => {
      let total = 0;
      for await (const block of blocks) {
        total += block.length;
        if (total > maxBytes) throw tooLarge(name, maxBytes);
        await handle.writeFile(block); // from where the last one ended
      }
    };
    await piped(bytes, copy, { signal });
    return { name, handle, close };
  } catch (error) {
    await close();
    if (codeOf(error) !== 'ENOSPC') throw error;
    const message = `There is no space left in ${spoolDir} to keep ${name}. Free some space and load it again.`;
    throw new LockstepError('DISK_FULL', message, { cause: error });
  }
}

function once(act: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => (done ??= act());
}

async function beginsWithGzip(handle: FileHandle): Promise<boolean> {
  const { bytesRead, buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0);
  return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
}

/** Reads everything once, because the encoding and the fingerprint depend on the whole file. */
async function survey(input: Input): Promise<Facts> {
  const raw = new RawBytes(input);
  const utf8 = new Utf8Check();
  const head: Buffer[] = [];
  let unpackedBytes = 0;
  input.time.go();
  for await (const block of unpacked(raw, input)) {
    input.time.spend();
    if (unpackedBytes === 0) refuseBinary(block, input.name);
    if (unpackedBytes < SAMPLE_BYTES) head.push(block.subarray(0, SAMPLE_BYTES - unpackedBytes));
    utf8.add(block);
    unpackedBytes += block.length;
  }
  if (unpackedBytes === 0) {
    const message = `${input.name} is empty. It needs a header and at least one row.`;
    throw wrongUse(message, 'CSV_EMPTY');
  }
  const { mtimeMs: modifiedMs } = await input.handle.stat();
  const { sizeBytes, sha256 } = raw.end();
  return { sizeBytes, unpackedBytes, sha256, isUtf8: utf8.end(), sample: Buffer.concat(head), modifiedMs };
}

async function* readAgain(input: Input, facts: Facts): AsyncGenerator<Buffer> {
  try {
    const before = await input.handle.stat();
    if (before.size !== facts.sizeBytes || before.mtimeMs !== facts.modifiedMs) throw changed(input.name);
    const raw = new RawBytes(input);
    yield* unpacked(raw, input);
    const after = await input.handle.stat();
    if (raw.end().sha256 !== facts.sha256 || after.mtimeMs !== facts.modifiedMs) throw changed(input.name);
  } catch (error) {
    throw asReadError(error, input.name);
  }
}

/** The bytes before unpacking, counted and hashed while they are read. */
class RawBytes {
  readonly #hash: Hash = createHash('sha256');
  readonly #input: Input;
  #sizeBytes = 0;

  constructor(input: Input) {
    this.#input = input;
  }

  async *read(): AsyncGenerator<Buffer> {
    const { name, handle, limits, signal } = this.#input;
    for await (const block of blocksOf(handle, 0)) {
      signal?.throwIfAborted();
      this.#sizeBytes += block.length;
      if (this.#sizeBytes > limits.maxBytes) throw tooLarge(name, limits.maxBytes);
      this.#hash.update(block);
      yield block;
    }
  }

  end(): { sizeBytes: number; sha256: string } {
    return { sizeBytes: this.#sizeBytes, sha256: this.#hash.digest('hex') };
  }
}

async function* unpacked(raw: RawBytes, { name, isGzip, limits }: Input): AsyncGenerator<Buffer> {
  if (!isGzip) return yield* raw.read();
  let total = 0;
  // The pipeline passes an error of either side on to the reader below.
  const gunzip = pipeline(Readable.from(raw.read()), createGunzip({ chunkSize: BLOCK_BYTES }), () => {});
  for await (const block of gunzip as AsyncIterable<Buffer>) {
    // gunzip gives buffers
    total += block.length;
    if (total > limits.maxUnpackedBytes) throw tooLarge(`${name}, unpacked,`, limits.maxUnpackedBytes);
    yield block;
  }
}

function tooLarge(what: string, maxBytes: number): LockstepError {
  const message = `${what} has more than the ${maxBytes} bytes that are allowed. Split it into smaller files.`;
  return wrongUse(message, 'CSV_TOO_LARGE');
}

function changed(name: string): LockstepError {
  const message = `${name} changed while it was read. Wait until it is completely written, then load it again.`;
  return new LockstepError('CSV_CHANGED', message);
}

function asReadError(error: unknown, name: string): unknown {
  if (error instanceof LockstepError) return error;
  const code = codeOf(error) ?? '';
  if (code === 'ENOENT')
    return wrongUse(`There is no file ${name}. Check its name and your current directory.`, 'CSV_NOT_FOUND', error);
  if (code.startsWith('Z_')) {
    return wrongUse(
      `${name} is gzip, but broken (${messageOf(error)}). Compress it again, or load it uncompressed.`,
      'CSV_GZIP_BROKEN',
      error,
    );
  }
  if (['EACCES', 'EPERM', 'EIO', 'EISDIR', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'ENXIO'].includes(code)) {
    return wrongUse(
      `Cannot read ${name}: ${messageOf(error)}. Check the file and its permissions.`,
      'CSV_UNREADABLE',
      error,
    );
  }
  return error;
}
