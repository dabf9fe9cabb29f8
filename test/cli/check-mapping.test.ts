/** `settings check --live`, and what a dry run shows of a mapping, over the embedded service. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { seedWorkspace } from '../../src/service/testbed/seed.ts';
import { emptyDatabase } from '../support/database.ts';
import { command, databaseUrl, scratchFolders } from './command.ts';

const settings = (options: string, url = 'embedded') => `
accounts:
  demo: { url: "${url}", budget: { requests: 2000, per: 1s, settle: 2s, timeout: 2s }, apiKey: { env: DEMO_KEY } }
syncs:
  nightly: { type: contacts, account: demo, options: { ${options} } }
`;
const MAPPED =
  'where: { country: { not: US } }, map: { full_name: { template: "{{ last_name }}, {{ first_name }}" }, email: { from: email, required: true }, phone_number: { from: phone, transform: { phone: DE } }, organization: { from: industry } }';

const folder = scratchFolders();
const database = await emptyDatabase();
afterAll(() => database.close());

const KEY = 'the-key-of-the-demo-account';

async function lockstep(given: string | { text: string; key: string }, ...args: readonly string[]) {
  const { text, key } = typeof given === 'string' ? { text: given, key: KEY } : given;
  const cwd = await folder();
  await writeFile(path.join(cwd, 'lockstep.yaml'), text);
  const env = { DATABASE_URL: databaseUrl(database.connection), DEMO_KEY: key };
  return command([...args, '--config', 'lockstep.yaml'], { cwd, env });
}

test('shows each field as source and result, and each problem, of ten contacts', async () => {
  const contacts = [
    { first_name: 'Ann', last_name: 'Lee', email: 'ann@example.com', phone: '030 5550001' },
    { first_name: 'Ben', last_name: 'Óg', phone: 'ask Eve' },
    { first_name: 'Cho', country: 'US' },
  ];
  for (const contact of contacts)
    await lockstep(settings(''), 'call', 'contacts.create', '--account', 'demo', '--body', JSON.stringify(contact));
  const before = await lockstep(settings(''), 'run', 'nightly', '--json');
  expect(before.json.counts).toMatchObject({ in: 3, created: 3 });

  const checked = await lockstep(settings(MAPPED), 'settings', 'check', '--live');
  expect(checked.code).toBe(1);
  const lines = checked.stdout.split('\n').map((line) => line.trim());
  expect(lines).toEqual(
    expect.arrayContaining([
      'nightly: where selects 2 of the first 3 contacts of account demo',
      'full_name: last_name "Lee" first_name "Ann" → "Lee, Ann"',
      'phone_number: phone "030 5550001" → "+49305550001"',
      'Problem: The mapping requires email, and it is empty. The contact would not be sent. Complete the contact, or give the field a `default` in `map`, and run the sync again.',
      'Problem: phone_number: "ask Eve" is not a phone number of DE, nor one with a country code. It would be sent as it is. Correct the number of the contact.',
      'Warning: none of the contacts that were read has a value in industry',
    ]),
  );
  expect(checked.stdout).toMatch(/contact 3, .*: left out by where/);
  const { code, json } = await lockstep(
    settings('where: { last_name: { present: true } }'),
    'settings',
    'check',
    '--live',
    '--json',
  );
  expect([code, json.live[0].contacts.map(({ isSelected }: { isSelected: boolean }) => isSelected)]).toEqual([
    0,
    [true, true, false],
  ]);

  const planned = await lockstep(settings(MAPPED), 'run', 'nightly', '--dry-run');
  expect(planned.stdout).toMatch(
    /It would write:\n {2}update {2}Lee, Ann .*\n {4}full_name: "Ann Lee" → "Lee, Ann"\n {4}phone_number: "030 5550001" → "\+49305550001"\n/,
  );
  expect(planned.stdout).toContain(
    'The filter (where) leaves out 1 contact; 1 of them was imported before, and its customer stays as it is.',
  );
  expect(planned.stdout).toContain('1 × MAP_EMPTY');
});

test('reads on until where has selected ten contacts, or none is left', async () => {
  const key = 'the-key-of-a-large-account';
  await seedWorkspace(database.pool, { contacts: 240, tenants: [{ name: 'large', key }] });
  const checked = async (where: string) => {
    const { stdout, stderr } = await lockstep(
      { text: settings(`where: { ${where} }`).replaceAll('demo', 'large'), key },
      'settings',
      'check',
      '--live',
    );
    expect(stderr).toBe('');
    const [, shown, read] =
      /nightly: where selects (\S+) of the first (\d+) contacts of account large/.exec(stdout) ?? [];
    return { shown, read: Number(read), leftOut: stdout.match(/: left out by where/g)?.length };
  };
  const { shown, read, leftOut } = await checked('country: Germany');
  expect([shown, leftOut, read > 13, read < 200]).toEqual(['10', 3, true, true]);
  expect(await checked('first_name: Nemo')).toEqual({ shown: 'none', read: 240, leftOut: 3 });
});

test('checks every sync, also if the contacts of one cannot be read', async () => {
  const text = `
accounts:
  away: { url: "http://127.0.0.1:9", apiKey: k-away }
  keyless: { url: "http://127.0.0.1:9", apiKey: { env: NO_SUCH_KEY } }
  demo: { apiKey: { env: DEMO_KEY } }
syncs:
  away: { type: contacts, account: away }
  keyless: { type: contacts, account: keyless }
  nightly: { type: contacts, account: demo }
`;
  const given = { text, key: KEY };
  const { code, json } = await lockstep(given, 'settings', 'check', '--live', '--json');
  const unread = expect.stringContaining('The contacts of account "away" could not be read: ');
  expect([code, json.live]).toEqual([
    3,
    [
      { sync: 'away', account: 'away', error: { code: 'CHECK_UNREAD', message: unread } },
      { sync: 'keyless', account: 'keyless', error: { code: 'SECRET_MISSING', message: expect.any(String) } },
      expect.objectContaining({ sync: 'nightly', account: 'demo', neverSet: [] }),
    ],
  ]);
  const { stderr, stdout } = await lockstep(given, 'settings', 'check', '--live');
  expect(stderr).toContain('away: The contacts of account "away" could not be read: ');
  expect(stdout).toMatch(/nightly: \d+ contacts? of account demo/);
});
