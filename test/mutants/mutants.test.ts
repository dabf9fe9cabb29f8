import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { MUTANTS } from './mutants.ts';

const root = path.join(import.meta.dirname, '../..');

test.each(MUTANTS)('$file has what "without $removes" removes, and its test exists', ({ file, from, test: guard }) => {
  expect(readFileSync(path.join(root, file), 'utf8').split(from)).toHaveLength(2);
  expect(existsSync(path.join(root, guard))).toBe(true);
});
