/** Encodings are detected from the bytes, and decoded wherever a block ends. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { decodeText, detectEncoding, type Encoding, encodeText, Utf8Check } from '../../src/csv/encoding.ts';
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

/** A name of each language in the encoding of its computers, and what it looks like as windows-1252. */
const OLD: readonly (readonly [encoding: Encoding, name: string, bytes: string, wrong: string])[] = [
  ['windows-1250', 'Michał', 'Micha\xb3', 'Micha³'],
  ['windows-1250', 'Dvořák', 'Dvo\xf8\xe1k', 'Dvoøák'],
  ['windows-1250', 'Kovačević', 'Kova\xe8evi\xe6', 'Kovaèeviæ'],
  ['windows-1250', 'Erdős', 'Erd\xf5s', 'Erdõs'],
  ['windows-1250', 'Brăila', 'Br\xe3ila', 'Brãila'],
  ['iso-8859-2', 'Wąsik', 'W\xb1sik', 'W±sik'],
  ['windows-1251', 'Иванов', '\xc8\xe2\xe0\xed\xee\xe2', 'Èâàíîâ'],
  ['windows-1255', 'דוד', '\xe3\xe5\xe3', 'ãåã'],
  ['windows-1256', 'أحمد', '\xc3\xcd\xe3\xcf', 'ÃÍãÏ'],
  ['koi8-r', 'Иванов', '\xe9\xd7\xc1\xce\xcf\xd7', 'é×ÁÎÏ×'],
  ['cp866', 'Имя', '\x88\xac\xef', 'ˆ¬ï'],
  ['windows-1253', 'Γιώργος', '\xc3\xe9\xfe\xf1\xe3\xef\xf2', 'Ãéþñãïò'],
  ['windows-1254', 'Ayşe', 'Ay\xfee', 'Ayþe'],
  ['windows-1257', 'Bērziņš', 'B\xe7rzi\xf2\xf0', 'Bçrziòð'],
  ['macintosh', 'Jürgen', 'J\x9frgen', 'JŸrgen'],
  ['cp850', 'Jürgen', 'J\x81rgen', 'J\x81rgen'],
  ['cp850', 'Größe', 'Gr\x94\xe1e', 'Gr”áe'],
];

test.each(OLD)('refuses a file in %s, and says what "%s" looks like', async (encoding, name, bytes, wrong) => {
  const file = (header: string, rows: string) => Buffer.from(`order_id,${header}\n${rows}`, 'latin1');
  const looks = (text: string) => `has texts that look wrong: as windows-1252 "${wrong}"${text}`;
  for (const one of [file('customer_name', `A-1,${bytes}\n`), file(`customer_name,${bytes}`, 'A-1,Ann,\n')]) {
    const message = await loaded(one).catch(({ code, message }) => `${code}: ${message}`);
    expect(message).toContain(looks(''));
    expect(message).toMatch(new RegExp(`^CSV_ENCODING_UNCLEAR.*, as [^"]*${encoding}[^"]* "${name}"`));
    expect(message).toMatch(
      /If (that|one of these) is right, name its encoding, as in --encoding [-a-z0-9]+; otherwise export/,
    );
  }
});

test.each([
  ['windows-1251', 'Номер,Покупатель\nЗаказ-1,Анна Петрова\nЗаказ-2,Юлия'],
  ['koi8-r', 'Номер,Покупатель\nЗаказ-1,Анна Петрова\nЗаказ-2,Юлия'],
  ['windows-1253', 'Αριθμός,Πελάτης\nΑ-1,Γιώργος Παππάς'],
  ['windows-1256', 'رقم الطلب,اسم العميل\n1,أحمد علي\n2,فاطمة حسن'],
  ['windows-1255', 'מספר הזמנה,שם לקוח\n1,דוד כהן'],
  ['windows-1250', 'Položka,Odběratel\n1,Jiří Šťastný'], // ž has the same byte in windows-1252
  ['shift_jis', '注文番号,注文者名,商品名\n1,山田 太郎,ランプ'],
  ['euc-jp', '注文番号,注文者名,商品名\n1,山田 太郎,ランプ\n2,鈴木,カップ'],
  ['big5', '訂單編號,客戶名稱\n1,陳小美'],
  ['gb18030', '序号,房屋,总价\n1,精装,100'],
  ['euc-kr', '상품주문번호,구매자명\n1,김철수'],
] as const)('offers %s first, because all words of the file are words in it', async (encoding, text) => {
  const error = await loaded(encodeText(text, encoding)).catch((error: unknown) => error);
  const { readings, message } = z
    .object({ readings: z.array(z.object({ encoding: z.string() })), message: z.string() })
    .parse(error);
  expect(readings[0]?.encoding).toBe(encoding);
  expect(message).toContain(`, as in --encoding ${encoding};`);
});

test('reads gb18030 with a byte order mark', async () => {
  const { sheet, rows } = await loaded(encodeText('\ufefforder_id,customer_name\nA-1,王小明\n', 'gb18030'));
  expect(sheet).toMatchObject({
    encoding: { encoding: 'gb18030', hasBom: true },
    columns: ['order_id', 'customer_name'],
  });
  expect(rows).toMatchObject([{ values: { customer_name: '王小明' } }]);
});

test('refuses a file whose odd words are late in it', async () => {
  const rows = Buffer.alloc(1_100_000, `A-1,Ann,${'x'.repeat(50_000)}\n`);
  const file = Buffer.concat([
    Buffer.from('order_id,customer_name,x\n'),
    rows,
    Buffer.from('A-2,Micha\xb3,', 'latin1'),
  ]);
  await expect(loaded(file)).rejects.toThrow('as windows-1252 "Micha³", as windows-1250 or iso-8859-2 "Michał"');
});

/** Texts of East Asia, with characters of which a byte is a letter, a backslash or a vertical bar of ASCII. */
const EAST_ASIAN: readonly (readonly [encoding: Encoding, name: string, bytes: string])[] = [
  ['shift_jis', '山田太郎', '\x8e\x52\x93\x63\x91\xbe\x98\x59'],
  ['shift_jis', 'ソ能 ポスト', '\x83\x5c\x94\x5c \x83\x7c\x83\x58\x83\x67'],
  ['shift_jis', 'ﾀﾅｶ 花子', '\xc0\xc5\xb6 \x89\xd4\x8e\x71'],
  ['gb18030', '张伟', '\xd5\xc5\xce\xb0'],
  ['big5', '陳大文 許功蓋', '\xb3\xaf\xa4\x6a\xa4\xe5 \xb3\x5c\xa5\x5c\xbb\x5c'],
  ['euc-kr', '김민수', '\xb1\xe8\xb9\xce\xbc\xf6'],
];

test.each(EAST_ASIAN)('offers %s for "%s", and reads and writes it if it is chosen', async (encoding, name, bytes) => {
  const file = Buffer.from(`order_id,customer_name\nA-1,${bytes}\n`, 'latin1');
  const message = await loaded(file).catch(({ code, message }) => `${code}: ${message}`);
  expect(message).toMatch(new RegExp(`^CSV_ENCODING_UNCLEAR.*, as ${encoding} "${name}"`));
  const { rows } = await loaded(file, { encoding });
  expect(rows).toMatchObject([{ status: 'valid', values: { customer_name: name } }]);
  expect(encodeText(`${name} \u{1f600}`, encoding).toString('latin1')).toContain(`${bytes} `);
});

test('a character of several bytes is read where a block ends in it', async () => {
  const text = '注文番号,数量\n山田太郎ソ,能\n';
  for (const encoding of ['shift_jis', 'gb18030'] as const) {
    const bytes = encodeText(text, encoding);
    for (let at = 0; at <= bytes.length; at += 1) {
      const blocks = [bytes.subarray(0, at), bytes.subarray(at)];
      let read = '';
      for await (const part of decodeText(ReadableStream.from(blocks), encoding)) read += part;
      expect(read).toBe(text);
    }
  }
});

/** Words of ten languages, and signs as people write them. */
const WESTERN = [
  ...['Größe Süß Weiß Österreich', "œuvre Hélène naïve Noël Citroën l'été où forêt maître août façade d’Arc"],
  ...['Ibáñez ¿Qué? Mª nº 1º 5 €', 'ção João Simões irmãs você', 'perché città più così però', 'Barça Però València'],
  ...[
    'coöperatie één',
    'Åsa Sjögren',
    'Søren Øystein Færøerne Kjær Høyre',
    'Þóra Guðrún Þórður Sigurðardóttir Æsa',
    '“Köln–Bonn” 5–10 m² 2½ © ™ … «oui»',
    'blau–weiß 10×15cm 10µF „Deluxe“-Set Lego®-Set 20°C aujourd’hui',
  ],
];

test('reads the languages of Western Europe as windows-1252, and a few odd words among them', async () => {
  const file = (names: readonly string[]) =>
    loaded(encodeText(`order_id,customer_name\n${names.map((name) => `A-1,${name}\n`).join('')}`, 'windows-1252'));
  for (const name of WESTERN) expect((await file([name])).rows).toMatchObject([{ values: { customer_name: name } }]);
  const names = [...Array.from({ length: 20 }, () => 'Hélène'), 'Doðan'];
  expect((await file(names)).rows.at(-1)).toMatchObject({ values: { customer_name: 'Doðan' } });
});

test.each(OLD)('reads %s if it is chosen, and writes it again: %s', async (encoding, name, bytes) => {
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
    'the file is not UTF-8 and is read as macintosh: line 2 (Jürg). If that is wrong, choose its encoding (`--encoding`), or export it again as UTF-8',
  );
});

test('one byte late in the file shows that it is not UTF-8', async () => {
  const bytes = Buffer.concat([
    Buffer.from('order_id,customer_name\n'),
    Buffer.from(`A-1,${'Ann '.repeat(200)}\n`.repeat(2_500)),
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
