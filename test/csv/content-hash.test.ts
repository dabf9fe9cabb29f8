/** The fingerprint of a file's content, independent of its blocks. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { contentSha256 } from '../../src/csv/content-hash.ts';
import { received } from './files.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
/** Its blocks of 64 KiB end between the two characters of a line end, and within a letter. */
const LINES = `${'x'.repeat(65_535)}\n${'é\n'.repeat(50_000)}\n\nend`;

test('all line ends count as one, also across blocks, and a plain file has the fingerprint of its bytes', async () => {
  const forms = [LINES, LINES.replaceAll('\n', '\r\n'), LINES.replaceAll('\n', '\r'), `\ufeff${LINES}`];
  for (const form of forms) expect(await contentSha256(await received(form))).toBe(sha256(LINES));
  expect(await contentSha256(await received(`${LINES}\r`))).toBe(sha256(`${LINES}\n`));
});

test('counts lines, blank ones too, and refuses too many', async () => {
  const file = await received(`a\n${'\n'.repeat(99)}`);
  await expect(contentSha256(file, { maxLines: 99 })).rejects.toMatchObject({
    code: 'CSV_TOO_MANY_LINES',
    exitCode: 2,
  });
  await expect(contentSha256(file, { maxLines: 100 })).resolves.toHaveLength(64);
});
