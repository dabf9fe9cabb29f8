/** The package as a user installs it: without install scripts, into an empty folder, from a registry on loopback. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addTypes } from '../../.ci/build.ts';
import { startRegistry } from '../support/local-registry.ts';

const root = path.join(import.meta.dirname, '../..');
const run = promisify(execFile);
let dir = '';
let home = '';

/** Runs in the installation's folder, with an environment that knows nothing of this checkout. */
function inFolder(command: string, args: readonly string[]) {
  return run(command, args, { cwd: dir, env: { PATH: process.env.PATH, HOME: home } });
}

beforeAll(async () => {
  home = await mkdtemp(path.join(os.tmpdir(), 'lockstep-package-'));
  dir = path.join(home, 'empty');
  await mkdir(dir);
  if (!existsSync(path.join(root, 'dist/types'))) await addTypes(); // a build for tests has none
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', home], { cwd: root });
  const packed = (await readdir(home)).filter((name) => name.endsWith('.tgz')).map((name) => path.join(home, name));
  const registry = await startRegistry();
  try {
    const quietly = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier'];
    await inFolder('npm', ['install', ...packed, '@types/node', '@types/pg', ...quietly, '--registry', registry.url]);
  } finally {
    registry.close();
  }
}, 120_000);

afterAll(() => rm(home, { recursive: true, force: true }));

test('has the presets for exports of other programs', async () => {
  const presets = (at: string) => readdir(path.join(at, 'config/presets'));
  expect(await presets(path.join(dir, 'node_modules/lockstep'))).toEqual(await presets(root));
});

test('the demo imports a sample workspace, loads orders, mirrors a task, writes nothing twice, and leaves nothing behind', async () => {
  const { stdout, stderr } = await inFolder('npx', ['--no', '--no-update-notifier', 'lockstep', 'demo', '--json']);
  expect(stderr).toBe('');
  const { first, second, load, baseline, mirrored } = JSON.parse(stdout);
  expect(first).toMatchObject({ status: 'done', scan: 'proven', counts: { in: 2_000, unknown: 0 } });
  expect(first.counts.created).toBeGreaterThan(1_500);
  expect(second.counts).toMatchObject({ in: 2_000, created: 0, updated: 0 });
  expect(load).toMatchObject({ status: 'done', counts: { in: 405, created: 399, unknown: 0 } });
  expect(baseline.counts).toMatchObject({ in: 100, unchanged: 100 });
  expect(mirrored).toMatchObject({ status: 'done', counts: { in: 100, updated: 1, unchanged: 99 } });
  expect(await readdir(dir)).not.toContain('.lockstep');
});

test('runs in any folder through a link to the checkout, as npm link makes it, and by its path', async () => {
  const program = path.join(root, 'src/cli/bin/lockstep.mjs');
  const link = path.join(home, 'linked-lockstep');
  await symlink(program, link);
  for (const [command, ...args] of [[link], [process.execPath, program]] as const) {
    const { stdout } = await inFolder(command, [...args, 'settings', 'check', '--config', 'own.yaml', '--init']);
    expect(stdout).toContain(`${path.join(dir, 'own.yaml')} has no problems`);
  }
});

const SAMPLE = `
import { startWorkspace } from 'lockstep';
import { openClient } from 'lockstep/client';

const workspace = await startWorkspace({ port: 0, config: 'lockstep.yaml' });
// @ts-expect-error: a misspelt dryRun would write
await workspace.runSync('nightly', { dryrun: true }).catch(({ message }) => console.log(message));
const report = await workspace.runSync('nightly');
const client = openClient({ baseUrl: workspace.url ?? '', apiKey: 'k'.repeat(24), requestsPerSecond: 50 });
const made = await client.contacts.create({ body: { first_name: 'Ann', by_phone: true } });
const found = await client.contacts.search({ query: { search_term: 'Ann' } });
const name: string | undefined = found.status === 'applied' ? found.content[0]?.first_name : undefined;
console.log(report.status, report.counts.in, made.status, name);
// @ts-expect-error: a port is a number
await startWorkspace({ port: '80' }).catch(({ code, message }) => console.log(code, message));
await client.close();
await workspace.close();
`;

const WRONG = `
import { openClient } from 'lockstep/client';

const client = openClient({ baseUrl: '', apiKey: '', requestsPerSecond: 1 });
// @ts-expect-error: the path is missing
client.tasks.complete({ body: { isCompleted: true } });
// @ts-expect-error: an amount is a number
client.orders.create({ body: { amount: '5' } });
// @ts-expect-error: the contract has no such operation
client.orders.delete;
`;

const SETTINGS = `
accounts: { acme: { apiKey: { env: ACME_KEY } } }
syncs: { nightly: { job: contacts, account: acme } }
`;

test('a program starts a workspace and calls its service, with types for both', async () => {
  await writeFile(path.join(dir, 'sample.mts'), SAMPLE);
  await writeFile(path.join(dir, 'wrong.mts'), WRONG);
  await writeFile(path.join(dir, 'lockstep.yaml'), SETTINGS);
  const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
  const flags = '--ignoreConfig --strict --target es2023 --types node sample.mts wrong.mts'.split(' ');
  await inFolder(process.execPath, [tsc, ...flags, '--module', 'esnext', '--moduleResolution', 'bundler', '--noEmit']);
  await inFolder(process.execPath, [tsc, ...flags, '--module', 'nodenext']);
  const { stdout } = await inFolder('env', [`ACME_KEY=${'k'.repeat(24)}`, process.execPath, 'sample.mjs']);
  expect(stdout.split('\n')).toEqual([
    'runSync cannot use its options: Unrecognized key: "dryrun"',
    'done 0 applied Ann',
    'WORKSPACE_OPTIONS_INVALID startWorkspace cannot use its options: port: Invalid input: expected number, received string',
    '',
  ]);
});
