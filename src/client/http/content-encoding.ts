/**
 * Decompresses answers that arrive compressed although the request asks for `identity`, for example from a proxy that
 * compresses everything. The decompressed size is limited: a few bytes may expand to gigabytes.
 */
import type { Transform } from 'node:stream';
import zlib from 'node:zlib';
import { codeOf } from '../../base/errors.ts';
import { type Exchanged, type Head, StoppedError } from './exchange.ts';

type Encoding = 'gzip' | 'deflate' | 'br';

/** The encoding of a body if it is supported here; `unknown` for any other. */
export function packingOf(head: Head): Encoding | 'unknown' | undefined {
  const encoding = encodingOf(head);
  if (encoding === undefined) return undefined;
  if (encoding === 'gzip' || encoding === 'x-gzip') return 'gzip';
  return encoding === 'deflate' || encoding === 'br' ? encoding : 'unknown';
}

/** The encoding the answer declares, other than `identity`. */
export function encodingOf({ headers }: Head): string | undefined {
  const encoding = String(headers['content-encoding'] ?? '')
    .trim()
    .toLowerCase();
  return encoding === '' || encoding === 'identity' ? undefined : encoding;
}

/** Decompresses the whole answer; if that fails, the answer has no body, and the error. */
export async function unpacked(exchanged: Exchanged, maxBytes: number): Promise<Exchanged> {
  const { head, body, error } = exchanged;
  const packing = head && packingOf(head);
  if (head === undefined || packing === undefined || packing === 'unknown' || error !== undefined) return exchanged;
  const plainHead = { ...head, headers: { ...head.headers, 'content-encoding': undefined } };
  const pieces: Uint8Array[] = [];
  const take = (piece: Uint8Array) => {
    pieces.push(piece);
    return undefined;
  };
  const packed = unpacking(packing, take, maxBytes);
  try {
    await packed.write(body);
    await packed.end();
    return { ...exchanged, head: plainHead, body: Buffer.concat(pieces) };
  } catch (problem) {
    return { ...exchanged, head: plainHead, body: new Uint8Array(), error: problem };
  }
}

export interface Unpacking {
  /**
   * Resolves once there is room for more; undefined if there is room now. Rejects with the rejection of `take`, or with a
   * StoppedError.
   */
  write(chunk: Uint8Array): Promise<void> | undefined;
  /** Takes the rest. Rejects if the answer is incomplete. */
  end(): Promise<void>;
  abandon(): void;
}

/** Decompresses an answer while it arrives, in constant memory. */
export function unpacking(
  packing: Encoding,
  take: (bytes: Uint8Array) => Promise<void> | undefined,
  maxBytes: number,
): Unpacking {
  let stream: Transform | undefined;
  let taking: Promise<void> | undefined;
  let bytes = 0;

  async function takeAll(from: Transform): Promise<void> {
    try {
      for await (const piece of from) {
        bytes += piece.length;
        if (bytes > maxBytes) throw tooLarge(maxBytes);
        await take(piece);
      }
    } catch (error) {
      throw stopped(error);
    }
  }

  function begin(first: Uint8Array): Transform {
    const begun = streamFor(packing, first);
    taking = takeAll(begun);
    taking.catch(() => undefined); // the next write reports it
    return begun;
  }

  return {
    write(chunk) {
      if (chunk.length === 0) return undefined;
      stream ??= begin(chunk);
      const into = stream;
      if (into.write(chunk)) return undefined;
      return Promise.race([new Promise<void>((resolve) => into.once('drain', resolve)), taking]);
    },
    async end() {
      stream?.end();
      await taking;
    },
    abandon: () => void stream?.destroy(),
  };
}

function streamFor(packing: Encoding, first: Uint8Array): Transform {
  if (packing === 'gzip') return zlib.createGunzip();
  if (packing === 'br') return zlib.createBrotliDecompress();
  return hasZlibHeader(first) ? zlib.createInflate() : zlib.createInflateRaw();
}

/** RFC 1950; some services send "deflate" without it. */
function hasZlibHeader(body: Uint8Array): boolean {
  const [first = 0, second = 0] = body;
  return (first & 0x0f) === 8 && (body.length < 2 || (first * 256 + second) % 31 === 0);
}

function stopped(error: unknown): unknown {
  const code = codeOf(error) ?? '';
  if (!code.startsWith('Z_') && !code.startsWith('ERR_') && !code.includes('BROTLI')) return error;
  return new StoppedError('unpackable', 'a compressed body that is broken or truncated');
}

function tooLarge(maxBytes: number): StoppedError {
  return new StoppedError('too-large', `the compressed answer has more than ${maxBytes} bytes`);
}
