import { afterAll, expect, test } from 'vitest';
import {
  keepVersions,
  knownTasks,
  type NewVersion,
  presentIds,
} from '../../../src/engine/ledger/tasks/task-versions.ts';
import { freshDatabase } from '../../support/database.ts';

const SCOPE = { scope: 'a', sync: 's' };
const database = await freshDatabase();
afterAll(() => database.close());

const versionOf = (taskId: string, version: number, isCompleted = false): NewVersion => ({
  taskId,
  parentId: undefined,
  version,
  state: { isCompleted },
  hash: `h${version}`,
  isGone: false,
});

test('writes a version only after the one that it follows', async () => {
  const { pool } = database;
  expect(await keepVersions(pool, SCOPE, 'task', [versionOf('1', 1)])).toEqual(new Set(['1']));
  expect(await keepVersions(pool, SCOPE, 'task', [versionOf('1', 2, true)])).toEqual(new Set(['1']));
  expect(await keepVersions(pool, SCOPE, 'task', [versionOf('1', 2), versionOf('1a', 1)])).toEqual(new Set(['1a']));
  expect((await knownTasks(pool, SCOPE, 'task', ['1'])).get('1')).toMatchObject({ version: 2, isCompleted: true });
});

test('knowledge about one account, sync or kind does not affect another', async () => {
  const { pool } = database;
  await keepVersions(pool, SCOPE, 'task', [versionOf('7', 1)]);
  for (const scope of [
    { ...SCOPE, scope: 'b' },
    { ...SCOPE, sync: 't' },
  ])
    expect(await knownTasks(pool, scope, 'task', ['7'])).toEqual(new Map());
  expect(await knownTasks(pool, SCOPE, 'card', ['7'])).toEqual(new Map());
});

test('lists each of more tasks than a batch holds once', async () => {
  const scope = { ...SCOPE, sync: 'many' };
  const ids = Array.from({ length: 12_345 }, (_, i) => String(i));
  await keepVersions(
    database.pool,
    scope,
    'task',
    ids.map((id) => versionOf(id, 1)),
  );
  const listed: string[] = [];
  for await (const batch of presentIds(database.pool, scope, 'task')) listed.push(...batch);
  expect(listed.toSorted()).toEqual(ids.toSorted());
});
