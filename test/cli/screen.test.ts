import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { freshDatabase } from '../support/database.ts';
import { type Around, command, databaseUrl, scratchFolders } from './command.ts';

const folder = scratchFolders();
const database = await freshDatabase();
afterAll(() => database.close());

/** Escape sequences that rename the terminal, clear it, make it send an answer, and reverse the direction of text. */
const HOSTILE = 'a\u001b]0;owned\u0007\u001b[2J\u009b6n\u202efdp\u2066\rb\bc\u007f';
/** Line ends, tabs, and the prefix of a live line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for them
const OBEYED = /[\0-\x08\v-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/;

const around = async (given: Partial<Around>): Promise<Around> => ({
  cwd: await folder(),
  env: { DATABASE_URL: databaseUrl(database.connection), NO_COLOR: '1' },
  ...given,
});
const shown = (text: string) => text.replaceAll('\r\u001b[2K', '');

test.each([true, false])('a hostile name never reaches the screen unescaped (terminal: %s)', async (isTTY) => {
  const given = await around({ isTTY });
  await writeFile(path.join(given.cwd, 's.yaml'), `accounts: { acme: {} }\nsyncs: { ${JSON.stringify(HOSTILE)}: 1 }\n`);
  for (const args of [
    ['service', 'tenants', 'add', HOSTILE],
    ['service', 'tenants'],
    ['service', 'keys', '--tenant', `${HOSTILE}?`],
    ['orders', 'load', `${HOSTILE}.csv`, '--account', 'demo'],
    ['settings', 'check', '--config', 's.yaml'],
    ['settings', 'check', '--config', `${HOSTILE}.yaml`],
    [HOSTILE],
    ['call', HOSTILE, '--account', 'demo', '--verbose'],
  ]) {
    const { stdout, stderr } = await command(args, given);
    expect([args, shown(stdout + stderr)]).toEqual([args, expect.not.stringMatching(OBEYED)]);
    expect(shown(stdout + stderr)).not.toBe('');
  }
});

test('JSON holds the exact name, written with escapes', async () => {
  const { json, stdout } = await command(['service', 'tenants', 'add', `${HOSTILE} 2`, '--json'], await around({}));
  expect(json.tenant.name).toBe(`${HOSTILE} 2`);
  expect(stdout).not.toMatch(OBEYED);
});
