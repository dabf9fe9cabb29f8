import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.join(import.meta.dirname, '../..');
const ROW_TABLES = /\bledger\.(inputs|matches|plans|again|chunks|attempts|verdicts|former_verdicts|records|rows)\b/;

test('only the ledger contains SQL on rows', () => {
  const files = ['src', 'jobs'].flatMap((room) =>
    readdirSync(path.join(root, room), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => path.join(room, file)),
  );
  const others = files.filter((file) => !file.startsWith(path.join('src', 'engine', 'ledger')));
  expect(others.length).toBeGreaterThan(300);
  expect(others.filter((file) => ROW_TABLES.test(readFileSync(path.join(root, file), 'utf8')))).toEqual([]);
});
