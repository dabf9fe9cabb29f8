/**
 * Takes in a CSV once, from a file or from stdin, plain or gzip: how long it is, its fingerprint, and whether it is text.
 *
 * Everything is streamed under caps, before and after unpacking, so a small archive that unpacks without end stops at a
 * cap. What can be read only once (stdin, a pipe) is kept in a private file until `close`, because a load reads its file
 * more than once; every later read fails with CSV_CHANGED when it met other bytes than the first.
 */
import { createHash, type Hash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { pipeline as piped } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { codeOf, LockstepError, messageOf } from '../errors.ts';
import { makeDirectory } from '../make-directory.ts';
import { refuseBinary } from './binary.ts';
import { Utf8Check } from './encoding.ts';

const MIB = 1024 * 1024;
const BLOCK_BYTES = 64 * 1024;
/** What delimiter, header and number forms are told by. The encoding is told by the whole file. */
const SAMPLE_BYTES = MIB;

export interface ReceiveLimits {
  /** Of the file as it lies there; default 2 GiB. */
  readonly maxBytes: number;
  /** After unpacking gzip; default 4 GiB. */
  readonly maxUnpackedBytes: number;
}

export interface ReceiveOptions {
  /** Where what comes from stdin or a pipe is kept until `close`. */
  readonly spoolDir: string;
  readonly limits?: Partial<ReceiveLimits>;
  readonly stdin?: AsyncIterable<Uint8Array>;
  readonly signal?: AbortSignal;
}

export interface Received {
  /** As the user named it; `stdin` for `-`. */
  readonly name: string;
  /** Where its bytes lie: the file itself, or the private copy of what came from stdin. */
  readonly path: string;
  readonly sizeBytes: number;
  readonly unpackedBytes: number;
  /** Hex, of the bytes as received (before unpacking). */
  readonly sha256: string;
  readonly isGzip: boolean;
  readonly isUtf8: boolean;
  /** The first MiB, unpacked. */
  readonly sample: Buffer;
  /** Reads it once more, unpacked. Throws CSV_CHANGED at the end if these were not the bytes received. */
  read(): AsyncGenerator<Buffer>;
  /** Removes the private copy, if there is one. */
  close(): Promise<void>;
}

/** Throws CSV_NOT_FOUND, CSV_IS_DIRECTORY, CSV_UNREADABLE, CSV_EMPTY, CSV_BINARY, CSV_TOO_LARGE or CSV_GZIP_BROKEN. */
export async function receive(source: string, options: ReceiveOptions): Promise<Received> {
  const limits = { maxBytes: 2048 * MIB, maxUnpackedBytes: 4096 * MIB, ...options.limits };
  const place = await locate(source, limits, options);
  try {
    const input: Input = { ...place, limits, signal: options.signal, isGzip: await beginsWithGzip(place.path) };
    const facts = await survey(input);
    return { ...place, ...facts, isGzip: input.isGzip, read: () => readAgain(input, facts) };
  } catch (error) {
    await place.close();
    throw asReadError(error, place.name);
  }
}

interface Place {
  readonly name: string;
  readonly path: string;
  close(): Promise<void>;
}

interface Input {
  readonly name: string;
  readonly path: string;
  readonly isGzip: boolean;
  readonly limits: ReceiveLimits;
  readonly signal: AbortSignal | undefined;
}

interface Facts {
  readonly sizeBytes: number;
  readonly unpackedBytes: number;
  readonly sha256: string;
  readonly isUtf8: boolean;
  readonly sample: Buffer;
  readonly modifiedMs: number;
}

async function locate(source: string, limits: ReceiveLimits, options: ReceiveOptions): Promise<Place> {
  if (source === '-') return spool(options.stdin ?? process.stdin, 'stdin', limits, options);
  try {
    const stat = await fs.stat(source);
    if (stat.isDirectory()) {
      throw new LockstepError('CSV_IS_DIRECTORY', `${source} is a directory. Name one CSV file.`, { exitCode: 2 });
    }
    // A pipe, as of bash's <(…), can be read once only.
    if (!stat.isFile()) return await spool(createReadStream(source), source, limits, options);
    if (stat.size > limits.maxBytes) throw tooLarge(source, limits.maxBytes);
    return { name: source, path: source, close: async () => {} };
  } catch (error) {
    throw asReadError(error, source);
  }
}

/** Keeps a copy of what can be read only once. */
async function spool(
  bytes: AsyncIterable<Uint8Array>,
  name: string,
  { maxBytes }: ReceiveLimits,
  { spoolDir, signal }: ReceiveOptions,
): Promise<Place> {
  await makeDirectory(spoolDir);
  const file = path.join(spoolDir, `received-${randomUUID()}.csv`);
  const close = () => fs.rm(file, { force: true });
  async function* capped(): AsyncGenerator<Uint8Array> {
    let total = 0;
    for await (const block of bytes) {
      total += block.length;
      if (total > maxBytes) throw tooLarge(name, maxBytes);
      yield block;
    }
  }
  try {
    await piped(capped, createWriteStream(file, { mode: 0o600 }), signal === undefined ? {} : { signal });
    return { name, path: file, close };
  } catch (error) {
    await close();
    if (codeOf(error) !== 'ENOSPC') throw error;
    const message = `There is no space left in ${spoolDir} to keep ${name}. Free some space and load it again.`;
    throw new LockstepError('DISK_FULL', message, { cause: error });
  }
}

async function beginsWithGzip(file: string): Promise<boolean> {
  const handle = await fs.open(file, 'r');
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
  } finally {
    await handle.close();
  }
}

/** Reads everything once: the encoding and the fingerprint cannot be told from less. */
async function survey(input: Input): Promise<Facts> {
  const raw = new RawBytes(input);
  const utf8 = new Utf8Check();
  const head: Buffer[] = [];
  let unpackedBytes = 0;
  for await (const block of unpacked(raw, input)) {
    if (unpackedBytes === 0) refuseBinary(block, input.name);
    if (unpackedBytes < SAMPLE_BYTES) head.push(block.subarray(0, SAMPLE_BYTES - unpackedBytes));
    utf8.add(block);
    unpackedBytes += block.length;
  }
  if (unpackedBytes === 0) {
    const message = `${input.name} is empty. It needs a line of headers and at least one row.`;
    throw new LockstepError('CSV_EMPTY', message, { exitCode: 2 });
  }
  const { mtimeMs: modifiedMs } = await fs.stat(input.path);
  const { sizeBytes, sha256 } = raw.end();
  return { sizeBytes, unpackedBytes, sha256, isUtf8: utf8.end(), sample: Buffer.concat(head), modifiedMs };
}

async function* readAgain(input: Input, facts: Facts): AsyncGenerator<Buffer> {
  try {
    const before = await fs.stat(input.path);
    if (before.size !== facts.sizeBytes || before.mtimeMs !== facts.modifiedMs) throw changed(input.name);
    const raw = new RawBytes(input);
    yield* unpacked(raw, input);
    const after = await fs.stat(input.path);
    if (raw.end().sha256 !== facts.sha256 || after.mtimeMs !== facts.modifiedMs) throw changed(input.name);
  } catch (error) {
    throw asReadError(error, input.name);
  }
}

/** The bytes as they lie there, counted and hashed on the way. */
class RawBytes {
  readonly #hash: Hash = createHash('sha256');
  readonly #input: Input;
  #sizeBytes = 0;

  constructor(input: Input) {
    this.#input = input;
  }

  async *read(): AsyncGenerator<Buffer> {
    const { name, path: file, limits, signal } = this.#input;
    const from = createReadStream(file, { highWaterMark: BLOCK_BYTES, ...(signal && { signal }) });
    for await (const block of from as AsyncIterable<Buffer>) {
      // no encoding is set: a stream of buffers
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
  // The pipeline carries an error of either side to the reader below.
  const gunzip = pipeline(Readable.from(raw.read()), createGunzip({ chunkSize: BLOCK_BYTES }), () => {});
  for await (const block of gunzip as AsyncIterable<Buffer>) {
    // gunzip gives buffers
    total += block.length;
    if (total > limits.maxUnpackedBytes) throw tooLarge(`${name}, unpacked,`, limits.maxUnpackedBytes);
    yield block;
  }
}

function tooLarge(what: string, maxBytes: number): LockstepError {
  const message = `${what} has more than ${maxBytes} bytes, the most that is taken. Split it into smaller files.`;
  return new LockstepError('CSV_TOO_LARGE', message, { exitCode: 2 });
}

function changed(name: string): LockstepError {
  const message = `${name} changed while it was read. Wait until whatever writes it has finished, then load it again.`;
  return new LockstepError('CSV_CHANGED', message);
}

function asReadError(error: unknown, name: string): unknown {
  if (error instanceof LockstepError) return error;
  const code = codeOf(error) ?? '';
  const refuse = (ours: string, message: string) => new LockstepError(ours, message, { cause: error, exitCode: 2 });
  if (code === 'ENOENT') return refuse('CSV_NOT_FOUND', `There is no file ${name}. Check its name and where you are.`);
  if (code.startsWith('Z_')) {
    return refuse(
      'CSV_GZIP_BROKEN',
      `${name} is gzip, but broken (${messageOf(error)}). Pack it anew or send it plain.`,
    );
  }
  if (['EACCES', 'EPERM', 'EIO', 'EISDIR', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'].includes(code)) {
    return refuse('CSV_UNREADABLE', `Cannot read ${name}: ${messageOf(error)}. Check the file and its permissions.`);
  }
  return error;
}
