import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { databaseUrl } from '../cli/command.ts';
import { emptyDatabase } from '../support/database.ts';
import { processesNaming } from '../support/processes.ts';
import { lockstep, startLockstep } from './cli-process.ts';

const KEY = `canary-key-${randomUUID()}`; // unique to this run: other runs may be active
const database = await emptyDatabase();
const cwd = await mkdtemp(path.join(os.tmpdir(), 'lockstep-service-'));
await writeFile(path.join(cwd, 'key'), `${KEY}\n`);
const around = { cwd, env: { DATABASE_URL: databaseUrl(database.connection), ACME_KEY: KEY } };
afterAll(async () => {
  await rm(around.cwd, { recursive: true });
  await database.close();
});

test.each([
  ['--key-env', 'ACME_KEY', '127.0.0.1'],
  ['--key-file', 'key', '0.0.0.0'],
  ['--key', KEY, 'localhost'],
])('the service takes its key from %s and warns about what is unsafe', async (option, value, host) => {
  const args = ['service', '--json', '--port', '0', '--listen', host, '--tenant', 'acme', option, value];
  const service = startLockstep(args, around);
  const { url } = await service.ready();
  const answer = await fetch(`${url}/api/v1/contacts/getall`, { headers: { API_KEY: KEY } });
  expect(answer.status).toBe(200);
  expect((await processesNaming(KEY)).length > 0).toBe(option === '--key');
  service.signal('SIGTERM');
  const { code, stderr } = await service.ended;
  expect([code, /--key shows the key/.test(stderr)]).toEqual([0, option === '--key']);
  expect(/--listen 0\.0\.0\.0: other machines can reach the service/.test(stderr)).toBe(host === '0.0.0.0');
});

test('refuses a short key', async () => {
  const env = { ...around.env, ACME_KEY: 'nineteen-characters' };
  const args = ['service', '--json', '--port', '0', '--tenant', 'acme', '--key-env', 'ACME_KEY'];
  const { code, json } = await lockstep(args, { ...around, env });
  expect([code, json.error.code]).toEqual([2, 'KEY_UNFIT']);
  expect(json.error.message).toMatch(/20 to 512 .*openssl rand/);
});
