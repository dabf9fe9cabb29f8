/** The plan of a load, as people read it before they approve it. */
import { afterAll, expect, test } from 'vitest';
import { paint } from '../../src/cli/print/colour.ts';
import { planLines } from '../../src/cli/print/plan-lines.ts';
import { freshLedger, putRows } from '../engine/ledger/fresh-ledger.ts';
import { aLoad } from '../engine/ledger/matching/load-worlds.ts';
import { settingsOf } from '../settings/problems-in.ts';

const database = await freshLedger();
afterAll(() => database.close());

const SETTINGS = settingsOf('accounts: { test: { apiKey: { env: KEY } } }');

const ROWS = {
  create: { state: 'staged', client_id: '7' },
  update: { state: 'staged', client_id: '7' },
  missing: { state: 'staged', client_id: null, name: 'ann' },
  existing: { state: 'settled', verdict: 'existing' },
  invalid: { state: 'settled', verdict: 'invalid' },
} as const;
type Kind = keyof typeof ROWS;

const CASES: readonly (readonly [kinds: readonly Kind[], line: string])[] = [
  [['create', 'create'], 'Of 2 rows: 2 orders to create.'],
  [['create'], 'Of 1 row: 1 order to create.'],
  [['update'], 'Of 1 row: 1 order to update.'],
  [['create', 'update', 'existing'], 'Of 3 rows: 1 order to create, 1 to update; 1 existing.'],
  [['missing'], 'Of 1 row: 1 customer to create first, 1 order to create.'],
  [['existing', 'invalid'], 'Of 2 rows: nothing to write; 1 existing, 1 invalid (never sent).'],
];

test.each(CASES)('the plan of %j leaves out zeros', async (kinds, line) => {
  const load = await aLoad(database);
  const run = { ...load, checkpoint: { updates: kinds.filter((kind) => kind === 'update').length } };
  await putRows(
    database,
    run,
    kinds.map((kind, i) => ({ source_id: String(i + 2), ...ROWS[kind] })),
  );
  const lines = await planLines(database.pool, run, SETTINGS);
  expect(lines[0]).toBe(line);
  expect(lines.some((one) => one.startsWith('That takes'))).toBe(!line.includes('nothing to write'));
});

test('the plan shows the first orders with amount and customer', async () => {
  const run = await aLoad(database);
  const rows = Array.from({ length: 7 }, (_, i) => ({
    source_id: String(i + 2),
    state: 'staged',
    client_id: '7',
    email: `c${i}@example.com`,
    fields: { order_id: `O-${i}`, amount: i === 0 ? 1200.5 : 7 },
  }));
  await putRows(database, run, rows);
  const lines = (await planLines(database.pool, run, SETTINGS)).slice(2).map((line) => paint(line, false));
  expect(lines.slice(0, 3)).toEqual([
    'The first 5 orders:',
    '  ORDER   AMOUNT  CUSTOMER',
    '  O-0    1200.50  c0@example.com',
  ]);
  expect(lines.at(-1)).toBe('  … and 2 more');
});
