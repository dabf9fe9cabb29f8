import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { keepLearnt, readLearnt } from '../../src/engine/ledger/scopes/learnt.ts';
import { lastExamination } from '../../src/operator/examination.ts';
import { seedWorkspace } from '../../src/service/testbed/seed.ts';
import { freshDatabase } from '../support/database.ts';
import { startHttpServer } from '../support/http-server.ts';
import { command, databaseUrl, scratchFolders } from './command.ts';

const DEMO_KEY = 'the-key-of-the-demo-account';
const SETTINGS = `# Written by a person.
accounts:
  demo: # The embedded one.
    apiKey: { env: DEMO_KEY }   # three blanks
    dialect: auto # found out
    budget: { requests: 100, per: 1s }
`;

const folder = scratchFolders();
let cwd: string;
const database = await freshDatabase();
await seedWorkspace(database.pool, { contacts: 330, tenants: [{ name: 'demo', key: DEMO_KEY }] });
beforeEach(async () => {
  cwd = await folder();
  await writeFile(path.join(cwd, 'lockstep.yaml'), SETTINGS);
});
afterAll(() => database.close());

function doctor(...args: readonly string[]) {
  const env = { DATABASE_URL: databaseUrl(database.connection), DEMO_KEY };
  return command(['doctor', '--account', 'demo', ...args, '--config', 'lockstep.yaml'], { cwd, env });
}

async function settingsNow(): Promise<string> {
  return readFile(path.join(cwd, 'lockstep.yaml'), 'utf8');
}

test('reports a healthy service gap by gap and writes nothing', async () => {
  const { stdout: short } = await doctor();
  expect(short).toMatch(
    /^Account demo is usable\. Nothing needs a decision\.\nMade [345]\d calls to http:\/\/127\.0\.0\.1:\d+ in /,
  );
  expect(short).toMatch(/\nFound \d+ certain and \d+ likely answers .*\nNot determined: \d+\. /);
  expect(short.split('\n').findIndex((line) => line.startsWith('Every finding: '))).toBeLessThanOrEqual(5);
  expect(short).not.toContain('firstTaskPage');
  const { code, stdout } = await doctor('--all');
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /\n {2}record-id \(contacts, customers, orders, tasks, pipelines\): id, a number; .* \[certain\]/,
  );
  expect(stdout).toMatch(/\n {2}import-body: not probed: needs --write-probes/);
  expect(stdout).toMatch(/Settings for these findings \(lockstep doctor --account demo --save .*firstTaskPage: 0/s);
  expect(await settingsNow()).toBe(SETTINGS);
  expect((await lastExamination(database.pool, 'demo'))?.report.calls).toBeGreaterThan(30);
});

test('--json prints the report as one object', async () => {
  const { code, json, stdout } = await doctor('--json');
  expect([code, stdout.trimEnd().split('\n').length]).toEqual([0, 1]);
  expect(json).toMatchObject({
    account: 'demo',
    baseUrl: expect.any(String),
    calls: expect.any(Number),
    leftBehind: [],
  });
  expect(json.calls).toBeLessThanOrEqual(60);
  expect(json.settings['accounts.demo.dialect.firstTaskPage']).toBe(0);
  expect(json.findings).toContainEqual(expect.objectContaining({ gap: 'list-order', confidence: 'certain' }));
});

test('--write-probes --save stores certain findings in the settings, and lists leftover records', async () => {
  const { code, json } = await doctor('--write-probes', '--save', '--json');
  expect([code, json.saved.status]).toEqual([0, 'saved']);
  expect(json.leftBehind).toHaveLength(3);
  const text = await settingsNow();
  expect(text.split('\n').slice(0, 4)).toEqual(SETTINGS.split('\n').slice(0, 4));
  expect(text).toMatch(/dialect: \{ .* \} # found out\n {4}budget/);
  expect(parse(text).accounts.demo.dialect).toMatchObject({
    firstTaskPage: 0,
    importBody: { contact_id: '$id' },
    completeMethod: 'PUT',
    idField: { subtasks: 'id' },
  });
  expect((await lastExamination(database.pool, 'demo'))?.report).toMatchObject({ account: 'demo', calls: json.calls });
  expect((await doctor('--save')).stdout).toMatch(/Nothing to change/);
});

test('the next run learns the shapes of lists again', async () => {
  await keepLearnt(database.pool, 'demo', 'shape:contacts', { path: 'data', idField: '_id' });
  await keepLearnt(database.pool, 'demo', 'import', true);
  await doctor();
  const learnt = await readLearnt(database.pool, 'demo');
  expect([learnt.has('shape:contacts'), learnt.get('import')]).toEqual([false, true]);
});

test('ends with 1 when a person must act, and with 3 when the service cannot be probed', async () => {
  const open = await startHttpServer({ body: [] });
  onTestFinished(() => open.close());
  const at = (url: string) => `accounts: { demo: { url: "${url}", apiKey: { env: DEMO_KEY } } }`;
  await writeFile(path.join(cwd, 'lockstep.yaml'), at(open.url));
  const careless = await doctor();
  expect([careless.code, careless.stdout]).toEqual([
    1,
    expect.stringMatching(/^Account demo is usable, but \d+ things? needs? a person.*This needs a person:/s),
  ]);
  await writeFile(path.join(cwd, 'lockstep.yaml'), at('http://127.0.0.1:9'));
  const away = await doctor('--json');
  expect([away.code, away.json.stopped]).toEqual([3, 'the address cannot be reached']);
});

test('--help explains the command; a missing or misspelt account is wrong use', async () => {
  const help = await command(['doctor', '--help'], { cwd });
  for (const words of ['Examples:', '--write-probes', 'API cannot delete', 'at most 60 calls', '--save']) {
    expect(help.stdout.replace(/\s+/g, ' ')).toContain(words);
  }
  expect((await command(['doctor'], { cwd })).code).toBe(2);
  expect((await command(['doctor', '--account', 'dem', '--init'], { cwd })).stderr).toMatch(/did you mean "demo"/);
});
