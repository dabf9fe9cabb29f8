import fc from 'fast-check';
import { expect, test } from 'vitest';
import { listIn } from '../../../src/client/call/decode.ts';
import { autoDialect, type Dialect, dialectSchema, idOf } from '../../../src/client/call/dialect.ts';
import type { Json } from '../../../src/client/call/json.ts';
import { BATCH_RECORDS, ListProblem, ListReader } from '../../../src/client/lists/list-stream.ts';
import { failureIn } from '../../../src/contract/envelope.ts';
import type { Kind } from '../../../src/contract/kinds.ts';

type Read =
  | { list: readonly Json[]; largestBatch: number }
  | { failing: string }
  | { problem: ListProblem['reason']; message: string };

/** Feeds `text` in chunks of `size` bytes and collects the records. */
function readAll(
  text: string | Uint8Array,
  size = 65_536,
  dialect: Dialect = autoDialect,
  kind: Kind = 'contacts',
  isPage = false,
): Read {
  const bytes = Buffer.from(text);
  const reader = new ListReader(kind, dialect, isPage);
  const list: Json[] = [];
  let largestBatch = 0;
  const drain = () => {
    for (let batch = reader.take(); batch !== undefined; batch = reader.take()) {
      largestBatch = Math.max(largestBatch, batch.length);
      list.push(...batch);
    }
  };
  try {
    for (let at = 0; at < bytes.length; at += size) {
      reader.write(bytes.subarray(at, at + size));
      drain();
    }
    const end = reader.end();
    if (end.status === 'failing') return { failing: end.message };
    drain();
    return { list, largestBatch };
  } catch (error) {
    if (!(error instanceof ListProblem)) throw error;
    return { problem: error.reason, message: error.message };
  }
}

function ids(read: Read, dialect: Dialect): readonly (string | undefined)[] {
  return 'list' in read ? read.list.map((one) => idOf(one, 'contacts', dialect)) : [];
}

const customers = (count: number) =>
  Array.from({ length: count }, (_, id) => ({
    id,
    full_name: `Zoë “Q” \\ 日本 ${id}`,
    tags: [{ id: 1 }],
    note: '],}[{"',
  }));

/** As PHP writes a list that has gaps; without elements it is an array. */
const numbered = (list: Json): Json =>
  Array.isArray(list) && list.length > 0 ? Object.fromEntries(list.map((record, n) => [2 * n, record])) : list;

/** The keys are ULIDs. */
const byId = (list: Json): Json =>
  Array.isArray(list) && list.length > 0
    ? Object.fromEntries(list.map((record, n) => [`01HXYZ0ABCDEFGHJKMNPQRST${10 + n}`, record]))
    : list;

const frames: [what: string, frame: (list: Json) => Json][] = [
  ['bare', (list) => list],
  ['between long texts', (data) => ({ before: 'ä'.repeat(3000), status: 'success', data, after: 'ö'.repeat(9000) })],
  ['under content', (content) => ({ status: 'success', content, message: 'OK' })],
  [
    'deeper',
    (items) => ({
      message: 'a "quoted" [word]',
      content: { data: { total: 3, items, näxt: null } },
      status: 'success',
    }),
  ],
  ['as an object whose keys are numbers', (list) => numbered(list)],
  ['as an object whose keys are ids', (list) => ({ customers: byId(list) })],
  [
    'as such an object, beside others',
    (list) => ({ first: { 1: { name: 'x' }, 2: [{ name: 'y' }] }, content: numbered(list), status: 'success' }),
  ],
  ['within an object whose keys are numbers', (rows) => ({ pages: { 1: { rows }, 2: { more: false } } })],
  [
    'under an unknown name',
    (kunden) => ({ tags: ['a', { b: [] }], links: [{ rel: 'x' }, 5], kunden, meta: { more: false } }),
  ],
];
test.each(frames)('reads records %s, however the chunks are cut', (_, frame) => {
  const list = customers(7);
  const text = JSON.stringify(frame(list), null, 1);
  for (const size of [1, 2, 3, 7, 64, 65_536]) expect(readAll(text, size)).toMatchObject({ list });
  expect(readAll(JSON.stringify(frame([])), 1)).toMatchObject({ list: [] });
});

test('keys are the ids of records where the settings say so, however the chunks are cut, and as when it is decoded whole', () => {
  const dialect = dialectSchema.parse({ idField: { contacts: '$key' } });
  const body = {
    status: true,
    content: { 17: { full_name: 'Ann', tags: { 5: 'x' } }, 23: { id: 9, full_name: 'Ben' } },
  };
  for (const size of [1, 2, 7, 65_536])
    expect(ids(readAll(JSON.stringify(body), size, dialect), dialect)).toEqual(['17', '23']);
  expect(listIn(body, dialect, 'contacts')?.list.map((one) => idOf(one, 'contacts', dialect))).toEqual(['17', '23']);
  expect(readAll(JSON.stringify(body))).toMatchObject({
    message: expect.stringMatching(
      /members are full_name, tags\. .*or to \$key if the list is an object whose keys are the ids\./,
    ),
  });
});

test('delivers many records in order, in batches of at most a thousand', () => {
  const list = customers(3456);
  const read = readAll(JSON.stringify({ content: list }));
  expect(read).toMatchObject({ largestBatch: BATCH_RECORDS });
  expect(read).toMatchObject({ list });
});

const failures: [what: string, text: string][] = [
  ['before the list', '{"status":"error","message":"no","content":[{"id":1}]}'],
  ['after the list', '{"content":[{"id":1}],"message":"no","status":"error"}'],
  ['without a list', '{"status":"error","content":null,"message":"no"}'],
  ['by its errors', '{"errors":[{"id":1,"message":"no"}],"content":[]}'],
];
test.each(failures)('detects a failure reported %s', (_, text) => {
  expect(readAll(text, 5)).toEqual({ failing: expect.stringContaining('no') });
});

test('reports every truncated answer instead of taking it for a shorter list', () => {
  for (const list of [customers(3), []]) {
    const text = Buffer.from(JSON.stringify({ status: 'success', content: { items: list }, message: 'ü' }));
    for (let length = 1; length < text.length; length++) {
      expect(readAll(text.subarray(0, length)), `${length}`).toMatchObject({ problem: 'unreadable' });
    }
  }
});

const broken: [text: string, problem: string][] = [
  ['', 'empty'],
  ['  \n', 'empty'],
  ['17', 'no-list'],
  ['{}', 'no-list'],
  ['{"content":null,"message":"back in an hour"}', 'no-list'],
  ['[{"name":"x"}]', 'no-list'],
  ['["a"]', 'no-list'],
  ['{"people":[{"id":1}],"owners":[{"id":2}]}', 'no-list'],
  ['<!doctype html><script>x=[{"id":1}]</script>', 'html'],
  ['  <html>', 'html'],
  ['service unavailable', 'unreadable'],
  ['[{"id":1},]', 'unreadable'],
  ['[{"id":1},,{"id":2}]', 'unreadable'],
  ['[{"id":1} {"id":2}]', 'unreadable'],
  ['[{"id":1}}', 'unreadable'],
  ['[{"id":1}} {"id":2},{"id":3}]', 'unreadable'],
  ['[{"id":1]]', 'unreadable'],
  ['[,{"id":1}]', 'unreadable'],
  ['[{"id":1}]]', 'unreadable'],
  ['[{"id":1}] x', 'unreadable'],
  ['[{"id":1}][{"id":2}]', 'unreadable'],
  ['{"content":[{"id":1}]', 'unreadable'],
  ['{"content":[{"id":1}],}', 'unreadable'],
  ["[{'id':1}]", 'unreadable'],
  ['}', 'unreadable'],
  ['{"0":{"id":1}', 'unreadable'],
  ['{"0":{"id":1}]', 'unreadable'],
  ['{"0":{"id":1},}', 'unreadable'],
  ['{"0":{"id":1},{"id":2}}', 'unreadable'],
  ['{"0":{"id":1},"1":{"id":2},"total":2}', 'unreadable'],
  ['{"0":{"name":"x"},"1":{"name":"y"}}', 'no-list'],
];
test.each(broken)('%j is %s', (text, problem) => {
  for (const size of [1, 4, 1000]) expect(readAll(text, size)).toMatchObject({ problem });
});

test('says which setting helps where the answer has no list', () => {
  expect(readAll('{"content":[{"name":"x"}]}')).toMatchObject({
    message: expect.stringContaining('dialect.listPath.contacts'),
  });
});

test.each([
  ['in a member', { columns: ['id', 'email'], data: [[1, 'ann@example.com']] }, '[1,"ann@example.com"]'],
  ['as the whole answer', [['id'], [1]], '["id"]'],
  ['as text', { content: ['ann@example.com'] }, '"ann@example.com"'],
  ['as JSON within a text', { status: 'ok', content: '[{"id":1}]' }, '"[{\\"id\\":1}]"'],
])('says that no setting makes records of rows %s', (_, answer, first) => {
  const read = readAll(JSON.stringify(answer));
  expect(read).toMatchObject({ message: expect.stringContaining(`begins with ${first}.`) });
  expect(read).toMatchObject({ message: expect.stringContaining('no setting changes that') });
  expect(read).not.toMatchObject({ message: expect.stringContaining('idField') });
});

test.each([
  ['an unknown name', { Number: 7, given_name: 'Ann' }, 'its members are Number, given_name. Set'],
  ['a fraction', { id: 7.5 }, 'its id 7.5 is not a whole number'],
  ['a null beside another name', { id: null, contact_id: 7 }, 'its id is null'],
  ['empty beside another name', { Id: ' ', uuid: 'x' }, 'its Id is empty'],
  ['a number that JSON falsifies', { id: 1e30 }, 'its id 1e+30 is too large for an exact JSON number'],
])('reports records whose id is %s with the setting that helps, however many there are', (_, record, why) => {
  for (const count of [1, 50_000]) {
    const read = readAll(JSON.stringify({ status: 'success', content: Array(count).fill(record), warnings: [] }));
    expect(read).toMatchObject({ problem: 'no-list', message: expect.stringContaining(why) });
    expect(read).toMatchObject({ message: expect.stringContaining('dialect.idField.contacts') });
  }
});

test('gives up an answer of very many lists, or of very many levels, before it takes long', () => {
  const lists = Array.from({ length: 100_000 }, (_, n) => `"l${n}":[{"id":${n}}]`).join(',');
  expect(readAll(`{${lists}}`)).toMatchObject({ problem: 'no-list', message: expect.stringContaining('lists') });
  const deep = '{"a":'.repeat(60_000);
  const empty = Array(60_000).fill('[]').join(',"a":');
  expect(readAll(`${deep}{"a":${empty}}${'}'.repeat(60_000)}`)).toMatchObject({ problem: 'no-list' });
  expect(readAll('['.repeat(3_000_000))).toMatchObject({
    problem: 'too-large',
    message: expect.stringMatching(/levels/),
  });
});

test('bytes that are not UTF-8 are unreadable, in the list and beside it', () => {
  for (const text of ['[{"id":1,"name":"Müller"}]', '{"content":[{"id":1}],"message":"Müller"}']) {
    expect(readAll(Buffer.from(text, 'latin1'))).toMatchObject({
      problem: 'unreadable',
      message: expect.stringMatching(/not UTF-8/),
    });
  }
});

test('integers too large for a float keep their digits, however the chunks are cut', () => {
  const text =
    '{"content":[{"id":9007199254740993,"note":"9007199254740995 \\" 9007199254740997"},{"id":-9007199254740993},7]}';
  for (const size of [1, 5, 1000]) {
    const read = readAll(text, size);
    expect('list' in read && read.list.map((record) => idOf(record, 'contacts', autoDialect))).toEqual([
      '9007199254740993',
      '-9007199254740993',
      undefined,
    ]);
    expect('list' in read && read.list[0]).toMatchObject({ note: '9007199254740995 " 9007199254740997' });
  }
});

test('an integer too large for a float keeps its digits wherever it is in a text', () => {
  for (let pad = 0; pad < 40; pad++) {
    const read = readAll(`[{"id":9007199254740993,"name":"${'x'.repeat(pad)}"},{"id":9007199254740995}]`);
    const ids = 'list' in read && read.list.map((record) => idOf(record, 'contacts', autoDialect));
    expect(ids).toEqual(['9007199254740993', '9007199254740995']);
  }
});

test('skips a byte order mark', () => {
  expect(readAll('\uFEFF[{"id":1}]', 1)).toMatchObject({ list: [{ id: 1 }] });
});

test('a better list after one already passed on is a conflict, not a mixture', () => {
  const text = JSON.stringify({ owners: customers(2500), content: [{ id: 'x' }] });
  expect(readAll(text)).toMatchObject({ problem: 'no-list' });
  expect(readAll(JSON.stringify({ owners: customers(25), content: [{ id: 'x' }] }))).toMatchObject({
    list: [{ id: 'x' }],
  });
  expect(readAll(JSON.stringify({ owners: customers(2500), content: [] }))).toMatchObject({ problem: 'no-list' });
});

test('follows an explicit path, with or without the envelope, even to records without ids', () => {
  const dialect = dialectSchema.parse({ listPath: { contacts: 'content.people' } });
  const body = { owners: customers(3), people: [{ name: 'x' }, 5, null] };
  expect(readAll(JSON.stringify({ content: body }), 3, dialect)).toMatchObject({ list: body.people });
  expect(readAll(JSON.stringify(body), 3, dialect)).toMatchObject({ list: body.people });
  const people = numbered([{ name: 'x' }, { name: 'y' }]);
  expect(readAll(JSON.stringify({ people }), 3, dialect)).toMatchObject({ list: [{ name: 'x' }, { name: 'y' }] });
  expect(readAll(JSON.stringify({ content: customers(3) }), 3, dialect)).toMatchObject({ problem: 'no-list' });
});

test('does not read an object with an id among other keys as a list', () => {
  const [first, second] = customers(2);
  const mixed = { '01HXYZ0ABCDEFGHJKMNPQRST10': first, owner: second };
  expect(readAll(JSON.stringify({ content: mixed }))).toMatchObject({ problem: 'unreadable' });
});

test('stops a record or a frame without end', () => {
  const reader = new ListReader('contacts', autoDialect);
  const megabyte = Buffer.alloc(1024 * 1024, 'x');
  const pour = (start: string) => {
    const each = new ListReader('contacts', autoDialect);
    each.write(Buffer.from(start));
    for (let n = 0; n < 10; n++) each.write(megabyte);
  };
  expect(() => pour('[{"id":"')).toThrow(/single record is larger/);
  expect(() => pour('{"message":"')).toThrow(/beside the list/);
  expect(() => reader.end()).toThrow(/nothing where a list was expected\. If .* create one there/);
});

const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('"', '\\', '[{', '}]', ',', '\\"'));
const name = fc.oneof(
  fc.constantFrom('content', 'data', 'items', 'contacts', 'total', 'errors', 'status', 'id', '__proto__'),
  text.filter((one) => !/^\d+$/.test(one)), // an object has either numbers or names as its keys
);
const json = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom(null, true, 0, -1.5e3),
    text,
    fc.array(fc.oneof(fc.record({ id: fc.nat(), name: text }), tie('value')), { maxLength: 4 }),
    fc.array(fc.record({ id: fc.nat(), sub: tie('value') }), { maxLength: 4 }),
    fc.dictionary(fc.nat({ max: 99 }).map(String), fc.record({ id: fc.nat(), sub: tie('value') }), { maxKeys: 4 }),
    fc.array(fc.tuple(name, tie('value')), { maxLength: 4 }).map((pairs) => Object.fromEntries(pairs)),
  ),
})).value;

test('any JSON in any chunks gives the list that the decoded answer gives', () => {
  fc.assert(
    fc.property(json, fc.integer({ min: 1, max: 200 }), fc.constantFrom(0, 2), fc.boolean(), (value, size, ...how) => {
      const [indent, isPage] = how;
      const read = readAll(JSON.stringify(value, null, indent), size, autoDialect, 'contacts', isPage);
      // Decoded again, because JSON has no -0.
      const body: Json = JSON.parse(JSON.stringify(value));
      const failing = failureIn(body);
      const list = listIn(body, autoDialect, 'contacts', { isPage })?.list;
      if ('failing' in read) expect(failing).toBeDefined();
      else if ('list' in read) expect([read.list, failing]).toEqual([list, undefined]);
      else expect(failing === undefined && list === undefined, read.message).toBe(true);
    }),
    { numRuns: 3000 },
  );
});
