import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { renderClient } from '../../docs/make-client.ts';

test('the page of the client matches the table of operations (else: npm run docs)', () => {
  const page = readFileSync(path.join(import.meta.dirname, '../../docs/client.md'), 'utf8');
  expect(page).toBe(renderClient());
});
