import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { renderGaps } from '../../docs/make-gaps.ts';

test('the page of gaps matches the contract (else: npm run docs)', () => {
  const page = readFileSync(path.join(import.meta.dirname, '../../docs/gaps.md'), 'utf8');
  expect(page).toBe(renderGaps());
});
