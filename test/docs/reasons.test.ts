import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { renderReasons } from '../../docs/make-reasons.ts';
import { REASON_AREAS } from '../../src/reasons/reasons.ts';

const root = path.join(import.meta.dirname, '../..');

/** Errors of commands and libraries, which are not the reason of anything in the ledger. */
const OTHER_ERRORS = new Set([
  'LOAD_BEING_RECEIVED',
  'LOAD_STOPPING',
  'LOAD_TAKEN_OVER',
  'REDIS_UNREACHABLE',
  'RUN_IN_THE_WAY',
  'RUN_IS_NO_LOAD',
  'RUN_UNKNOWN',
  'UND_ERR_HEADERS_OVERFLOW',
]);
/** Where rows, files and deliveries get their reasons. */
const ROOMS = ['orders', 'contacts', 'customers', 'csv', 'deliveries', 'reports', 'links', 'engine', 'tasks', 'worker'];

const codes = Object.values(REASON_AREAS).flatMap((reasons) => Object.keys(reasons));

test('the page of reasons says what the table says (else: npm run docs)', () => {
  expect(readFileSync(path.join(root, 'docs/reasons.md'), 'utf8')).toBe(renderReasons());
});

test('a code is in the table once', () => {
  expect(codes.filter((code, i) => codes.indexOf(code) !== i)).toEqual([]);
});

test('every reason that is given is in the table', () => {
  const given = [...ROOMS.map((room) => `src/${room}`), 'src/targets', 'jobs'].flatMap((room) => [
    ...sourceOf(room).matchAll(/'([A-Z]{2,}(?:_[A-Z]+)+)'|\breason(?:: | = )'([A-Z]+)'/g),
  ]);
  const known = new Set([...codes, ...OTHER_ERRORS]);
  const unknown = given.flatMap(([, code, word]) => code ?? word ?? []).filter((code) => !known.has(code));
  expect([...new Set(unknown)]).toEqual([]);
});

test('every reason of the table is given somewhere', () => {
  const source = `${sourceOf('src', 'reasons')}${sourceOf('jobs')}`;
  const spellings = (code: string) => [`'${code}'`, `'${code.toLowerCase().replaceAll('_', '-')}'`];
  expect(codes.filter((code) => !spellings(code).some((spelling) => source.includes(spelling)))).toEqual([]);
});

function sourceOf(folder: string, except?: string): string {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(ts|sql)$/.test(file) && (except === undefined || !file.startsWith(`${except}/`)))
    .map((file) => readFileSync(path.join(root, folder, file), 'utf8'))
    .join('\n');
}
