/** The plan of a load, as people read it before they approve it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { planLines } from '../../src/cli/orders/plan.ts';
import { parseSettings } from '../../src/settings/parse.ts';
import { freshLedger, putRows } from '../engine/ledger/fresh-ledger.ts';
import type { FreshDatabase } from '../support/database.ts';
import { aLoad } from '../syncs/orders/load-worlds.ts';

let database: FreshDatabase;
beforeAll(async () => {
  database = await freshLedger();
});
afterAll(() => database.close());

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
  [['existing', 'invalid'], 'Of 2 rows: nothing to write; 1 existing, 1 invalid.'],
];

test.each(CASES)('the plan of %j leaves out zeros', async (kinds, line) => {
  const parsed = parseSettings({ text: 'accounts: { test: { apiKey: { env: KEY } } }', file: 'test.yaml', env: {} });
  if (parsed.status !== 'valid') throw new Error(JSON.stringify(parsed.problems));
  const load = await aLoad(database);
  const run = { ...load, checkpoint: { updates: kinds.filter((kind) => kind === 'update').length } };
  await putRows(
    database,
    run,
    kinds.map((kind, i) => ({ source_id: String(i + 2), ...ROWS[kind] })),
  );
  expect((await planLines(database.pool, run, parsed.settings))[0]).toBe(line);
});
