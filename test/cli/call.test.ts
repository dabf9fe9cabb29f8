import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Operation } from '../../src/contract/operation.ts';
import { type OperationName, operations } from '../../src/contract/operations.ts';
import { seedWorkspace } from '../../src/service/testbed/seed.ts';
import { freshDatabase } from '../support/database.ts';
import { command, databaseUrl, scratchFolders } from './command.ts';

const DEMO_KEY = 'the-key-of-the-demo-account';
const folder = scratchFolders();
const database = await freshDatabase();
await seedWorkspace(database.pool, { contacts: 200, tenants: [{ name: 'demo', key: DEMO_KEY }] });
afterAll(() => database.close());

async function lockstep(...args: readonly string[]) {
  const cwd = await folder();
  const settings = 'accounts: { demo: { apiKey: { env: DEMO_KEY }, budget: { requests: 2000, per: 1s } } }';
  await writeFile(path.join(cwd, 'lockstep.yaml'), settings);
  const env = { DATABASE_URL: databaseUrl(database.connection), DEMO_KEY };
  return command([...args, '--account', 'demo', '--config', 'lockstep.yaml', '--json'], { cwd, env });
}

const body = (value: unknown) => ['--body', JSON.stringify(value)];

/** One operation of each shape: with and without parameters of the path, of the query, and a body. */
const CALLS: readonly (readonly [name: OperationName, args: readonly string[]])[] = [
  ['customers.getall', []],
  ['contacts.getall', ['--param', 'page=0', '--param', 'rows_per_page=5']],
  ['pipelines.get', ['--param', 'pipeline_id=1']],
  ['contacts.create', body({ first_name: 'Ann' })],
  ['contacts.update', ['--param', 'contact_id=1', ...body({ last_name: 'Lee' })]],
  ['tasks.complete', ['--param', 'task_id=1', ...body({ isCompleted: true })]],
];

test.each(CALLS)('lockstep call %s reports its outcome', async (name, args) => {
  const { code, json, stderr } = await lockstep('call', name, ...args);
  expect([code, stderr]).toEqual([0, '']);
  expect(json).toMatchObject({ operation: name, outcome: { status: 'applied', httpStatus: 200 } });
  const { result }: Operation = operations[name];
  expect(json.outcome.content === null).toBe(result === undefined); // only a read returns a result
});

test('warns of each field of a body that the contract does not have, and sends it', async () => {
  const { code, stderr } = await lockstep(
    'call',
    'contacts.create',
    ...body({ fist_name: 'Ann', email: 'a@x.de', x: 1 }),
  );
  expect(code).toBe(0);
  expect(stderr.split('\n')).toEqual([
    'lockstep: Warning: the body of contacts.create has no field "fist_name" in the contract. It is sent unchanged. Did you mean "first_name"?',
    expect.stringMatching(
      /no field "x" in the contract\. It is sent unchanged\. It has category, first_name, .* or .*\.$/,
    ),
    '',
  ]);
});

test('a refused operation ends with 1 and shows the service’s message', async () => {
  const { code, json, stderr } = await lockstep('call', 'contacts.get', '--param', 'contact_id=999999');
  expect([code, json.outcome.status, json.outcome.httpStatus]).toEqual([1, 'refused', 404]);
  expect(stderr).toContain('lockstep: contacts.get: refused (HTTP 404)');
});
