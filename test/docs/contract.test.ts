import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { fillTables } from '../../docs/make-contract.ts';
import { gaps } from '../../src/contract/gaps.ts';

const page = readFileSync(path.join(import.meta.dirname, '../../docs/contract.md'), 'utf8');

test('the tables of the contract match the operations and records of the code (else: npm run docs)', () => {
  expect(page).toBe(fillTables(page));
});

test('each gap is in a section of the contract', () => {
  const headings = [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading);
  expect(gaps.map((gap) => gap.where).filter((section) => !headings.includes(section))).toEqual([]);
});
