import { expect, test } from 'vitest';
import { importLinkFile } from '../../src/operator/link-import.ts';
import { SETTINGS } from '../console/open-console.ts';
import { freshLedger } from '../engine/ledger/fresh-ledger.ts';
import { settingsOf } from '../settings/problems-in.ts';

test('links of an unknown account or target are refused before their file is opened, so that it is not left open', async () => {
  const { pool, close } = await freshLedger();
  const imported = (names: { account: string; target: string }) =>
    importLinkFile(pool, settingsOf(SETTINGS), {
      ...names,
      source: async () => Promise.reject(new Error('opened')),
      hasHeader: true,
      isReplacing: false,
      isDryRun: true,
      spoolDir: '/nonexistent',
      signal: new AbortController().signal,
    });
  const refusal = { code: 'SETTINGS_NAME_UNKNOWN' };
  await expect(imported({ account: 'other', target: 'issues' })).rejects.toMatchObject(refusal);
  await expect(imported({ account: 'acme', target: 'other' })).rejects.toMatchObject(refusal);
  await close();
});
