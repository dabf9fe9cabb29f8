/**
 * A fingerprint of a file's text, independent of compression and encoding: without the byte order mark, and with LF as line
 * end. For an uncompressed UTF-8 file with LF it is the fingerprint of its bytes.
 */
import { createHash } from 'node:crypto';
import { wrongUse } from '../base/errors.ts';
import { decodeText, detectEncoding } from './encoding.ts';
import type { Received } from './receive.ts';

/** Blank lines count too: otherwise they could take unlimited time. */
const MAX_LINES = 20_000_000;

/**
 * SHA-256 in hex. It always uses the detected encoding, because choosing another encoding does not change the file.
 * Throws CSV_TOO_MANY_LINES, CSV_CHANGED.
 */
export async function contentSha256(received: Received, { maxLines = MAX_LINES } = {}): Promise<string> {
  const { name, time } = received;
  const hash = createHash('sha256');
  let lines = 0;
  time.go();
  for await (const text of withPlainLineEnds(decodeText(received.read(), detectEncoding(received).encoding))) {
    hash.update(text);
    lines += lineEndsIn(text);
    if (lines > maxLines) {
      const message = `${name} has more than the ${maxLines} lines that are allowed. Split it into smaller files.`;
      throw wrongUse(message, 'CSV_TOO_MANY_LINES');
    }
    time.spend();
  }
  return hash.digest('hex');
}

async function* withPlainLineEnds(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let endsInReturn = false;
  for await (const text of texts) {
    // The CR of a pair may be the last character of a block.
    const whole: string = endsInReturn ? `\r${text}` : text;
    endsInReturn = whole.endsWith('\r');
    const ready = endsInReturn ? whole.slice(0, -1) : whole;
    yield ready.includes('\r') ? ready.replace(/\r\n?/g, '\n') : ready;
  }
  if (endsInReturn) yield '\n';
}

function lineEndsIn(text: string): number {
  let count = 0;
  for (let i = 0; i < text.length; i += 1) if (text.charCodeAt(i) === 0x0a) count += 1;
  return count;
}
