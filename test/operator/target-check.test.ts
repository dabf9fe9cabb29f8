/** What a check says about the items that tasks are linked with. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { linkKind } from '../../src/mirror/links/item-links.ts';
import { openHttp } from '../../src/mirror/targets/http/http.ts';
import { checkTargets } from '../../src/operator/target-check.ts';
import { freshLedger } from '../engine/ledger/fresh-ledger.ts';
import { startHttpServer } from '../support/http-server.ts';
import { needsOf } from '../support/item-vendor.ts';
import { exampleAt } from '../support/template-vendors.ts';

const database = await freshLedger();
/** The status of each work package, by its id. */
let statuses: Readonly<Record<string, string>>;
const server = await startHttpServer(({ path }) => {
  const title = statuses[path.split('/').at(-1) ?? ''];
  if (title === undefined) return { body: { _embedded: { elements: [] } } };
  return { body: { lockVersion: 1, _links: { status: { title } } } };
});
afterAll(async () => {
  await server.close();
  await database.close();
});
beforeEach(() => database.pool.query('truncate ledger.tasks, ledger.links'));

/** Links tasks of these states with the work packages 1, 2, …. */
async function link(...states: readonly boolean[]): Promise<void> {
  for (const [index, isCompleted] of states.entries()) {
    const id = String(index + 1);
    const state = { kind: 'task', id, isCompleted };
    await database.pool.query(
      `insert into ledger.tasks (scope, sync, kind, task_id, version, state, hash) values ('demo', 'mirror', 'task', $1, 1, $2, '')`,
      [id, state],
    );
    await database.pool.query(
      `insert into ledger.links (scope, kind, source_id, record_id, run_id) values ('demo', $1, 'task:' || $2, $2, '')`,
      [linkKind('our-openproject'), id],
    );
  }
}

async function found(): Promise<string[]> {
  const open = async () => openHttp(exampleAt('our-openproject'), needsOf(server));
  const { signal } = new AbortController();
  const [checked] = await checkTargets(['our-openproject'], { pool: database.pool, open, signal });
  return (checked?.findings ?? []).slice(1).map(({ status, detail }) => `${status}: ${detail}`);
}

test('a state that no linked item has, though tasks have it, is a problem', async () => {
  await link(true, true, false);
  statuses = { 1: 'Done', 2: 'Done', 3: 'New' };
  expect(await found()).toEqual([
    'problem: all 3 items that were read ("Done", "New") count as open, though some of their tasks are completed',
  ]);
  statuses = { 1: 'Closed', 2: 'Done', 3: 'New' };
  expect(await found()).toEqual(['ok: items are read in the states of their tasks']);
});

test('open tasks alone say nothing about completed ones, and without links nothing is said', async () => {
  expect(await found()).toEqual([]);
  await link(false);
  statuses = { 1: 'New' };
  expect(await found()).toEqual(['ok: items are read in the states of their tasks']);
});
