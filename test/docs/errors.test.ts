import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { MAKERS } from '../../docs/find-errors.ts';
import { found, renderErrors } from '../../docs/make-errors.ts';

const root = path.join(import.meta.dirname, '../..');
const sources = ['src', 'jobs'].flatMap((folder) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => readFileSync(path.join(root, folder, file), 'utf8')),
);

test('the page of errors lists the errors of the sources (else: npm run docs)', () => {
  expect(readFileSync(path.join(root, 'docs/errors.md'), 'utf8')).toBe(renderErrors());
});

test('every class of errors with a code is read', () => {
  const classes = sources.flatMap((text) => [...text.matchAll(/class (\w+) extends (?:LockstepError|Run\w+)\b/g)]);
  const unread = classes.map(([, name]) => name ?? '').filter((name) => !MAKERS.has(name));
  expect(unread.sort()).toEqual(['AccountSuspended', 'KeyRefused', 'ReadFailed', 'ShownApart']); // their constructors name the code
});

test('every code that is written in a call which makes an error is listed', () => {
  const call =
    /(?:new \w*(?:Error|Failed|Paused|Forbidden)|\bsuper)\(\s*'([A-Z_]+)'|\bwrongUse\([^;]*?, '([A-Z_]+)'[,)]/g;
  const written = sources.flatMap((text) => [...text.matchAll(call)].map(([, first, second]) => first ?? second));
  const listed = new Set(found.errors.map(({ code }) => code));
  expect(written.length).toBeGreaterThan(100);
  expect(written.filter((code) => !listed.has(code ?? ''))).toEqual([]);
});

/** Errors that were described, decided or kept elsewhere. */
const CODES_OF_RUN_TIME = [
  'LockstepError(problem.code)',
  'RunFailed(error.code)',
  'RunFailed(reason)',
  'wrongUse(code)',
];

test('only known functions make errors of a code that they are given (a new one: add its function to MAKERS)', () => {
  expect(found.others).toEqual(CODES_OF_RUN_TIME);
});
