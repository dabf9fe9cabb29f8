import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { renderReasons } from '../../docs/make-reasons.ts';
import type { Reason } from '../../src/base/reasons/reason.ts';
import { REASON_AREAS } from '../../src/base/reasons/reasons.ts';

const root = path.join(import.meta.dirname, '../..');

/** Errors of commands and libraries, and names of Jira's permissions. They are never a reason in the ledger. */
const OTHER_ERRORS = new Set([
  'ACCOUNT_SUSPENDED',
  'BROWSE_PROJECTS',
  'CONSOLE_CANNOT_LISTEN',
  'CONSOLE_PORT_IN_USE',
  'CREATE_ISSUES',
  'HOOK_SECRET_UNKNOWN',
  'LINES_CORRECTED',
  'LOAD_BEING_RECEIVED',
  'LOAD_STOPPING',
  'LOAD_TAKEN_OVER',
  'REDIS_FORBIDDEN',
  'REDIS_KIND',
  'REDIS_UNREACHABLE',
  'RUN_IN_THE_WAY',
  'RUN_IS_NO_LOAD',
  'RUN_UNKNOWN',
  'SETTINGS_NAME_UNKNOWN',
  'TRANSITION_ISSUES',
  'UND_ERR_HEADERS_OVERFLOW',
]);
/** Where rows, files and deliveries get their reasons. */
const ROOMS = ['syncs', 'csv', 'mirror', 'engine'];

const codes = Object.values(REASON_AREAS).flatMap((reasons) => Object.keys(reasons));

test('the page of reasons matches the table (else: npm run docs)', () => {
  expect(readFileSync(path.join(root, 'docs/reasons.md'), 'utf8')).toBe(renderReasons());
});

test('each code is in the table once', () => {
  expect(codes.filter((code, i) => codes.indexOf(code) !== i)).toEqual([]);
});

test('every reason in the code is in the table', () => {
  const given = [...ROOMS.map((room) => `src/${room}`), 'jobs'].flatMap((room) => [
    ...sourceOf(room).matchAll(/'([A-Z]{2,}(?:_[A-Z]+)+)'|\breason(?:: | = )'([A-Z]+)'/g),
  ]);
  const known = new Set([...codes, ...OTHER_ERRORS]);
  const unknown = given.flatMap(([, code, word]) => code ?? word ?? []).filter((code) => !known.has(code));
  expect([...new Set(unknown)]).toEqual([]);
});

test('every reason in the table is used in the code', () => {
  const source = `${sourceOf('src', 'base/reasons')}${sourceOf('jobs')}`;
  const spellings = (code: string) => [`'${code}'`, `'${code.toLowerCase().replaceAll('_', '-')}'`];
  expect(codes.filter((code) => !spellings(code).some((spelling) => source.includes(spelling)))).toEqual([]);
});

const remedies = Object.values(REASON_AREAS).flatMap((reasons): [string, Reason][] => Object.entries(reasons));

test('the page of reasons has whole sentences, although it has no facts to fill in', () => {
  const unfilled = remedies.filter(([, { remedy = '' }]) => /\{/.test(remedy.replace(/`[^`]*`|\[[^\]]*\]/g, '')));
  expect(unfilled).toEqual([]);
});

test('a remedy that changes how a load treats its rows has --again, without which the same file is not loaded again', () => {
  const commands = remedies.flatMap(([code, { remedy = '' }]) =>
    (remedy.match(/`[^`]*--(existing|create-customers)[^`]*`/g) ?? []).map((command) => `${code} ${command}`),
  );
  expect(commands.length).toBeGreaterThan(3);
  expect(commands.filter((command) => !command.includes('--again'))).toEqual([]);
});

test('a remedy for a task with a wrong link replaces the link, because an import refuses such a task, and replays the dead letter', () => {
  const wrong = remedies.filter(([code]) =>
    ['ITEM_ID_INVALID', 'ITEM_MISSING', 'MOVED', 'NOT_AN_ISSUE'].includes(code),
  );
  expect(wrong.length).toBe(4);
  for (const [, { remedy = '' }] of wrong)
    expect(remedy).toMatch(/`lockstep links import FILE [^`]*--replace`.*lockstep deliveries replay/);
});

function sourceOf(folder: string, except?: string): string {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(ts|sql)$/.test(file) && (except === undefined || !file.startsWith(`${except}/`)))
    .map((file) => readFileSync(path.join(root, folder, file), 'utf8'))
    .join('\n');
}
