import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { command } from '../cli/command.ts';
import { postmasterOf } from '../support/processes.ts';
import { lockstep } from './cli-process.ts';
import { KEY, openWorkspace, settings } from './workspace.ts';

const workspace = await openWorkspace({ contacts: 200 });
afterAll(() => workspace.close());

async function runWith(text: string, env: Record<string, string> = {}) {
  await writeFile(path.join(workspace.cwd, 'other.yaml'), text);
  const around = { cwd: workspace.cwd, env: { ...workspace.env, ...env } };
  return command(['run', 'nightly', '--config', 'other.yaml', '--json'], around);
}

test('a refused key ends the run with 3 and says once which account it belongs to and where to fix it', async () => {
  const { code, json, stderr } = await runWith(settings(workspace.url), { E2E_KEY: 'not-the-key' });
  expect([code, json.status, json.error.code]).toEqual([3, 'failed', 'KEY_REFUSED']);
  expect(stderr.match(/accounts\.acme\.apiKey/g)).toHaveLength(1);
  expect(stderr + JSON.stringify(json)).not.toContain('not-the-key');
});

test('an unreachable service ends the run with 3 and names its address', async () => {
  const { code, json } = await runWith(settings('http://127.0.0.1:9'));
  expect([code, json.status, json.error.code]).toEqual([3, 'failed', 'SERVICE_AWAY']);
  expect(json.error.message).toMatch(/127\.0\.0\.1:9.*refused.*accounts\.acme\.url in .*other\.yaml/);
});

test('reports a missing secret before anything runs', async () => {
  const { code, json } = await runWith(settings(workspace.url).replace('E2E_KEY', 'NO_SUCH_KEY'));
  expect([code, json.error.code]).toEqual([2, 'SECRET_MISSING']);
});

test('reports a port in use, with the remedy', async () => {
  const { port } = new URL(workspace.url);
  const { code, json } = await command(['service', '--port', port, '--json'], workspace);
  expect([code, json.error.code]).toEqual([2, 'SERVICE_PORT_IN_USE']);
  expect(json.error.message).toContain('--port');
});

test('a database lost in the middle ends the run with a remedy, and the same command resumes it', async () => {
  const { cwd, url, commits } = workspace;
  const embedded = { cwd, env: { E2E_KEY: KEY } };
  await writeFile(path.join(cwd, 'slow.yaml'), settings(url, '{ requests: 30, per: 1s, timeout: 2s, settle: 1s }'));
  const args = ['run', 'nightly', '--config', 'slow.yaml', '--init', '--json'];
  const broken = lockstep(args, embedded);
  await expect.poll(() => commits('customers.import')).toBeGreaterThan(0);
  process.kill(postmasterOf(path.join(cwd, '.lockstep')), 'SIGKILL');
  const { code, json } = await broken;
  expect([code, json.error.code]).toEqual([3, 'DATABASE_LOST']);
  expect(json.error.message).toContain('start the same command again');
  const again = await lockstep(args, embedded);
  expect(again.json).toMatchObject({ status: 'done', counts: { in: 200, unknown: 0 } });
  expect(await commits('customers.import')).toBe(again.json.counts.created);
});
