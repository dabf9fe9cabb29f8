/** Several lines of one order become one row. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { sumOf } from '../../src/base/amount.ts';
import { remedyFor, sentenceFor } from '../../src/base/reasons/reasons.ts';
import { checkedRows, examineSheet, type SheetChoices } from '../../src/csv/sheet.ts';
import { anError } from '../support/matchers.ts';
import { collected, loaded, received, verdicts } from './files.ts';

const HEADER = 'order_id,customer_email,amount,description,status\n';
const LINES = [
  'A,ann@x.de,10.50,Desk,paid',
  'A,ann@x.de,2.75,Lamp,',
  'A,,0.10,Desk,open',
  'B,ben@x.de,1,Mug,paid',
  '',
].join('\n');
const combined = (lines: string, combineLines: SheetChoices['combineLines'], more: SheetChoices = {}) =>
  loaded(HEADER + lines, { combineLines, ...more });

test('sum adds the amounts of neighbouring lines and joins their different descriptions', async () => {
  const { rows } = await combined(LINES, 'sum');
  expect(rows).toMatchObject([
    {
      line: 2,
      values: { order_id: 'A', amount: '13.35', description: 'Desk; Lamp', status: 'paid' },
      lines: [{ line: 2 }, { line: 3 }, { line: 4, cells: ['A', '', '0.10', 'Desk', 'open'] }],
    },
    { line: 5, values: { order_id: 'B', amount: '1' } },
  ]);
  expect(rows[1]?.lines).toBeUndefined();
});

test('first takes what the first lines have', async () => {
  const { rows } = await combined('A,,,Desk,\nA,ann@x.de,5,Lamp,paid\nA,ann@x.de,7,,\n', 'first');
  expect(rows).toMatchObject([
    { status: 'valid', values: { customer_email: 'ann@x.de', amount: '5', description: 'Desk', status: 'paid' } },
  ]);
});

test('lines with different values of one field are combined with a warning', async () => {
  const { rows } = await combined('A,ann@x.de,5,Desk,paid\nA,ann@x.de,7,Lamp,open\nA,ann@x.de,,,\n', 'first');
  const warnings = rows[0]?.status === 'valid' ? rows[0].warnings : [];
  expect(warnings.map(({ code, facts }) => sentenceFor(code, facts ?? {}))).toEqual([
    expect.stringContaining('Lines 2-4 of order A: "5, 7" are different values of amount; the first one is used.'),
    expect.stringContaining(
      'Lines 2-4 of order A: "paid, open" are different values of status; the first one is used.',
    ),
  ]);
  const summed = (await combined(LINES, 'sum')).rows[0];
  expect(summed?.status === 'valid' ? summed.warnings : []).toMatchObject([{ code: 'LINES_DIFFER', field: 'status' }]);
});

test('an empty amount below a total is refused with the advice to use the first one', async () => {
  const [row] = (await combined('A,ann@x.de,5,Desk,paid\nA,ann@x.de,,Lamp,\n', 'sum')).rows;
  const [problem] = row?.status === 'invalid' ? row.problems : [];
  expect(remedyFor(problem?.code ?? '', problem?.facts ?? {})).toContain('(`--combine-lines first`)');
});

test('none combines nothing', async () => {
  expect((await combined(LINES, 'none')).rows).toHaveLength(4);
});

test('lines that are apart, or name different customers, stay apart', async () => {
  const { rows } = await combined('A,ann@x.de,1,,\nB,ben@x.de,1,,\nA,ann@x.de,2,,\nA,ben@x.de,3,,\n', 'sum');
  expect(rows.map(({ line, lines }) => [line, lines?.length ?? 1])).toEqual([
    [2, 1],
    [3, 1],
    [4, 1],
    [5, 1],
  ]);
});

test('a line that names another customer than any line above starts another order', async () => {
  const header = 'order_id,customer_email,customer_phone,amount\n';
  const lines = ['A,ann@x.de,,1', 'A,,030 11,2', 'A,,,3', 'A,,030 22,4', 'A,ann@x.de,,5', 'A,ben@x.de,,6'];
  const { rows } = await loaded(`${header}${lines.join('\n')}\n`, { combineLines: 'sum' });
  expect(rows.map(({ line, values }) => [line, values.amount])).toEqual([
    [2, '6'],
    [5, '9'],
    [7, '6'],
  ]);
});

test('lines without an order_id are orders of their own', async () => {
  expect((await combined(',ann@x.de,1,,\n,ann@x.de,2,,\n', 'sum')).rows).toHaveLength(2);
});

test('an order is not sent with a part of its sum if a line below names no order and no customer', async () => {
  const { rows } = await combined(
    'A,ann@x.de,10,Desk,\n,,20,Lamp,\n,,30,Mug,\nB,ben@x.de,1,,\n,,,Printed by Cy,\n',
    'sum',
  );
  expect(verdicts(rows)).toEqual(['2 LINE_WITHOUT_ORDER LINE_WITHOUT_ORDER', '5 ok', '6 AMOUNT_EMPTY NO_CUSTOMER']);
  const [problem] = rows[0]?.status === 'invalid' ? rows[0].problems : [];
  expect(sentenceFor(problem?.code ?? '', problem?.facts ?? {})).toContain('Line 3 of order A: ');
  expect(verdicts((await combined('A,ann@x.de,10,,\n,,1O.5,,\n', 'sum')).rows)).toEqual(['2 LINE_WITHOUT_ORDER']);
  expect(verdicts((await combined('A,ann@x.de,10,,\nA,,20,,\nB,ben@x.de,1,,\n,,31,,\n', 'sum')).rows)).toEqual([
    ...['2 ok', '4 ok', '5 TOTALS_ROW'],
  ]);
  expect(verdicts((await combined('A,ann@x.de,10,,\n,,20,,\n', 'first')).rows)).toEqual(['2 ok', '3 NO_CUSTOMER']);
});

test.each([
  ['a quote that is not closed', '"A,ben@x.de,20,Lamp,'],
  ['a delimiter too many', 'x,A,ben@x.de,20,Lamp,paid'],
  ['the end of the line too early', ',,20'],
  ['more characters than a row may have', `A,ben@x.de,20,${'x'.repeat(300_000)},`],
])('orders are not sent with a part of their sum if a line next to them has %s', async (_, line) => {
  const { rows } = await combined(`A,ann@x.de,10,,\n${line}\nB,ben@x.de,1,,\nC,cy@x.de,2,,\n`, 'sum');
  expect(verdicts(rows)).toEqual(['2 LINE_UNREADABLE', expect.stringMatching(/^3 /), '4 LINE_UNREADABLE', '5 ok']);
  const [problem] = rows[0]?.status === 'invalid' ? rows[0].problems : [];
  expect(sentenceFor(problem?.code ?? '', problem?.facts ?? {})).toContain('Line 3 cannot be read');
  expect(remedyFor('LINE_UNREADABLE', problem?.facts ?? {})).toContain('Correct line 3');
  const first = await combined(`A,ann@x.de,10,,\n${line}\nB,ben@x.de,1,,\n`, 'first');
  expect(verdicts(first.rows)).toEqual(['2 ok', expect.stringMatching(/^3 /), '4 ok']);
});

test('a line with one cell, such as a footer, is no line of the order above', async () => {
  const { rows } = await combined('A,ann@x.de,10,,\nExported by Cy\n', 'sum');
  expect(verdicts(rows)).toEqual(['2 ok', '3 RAGGED']);
});

test.each([
  ['an amount that is not a number', 'A,ann@x.de,1,,\nA,ann@x.de,oops,,\n', 'AMOUNT_NOT_A_NUMBER', { line: 3 }],
  ['an empty amount, when they are added', 'A,ann@x.de,1,,\nA,ann@x.de,,,\n', 'AMOUNT_EMPTY', { line: 3 }],
  ['too few cells', 'A,ann@x.de,1,,\nA,ann@x.de\n', 'RAGGED', { line: 3 }],
  ['no customer in any line', 'A,,1,,\nA,,2,,\n', 'NO_CUSTOMER', { line: 2 }],
  [
    'amounts whose sum has too many digits',
    'A,ann@x.de,999999999999999,,\nA,ann@x.de,1,,\n',
    'AMOUNT_OUT_OF_BOUNDS',
    { lines: '2-3' },
  ],
  [
    'descriptions that are too long together',
    `A,ann@x.de,1,${'x'.repeat(6_000)},\nA,ann@x.de,1,${'y'.repeat(6_000)},\n`,
    'TOO_LONG',
    { lines: '2-3', length: 12_002 },
  ],
])('an order is refused whole for %s', async (_, lines, code, facts) => {
  const { rows } = await combined(lines, 'sum');
  expect(rows).toMatchObject([{ status: 'invalid', lines: [{ line: 2 }, { line: 3 }] }]);
  const [row] = rows;
  expect(row?.status === 'invalid' ? row.problems[0] : row).toMatchObject({ code, facts });
});

test.each([
  ['a total that only its first line has', 'A,ann@x.de,oops,,\nA,ann@x.de,,,\nA,,,,\n', 2],
  ['a total that each line repeats', 'A,ann@x.de,oops,,\nA,ann@x.de,oops,,\n', 2],
  ['a total below an empty one', 'A,ann@x.de,,,\nA,ann@x.de,oops,,\n', 3],
])('the problem of %s is told once, with its line and its order', async (_, lines, line) => {
  const [row] = (await combined(lines, 'first')).rows;
  const problems = row?.status === 'invalid' ? row.problems : [];
  expect(problems).toMatchObject([{ code: 'AMOUNT_NOT_A_NUMBER', facts: { line, order: 'A', cell: 'oops' } }]);
  expect(sentenceFor(problems[0]?.code ?? '', problems[0]?.facts ?? {})).toContain(
    `Line ${line}, column 3 (amount) of order A: "oops" is not a number`,
  );
});

test('lines that are too short to have an order_id are not one order', async () => {
  const text = 'customer_email,amount,order_id\nann@x.de,1,A\nben@x.de,2,B\ncut\noff\n';
  const { rows } = await loaded(text, { combineLines: 'first' });
  expect(verdicts(rows)).toEqual(['2 ok', '3 ok', '4 RAGGED', '5 RAGGED']);
});

test('a total that no line has is one problem, and so is a customer', async () => {
  expect(verdicts((await combined('A,,,,\nA,,,,\nA,,,,\n', 'first')).rows)).toEqual(['2 AMOUNT_EMPTY NO_CUSTOMER']);
});

test('needs a column for the order_id', async () => {
  const refused = loaded('customer_email,amount\nann@x.de,1\n', { combineLines: 'sum' });
  await expect(refused).rejects.toMatchObject(anError('CSV_LINES_WITHOUT_ORDER', '--map order_id=', 2));
});

test('combines lines over blocks of a large file, and never more than a thousand', async () => {
  const many = Array.from({ length: 6_000 }, (_, n) => `O-${Math.floor(n / 4)},ann@x.de,1,item ${n},`).join('\n');
  const { rows } = await combined(`${many}\n`, 'sum');
  expect([rows.length, new Set(rows.map(({ values }) => values.amount))]).toEqual([1_500, new Set(['4'])]);
  const same = await combined('A,ann@x.de,1,,\n'.repeat(2_500), 'sum');
  expect(same.rows.map(({ lines }) => lines?.length)).toEqual([1_000, 1_000, 500]);
});

test('a limit counts orders, and reading stops there', async () => {
  const file = await received(HEADER + LINES + 'C,cleo@x.de,1,,\n'.repeat(10_000));
  let blocks = 0;
  async function* read() {
    for await (const block of file.read()) {
      blocks += 1;
      yield block;
    }
  }
  const sheet = examineSheet(file, { combineLines: 'sum', limit: 2 });
  const batches = await collected(checkedRows({ ...file, read }, sheet));
  expect([verdicts(batches.flat()), blocks]).toEqual([['2 okLINES_DIFFER', '5 ok'], 1]);
  expect((await loaded(HEADER + LINES, { limit: 3 })).rows).toHaveLength(3);
});

test.each([
  [['0.1', '0.2'], '0.3'],
  [['0.05', '-0.1'], '-0.05'],
  [['5', '-5'], '0'],
  [['-1.2345', '1'], '-0.2345'],
])('the sum of %j is %s', (amounts, value) => {
  expect(sumOf(amounts)).toMatchObject({ status: 'amount', value });
});

test('sums are exact', () => {
  const small = fc.integer({ min: -99, max: 99 });
  const large = fc.integer({ min: -(10 ** 12), max: 10 ** 12 });
  const cents = fc.array(fc.oneof(small, large), { minLength: 1, maxLength: 10 });
  fc.assert(
    fc.property(cents, (units) => {
      const texts = units.map((unit) => {
        const digits = String(Math.abs(unit)).padStart(3, '0');
        const text = `${digits.slice(0, -2)}.${digits.slice(-2)}`.replace(/\.?0+$/, '');
        return unit < 0 ? `-${text}` : text;
      });
      const sum = sumOf(texts);
      const total = units.reduce((all, unit) => all + unit, 0);
      expect(sum.status === 'amount' ? Math.round(Number(sum.value) * 100) : sum).toBe(total);
    }),
  );
});

const FIRST =
  'If the first one is the amount of the whole order, let it count when you load the file (`--combine-lines first`)';
const LAST = 'If the last one is the amount of the whole order, delete its line from the file';
test.each([
  [
    'all lines of each order have the same amount',
    '1,a@x.de,Lamp,60\n1,a@x.de,Desk,60\n2,b@x.de,Desk,40\n',
    `all lines have the same amount, and the amounts are added: lines 2-3 have 60 + 60. ${FIRST}`,
  ],
  [
    'the first line of each order has their sum',
    '1,a@x.de,,"$1,060.10"\n1,a@x.de,Lamp,"$1,000.00"\n1,a@x.de,Desk,$60.10\n2,b@x.de,,$1.00\n2,,Desk,$1.00\n',
    `the first amount is the sum of the others, and the amounts are added: lines 2-4 have $1,060.10 + $1,000.00 + $60.10. ${FIRST}`,
  ],
  [
    'the last line of each order has their sum',
    '1,a@x.de,Lamp,10.10\n1,a@x.de,Desk,20\n1,a@x.de,All,30.10\n2,b@x.de,Desk,1\n2,,All,1\n',
    `the last amount is the sum of the others, and the amounts are added: lines 2-4 have 10.10 + 20 + 30.10. ${LAST}`,
  ],
  ['the lines of an order differ', '1,a@x.de,Lamp,60\n1,a@x.de,Desk,60\n2,b@x.de,A,40\n2,b@x.de,B,1\n'],
  ['no order has several lines', '1,a@x.de,Lamp,60\n2,b@x.de,Desk,40\n'],
])('a note says that added amounts may be those of whole orders if %s', async (_, rows, found?: string) => {
  const text = `Order No,Email,Product,Total\n${rows}`;
  const { overview } = await loaded(text, { combineLines: 'sum' });
  expect(overview.notes([])).toEqual(found ? [`in each order of several lines, ${found}`] : []);
  expect((await loaded(text, { combineLines: 'first' })).overview.notes([])).toEqual([]);
});
