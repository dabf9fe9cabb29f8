import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { previewLoad } from '../../../src/syncs/orders/preview-load.ts';
import { fileOf } from '../../csv/files.ts';
import { freshLedger } from '../../engine/ledger/fresh-ledger.ts';

test('the first thousand rows of a file are checked, however they are read', async () => {
  const database = await freshLedger();
  onTestFinished(() => database.close());
  const file = await fileOf(`order_id,client_id,amount\n${'A-1,1,viel\n'.repeat(5_000)}`);
  const account = { name: 'acme', scope: 'acme', service: 'http://127.0.0.1:9' };
  const preview = await previewLoad(database.pool, file, {
    account,
    choices: {},
    signal: new AbortController().signal,
    spoolDir: path.dirname(file),
  });
  expect([preview.checked?.rows, preview.checked?.invalid.length]).toEqual([1_000, 1_000]);
});
