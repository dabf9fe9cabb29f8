/** `lockstep activity`. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { keepAction } from '../../src/engine/ledger/console/console-actions.ts';
import { freshLedger } from '../engine/ledger/fresh-ledger.ts';
import { command, databaseUrl, scratchFolders } from './command.ts';

const folder = scratchFolders();
const database = await freshLedger();
afterAll(() => database.close());

async function activity(...args: readonly string[]) {
  const cwd = await folder();
  await writeFile(path.join(cwd, 's.yaml'), 'accounts: { a: {} }\n');
  const env = { DATABASE_URL: databaseUrl(database.connection) };
  return command(['activity', ...args, '--config', 's.yaml'], { cwd, env });
}

test('lists what people did, the newest first, with who and what was refused', async () => {
  expect((await activity()).stdout).toContain('No one has done anything');
  const done = { who: 'ann', via: 'page', action: 'run-sync', about: 'nightly', refused: undefined } as const;
  await keepAction(database.pool, done);
  await keepAction(database.pool, { ...done, via: 'api', about: 'hourly', refused: 'SYNC_BUSY' });
  const { code, stdout } = await activity();
  expect(code).toBe(0);
  expect(stdout).toMatch(/ann +API +run-sync +hourly +refused: SYNC_BUSY\n.* ann +console +run-sync +nightly +done/);
  const { json } = await activity('--about', 'nightly', '--limit', '1', '--json');
  expect(json.actions).toMatchObject([{ who: 'ann', about: 'nightly', refused: null }]);
});
