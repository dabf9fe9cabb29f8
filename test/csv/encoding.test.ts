/** Encodings are detected from the bytes, and decoded wherever a block ends. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeText, detectEncoding, encodeText, Utf8Check } from '../../src/csv/encoding.ts';
import { collected, loaded } from './files.ts';

const TEXT = 'order_id;customer_name;amount\nA-1;Zoë Müller;12,50 €\n';
const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16();
/** Encoded by hand, because Node writes no Windows-1252. */
const windows1252 = (text: string) => Buffer.from(text.replaceAll('€', '\x80'), 'latin1');

const FILES: readonly (readonly [name: string, bytes: Buffer, encoding: string, hasBom: boolean])[] = [
  ['UTF-8', Buffer.from(TEXT), 'utf-8', false],
  ['UTF-8 with a mark', Buffer.from(`\ufeff${TEXT}`), 'utf-8', true],
  ['UTF-16 LE with a mark', Buffer.from(`\ufeff${TEXT}`, 'utf16le'), 'utf-16le', true],
  ['UTF-16 BE with a mark', utf16be(`\ufeff${TEXT}`), 'utf-16be', true],
  ['UTF-16 LE without', Buffer.from(TEXT, 'utf16le'), 'utf-16le', false],
  ['UTF-16 BE without', utf16be(TEXT), 'utf-16be', false],
  ['Windows-1252', windows1252(TEXT), 'windows-1252', false],
];

test.each(FILES)('detects and reads %s', async (_, bytes, encoding, hasBom) => {
  const { sheet, rows } = await loaded(bytes);
  expect(sheet.encoding).toMatchObject({ encoding, hasBom });
  expect(sheet.columns[0]).toBe('order_id');
  expect(rows).toMatchObject([{ status: 'valid', values: { customer_name: 'Zoë Müller', amount: '12.5' } }]);
});

/** `ł`, `ş` and `ü` in the encodings of Polish and Turkish Windows and of an old Mac. */
const OLD: readonly (readonly [
  encoding: 'windows-1250' | 'windows-1254' | 'macintosh',
  name: string,
  bytes: string,
])[] = [
  ['windows-1250', 'Michał Żak', 'Micha\xb3 \xafak'],
  ['windows-1254', 'Ayşe Ağa', 'Ay\xfee A\xf0a'],
  ['macintosh', 'Jürgen Müller', 'J\x9frgen M\x9fller'],
];

test.each(OLD)('reads %s if it is chosen, and writes it again', async (encoding, name, bytes) => {
  const { rows, overview } = await loaded(Buffer.from(`order_id,customer_name\nA-1,${bytes}\n`, 'latin1'), {
    encoding,
  });
  expect(rows).toMatchObject([{ status: 'valid', values: { customer_name: name } }]);
  expect(overview.notes([]).join()).not.toContain('is not UTF-8');
  expect(encodeText(`${name} 漢`, encoding).toString('latin1')).toBe(`${bytes} ?`);
});

test('lines that end as on an old Mac show its encoding, which stays a guess', async () => {
  const { sheet, rows, overview } = await loaded(Buffer.from('order_id;customer_name\rA-1;J\x9frg\r', 'latin1'));
  expect(sheet).toMatchObject({ encoding: { encoding: 'macintosh' }, format: { lineEnd: 'CR' } });
  expect(rows).toMatchObject([{ values: { customer_name: 'Jürg' } }]);
  expect(overview.notes([])[0]).toBe(
    'the file is not UTF-8 and is read as macintosh: line 2 (Jürg). If that is wrong, choose its encoding (--encoding), or export it again as UTF-8',
  );
});

test('one byte late in the file shows that it is not UTF-8', async () => {
  const bytes = Buffer.concat([
    Buffer.from('order_id,customer_name\n'),
    Buffer.alloc(2_000_000, 'A-1,Ann\n'),
    windows1252('A-2,Zoë\n'),
  ]);
  const { sheet, rows } = await loaded(bytes);
  expect(sheet.encoding.encoding).toBe('windows-1252');
  expect(rows.at(-1)).toMatchObject({ values: { customer_name: 'Zoë' } });
});

test('a chosen encoding wins, and a row it cannot read is reported', async () => {
  const { sheet, rows } = await loaded(windows1252('order_id,customer_name\nA-1,Zoë\n'), { encoding: 'utf-8' });
  expect(sheet.encoding).toMatchObject({ encoding: 'utf-8', why: 'as chosen' });
  expect(rows).toMatchObject([
    { status: 'invalid', problems: [{ code: 'UNREADABLE_CHARACTER', facts: { line: 2, columnNumber: 2 } }] },
  ]);
});

test('a stray byte in a UTF-8 file costs its row and garbles no other', async () => {
  const stray = windows1252('A-2,Jörg\n');
  const file = Buffer.concat([Buffer.from('order_id,customer_name\nA-1,Zoë\n'), stray, Buffer.from('A-3,Ann\n')]);
  const { sheet, rows } = await loaded(file);
  expect(sheet.encoding).toMatchObject({ encoding: 'utf-8', why: 'most of it is valid UTF-8, but not all' });
  expect(rows.map(({ status }) => status)).toEqual(['valid', 'invalid', 'valid']);
  expect(rows[0]?.values.customer_name).toBe('Zoë');
});

test('a stray byte in a description costs its row, with its line and column', async () => {
  const stray = windows1252('A-2,8,Café\n');
  const file = Buffer.concat([Buffer.from('order_id,client_id,description\nA-1,7,Zoë\n'), stray]);
  const { rows } = await loaded(file);
  expect(rows).toMatchObject([
    { status: 'valid', values: { description: 'Zoë' } },
    { status: 'invalid', problems: [{ code: 'UNREADABLE_CHARACTER', facts: { line: 3, columnNumber: 3 } }] },
  ]);
});

test('a description keeps its order where the file itself has lost one of its letters', async () => {
  const { rows } = await loaded('order_id,client_id,description\nA-1,7,caf\ufffd\n');
  expect(rows).toMatchObject([{ status: 'valid', warnings: [{ code: 'UNREADABLE_CHARACTER' }] }]);
});

test('text is the same however its bytes are cut into blocks', async () => {
  const cut = fc.tuple(fc.constantFrom(...FILES), fc.array(fc.integer({ min: 0, max: 200 }), { maxLength: 6 }));
  await fc.assert(
    fc.asyncProperty(cut, async ([[, bytes, encoding], ends]) => {
      const at = [...ends.map((end) => Math.min(end, bytes.length)).sort((a, b) => a - b), bytes.length];
      const blocks = at.map((end, i) => bytes.subarray(at[i - 1] ?? 0, end));
      const check = new Utf8Check();
      for (const block of blocks) check.add(block);
      const isUtf8 = check.end();
      const found = detectEncoding({ sample: bytes, isUtf8 }).encoding;
      expect(found).toBe(encoding);
      const text = await collected(
        decodeText(
          (async function* () {
            yield* blocks;
          })(),
          found,
        ),
      );
      expect(text.join('')).toBe(TEXT);
    }),
    { numRuns: 200 },
  );
});
