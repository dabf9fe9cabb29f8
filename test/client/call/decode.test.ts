import { expect, test } from 'vitest';
import { listIn, recordIn, unwrap } from '../../../src/client/call/decode.ts';
import { autoDialect, dialectSchema } from '../../../src/client/call/dialect.ts';
import type { Json } from '../../../src/client/call/json.ts';

const rows = [{ id: 1 }, { id: 2 }];
const others = [{ id: 'x' }];

const found: [what: string, body: Json, list: Json][] = [
  ['bare', rows, rows],
  ['bare and empty', [], []],
  ['under content', { status: 'success', content: rows, message: '' }, rows],
  ['deeper under known names', { content: { data: { items: rows, total: 2 } } }, rows],
  ['under an unknown name', { status: 'ok', kontakte: rows }, rows],
  ['deeper under an unknown name', { page: { 0: { kontakte: rows } } }, rows],
  ['as an object whose keys are numbers', { status: 'success', content: { 0: { id: 1 }, 2: { id: 2 } } }, rows],
  ['with ids under another name', { content: [{ contact_id: '7' }] }, [{ contact_id: '7' }]],
  ['empty under content', { status: 'success', content: [] }, []],
  ['empty under an unknown name', { kontakte: [] }, []],
  ['beside lists of something else', { tags: ['a'], links: [{ rel: 'next' }], kontakte: rows }, rows],
  ['beside another full list, by a known name', { owners: others, content: rows }, rows],
  ['empty by a known name beside another full list', { owners: others, content: [] }, []],
  ['full beside an empty one by a known name', { data: rows, items: [] }, rows],
  ['by the kind’s own name first', { data: others, contacts: rows }, rows],
  ['by the kind’s own name even deeper', { data: others, page: { contacts: rows } }, rows],
  ['nearer the top', { data: rows, extra: { items: others } }, rows],
  ['by the order of the known names', { rows: others, items: rows }, rows],
  ['empty by the kind’s own name beside a known name without ids', { contacts: [], rows: [{ name: 'x' }] }, []],
  ['empty by a known name beside an unknown one without ids', { links: [{ rel: 'next' }], data: [] }, []],
  ['beside errors that carry ids', { errors: others, kontakte: rows }, rows],
];
const none: [what: string, body: Json][] = [
  ['null', null],
  ['null as content', { content: null }],
  ['null as content, with words', { status: 'success', content: null, message: 'no contacts yet' }],
  ['null deeper', { data: { contacts: null, total: 0, page: 1 } }],
  ['null under an unknown name', { ok: 1, kontakte: null }],
  ['a blank text beside a status of 1', { status: '1', content: '', message: '' }],
  ['left out of a success', { status: 'success', message: 'OK' }],
  ['left out, with what counts nothing', { success: true, content: { total: 0, pages: 1, next: null } }],
];
test.each(none)('a list is empty that is %s', (_, body) => {
  expect(listIn(body, autoDialect, 'contacts')?.list).toEqual([]);
});
test('a list is empty whose envelope holds a blank text', () => {
  expect(listIn('', autoDialect, 'contacts', { of: 'content' })?.list).toEqual([]);
  expect(listIn('', autoDialect, 'contacts')).toBeUndefined();
});
test.each(found)('a list is found %s', (_, body, list) => {
  expect(listIn(body, autoDialect, 'contacts')?.list).toEqual(list);
});

const missing: [what: string, body: unknown][] = [
  ['in no body', undefined],
  ['in a record', { id: 7, name: 'x' }],
  ['in an apology', { content: null, message: 'back in an hour' }],
  ['in content that is text', { status: 'success', content: 'no rows' }],
  ['in counts of something', { status: 'success', content: null, total: 3 }],
  ['in numbered objects without ids', { status: 'success', content: { 7: { name: 'x' } } }],
  ['in objects with numbers and names as keys', { content: { 7: { id: 7 }, total: { id: 1 } } }],
  ['in one record in place of a list', { status: 'success', content: { id: 7 } }],
  ['in rows of cells', { status: 'success', content: [[7, 'x']] }],
  ['under an unknown name where a known name holds null', { kontakte: rows, items: null }],
  ['in an answer without anything', {}],
  ['among records without ids', { content: [{ name: 'x' }] }],
  ['in an empty list beside records without ids', { content: [{ name: 'x' }], tags: [] }],
  ['in an empty list by a known name beside records without ids', { contacts: [{ name: 'x' }], data: [] }],
  ['in something else’s list beside records without ids', { items: [{ name: 'x' }], owners: others }],
  ['between two full lists with an equal claim', { people: rows, owners: others }],
  ['between two of the same name and depth', { a: { items: rows }, b: { items: others } }],
  ['in an array of arrays', [rows]],
  ['only in errors', { errors: others }],
  ['eight objects deep', { a: { b: { c: { d: { e: { f: { g: rows } } } } } } }],
];
test('a page past the end has no list, and counts the records of the whole list', () => {
  const bodies: Json[] = [
    { items: null, total: 3 },
    { success: true, content: { page: 9, totalCount: 3 } },
    { data: { rows: null, meta: { total_items: 3 } } },
  ];
  for (const body of bodies) {
    expect(listIn(body, autoDialect, 'contacts', { isPage: true })?.list).toEqual([]);
    expect(listIn(body, autoDialect, 'contacts')).toBeUndefined();
  }
  expect(listIn({ items: null, unread_records: 3 }, autoDialect, 'contacts', { isPage: true })).toBeUndefined();
});

test.each(missing)('no list is found %s', (_, body) => {
  expect(listIn(body, autoDialect, 'contacts')?.list).toBeUndefined();
});

test('follows an explicit path, with the envelope on or off, and takes no other list', () => {
  const dialect = dialectSchema.parse({ listPath: { contacts: 'content.people' } });
  const nameless = [{ text: 'x' }];
  expect(listIn({ content: { people: nameless, owners: others } }, dialect, 'contacts')?.list).toEqual(nameless);
  expect(listIn({ people: nameless, owners: others }, dialect, 'contacts')?.list).toEqual(nameless);
  expect(listIn({ content: rows }, dialect, 'contacts')?.list).toBeUndefined();
  expect(listIn(rows, dialectSchema.parse({ listPath: { contacts: '$' } }), 'contacts')?.list).toEqual(rows);
});

const records: [what: string, body: unknown, record: unknown][] = [
  ['bare', { id: 7, tags: [{ id: 1 }] }, { id: 7, tags: [{ id: 1 }] }],
  ['in an envelope', { status: 'success', content: { id: 7 } }, { id: 7 }],
  ['deeper', { data: { contact: { contact_id: '7' } } }, { contact_id: '7' }],
  ['as a list’s only element', { content: [{ id: 7 }] }, { id: 7 }],
  ['not among several', { content: rows }, undefined],
  ['not in null', null, undefined],
];
test.each(records)('a record is found %s', (_, body, record) => {
  expect(recordIn(body, autoDialect, 'contacts')).toEqual(record);
});

const wrapped: [body: Json, content: Json][] = [
  [{ status: 'success', content: { a: 1 }, message: '' }, { a: 1 }],
  [{ content: 5 }, 5],
  [{ success: true, data: [] }, []],
  [{ code: 200, result: 'x' }, 'x'],
  [{ status: 'success', content: null, data: 1 }, null],
  [
    { id: 7, content: 'text', status: 'open' },
    { id: 7, content: 'text', status: 'open' },
  ],
  [
    { data: [], total: 0 },
    { data: [], total: 0 },
  ],
  [{ a: 1 }, { a: 1 }],
  [[1], [1]],
  ['x', 'x'],
];
test.each(wrapped)('%j holds %j', (body, content) => {
  expect(unwrap(body)).toEqual(content);
});
