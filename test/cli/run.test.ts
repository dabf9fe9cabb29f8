import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { emptyDatabase } from '../support/database.ts';
import { anError } from '../support/matchers.ts';
import { command, databaseUrl, scratchFolders } from './command.ts';

const SETTINGS = `
accounts:
  demo: { budget: { requests: 2000, per: 1s, settle: 2s, timeout: 2s }, apiKey: { env: DEMO_KEY } }
syncs:
  nightly: { job: contacts, account: demo }
  weekly: { job: contacts, account: demo }
  files: { job: orders, account: demo, options: { folder: inbox } }
`;

const folder = scratchFolders();
let cwd: string;
const database = await emptyDatabase();
beforeEach(async () => {
  cwd = await folder();
  await writeFile(path.join(cwd, 'lockstep.yaml'), SETTINGS);
});
afterAll(() => database.close());

/** Over the embedded service. */
function lockstep(...args: readonly string[]) {
  const env = { DATABASE_URL: databaseUrl(database.connection), DEMO_KEY: 'the-key-of-the-demo-account' };
  return command([...args, '--config', 'lockstep.yaml'], { cwd, env });
}

test('calls operations of the contract by name, with parameters and a body', async () => {
  const ann = JSON.stringify({ first_name: 'Ann', email: 'ann@example.com' });
  const created = await lockstep('call', 'contacts.create', '--account', 'demo', '--body', ann, '--json');
  expect([created.code, created.json.outcome.status]).toEqual([0, 'applied']);
  const found = await lockstep('call', 'contacts.search', '--account', 'demo', '--param', 'search_term=ann');
  expect(found).toMatchObject({
    stderr: '',
    stdout: expect.stringMatching(/^contacts.search: applied \(HTTP 200\)\n\[[\s\S]*"email": "ann@example.com"/),
  });
});

test('joins an unfinished run of the same sync, and names a run of another sync that is in the way', async () => {
  const begun = await lockstep('run', 'nightly', '--detach', '--json');
  expect([begun.code, begun.json.status]).toEqual([0, 'running']);
  const other = await lockstep('run', 'weekly', '--json');
  expect([other.code, other.json.error]).toEqual([
    3,
    anError('RUN_IN_THE_WAY', `its run ${begun.json.run} is unfinished`),
  ]);
  const joined = await lockstep('run', 'nightly');
  expect(joined.stdout).toContain(`Run ${begun.json.run} of nightly is unfinished: joining it.`);
  expect([joined.code, joined.stderr]).toEqual([0, '']);
  expect(joined.stdout).toMatch(
    new RegExp(`Run ${begun.json.run} of nightly is done after .*\\n.*1 +row in all\\n.*1 +created`),
  );
});

test('a dry run beside a run that awaits approval leads to what it shows: to resume it would approve it', async () => {
  const { json } = await lockstep('run', 'nightly', '--detach', '--json');
  await database.pool.query(
    `update ledger.runs set status = 'paused', error_code = 'AWAITS_CONFIRMATION' where id = $1`,
    [json.run],
  );
  const { stdout } = await lockstep('run', 'weekly', '--dry-run');
  expect(stdout).toMatch(
    /this dry run only reads\. See what that run would write, and approve or decline it: lockstep runs show run-/,
  );
  expect(stdout).not.toContain(`runs resume ${json.run}`);
  expect((await lockstep('runs', 'cancel', json.run)).code).toBe(0);
});

test('a failed run says why once, and a run of a folder counts no calls: its loads make them', async () => {
  const { code, stdout, stderr } = await lockstep('run', 'files');
  expect([code, stdout]).toEqual([3, expect.not.stringContaining('calls')]);
  expect(stderr).toMatch(/^lockstep: The folder \S+inbox cannot be read: it does not exist\. Create it, .*\n$/);
});

test('a retry starts a new run of the same sync and leaves finished rows unchanged', async () => {
  const first = await lockstep('run', 'weekly', '--json');
  const again = await lockstep('runs', 'retry', first.json.run, '--json');
  expect(again.json).toMatchObject({ sync: 'weekly', status: 'done', counts: { in: 1, unchanged: 1 } });
  expect(again.json.run).not.toBe(first.json.run);
});

test('resumes an interrupted run where it stopped', async () => {
  const { json } = await lockstep('run', 'nightly', '--detach', '--json');
  const resumed = await lockstep('runs', 'resume', json.run, '--json');
  expect([resumed.code, resumed.json]).toEqual([0, expect.objectContaining({ run: json.run, status: 'done' })]);
});

test('names a command that can be pasted, if a person has suspended the account', async () => {
  await lockstep('accounts', 'suspend', 'demo', '--reason', 'it moves');
  const { code, stderr } = await lockstep('run', 'nightly');
  expect([code, stderr]).toEqual([
    3,
    expect.stringMatching(
      /: it moves\. Resume account demo with `lockstep accounts resume demo --config lockstep.yaml`\.\n$/,
    ),
  ]);
  for (const command of [
    ['call', 'contacts.create', '--body', '{}'],
    ['call', 'contacts.getall'],
    ['doctor', '--write-probes'],
  ]) {
    const refused = await lockstep(...command, '--account', 'demo');
    expect([refused.code, refused.stderr]).toEqual([
      3,
      expect.stringMatching(/^lockstep: Account demo is suspended.*: it moves\./),
    ]);
  }
  expect((await lockstep('accounts', '--json')).json.accounts).toMatchObject([
    { name: 'demo', suspension: { message: expect.stringContaining('it moves') } },
  ]);
  expect((await lockstep('accounts')).stdout).toMatch(/^Account demo has been suspended since .*: it moves\.$/m);
  expect((await lockstep('accounts', 'resume', 'demo')).code).toBe(0);
  expect((await lockstep('accounts', '--json')).json.accounts).toMatchObject([{ suspension: null }]);
});
