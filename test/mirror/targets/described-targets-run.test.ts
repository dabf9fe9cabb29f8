import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import type { Workspace } from '../../../src/cli/workspace/open-workspace.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { exampleOf } from '../../support/documented-targets.ts';
import { ended } from '../../support/harness/ended.ts';
import { testWorkspace } from '../../support/harness/test-workspace.ts';
import { startHttpServer, type TestServer } from '../../support/http-server.ts';
import { type ItemVendor, TOKEN } from '../../support/item-vendor.ts';
import { startSystem } from '../../support/template-vendors.ts';
import { TRELLO } from '../../support/template-vendors-more.ts';

let database: FreshDatabase;
let dataDir: string;
let workspace: Workspace;
let receiver: TestServer;
let trello: ItemVendor;

beforeEach(async () => {
  [database, receiver, trello] = await Promise.all([
    freshDatabase(),
    startHttpServer({ status: 200 }),
    startSystem(TRELLO),
  ]);
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-described-targets-'));
  const { host, port, user, database: name } = database.connection;
  const env = {
    WAREHOUSE_URL: `postgres://${user}@${encodeURIComponent(String(host))}:${port}/${name}`,
    SLACK_WEBHOOK_URL: `${receiver.url}/slack`,
    TEAMS_WEBHOOK_URL: `${receiver.url}/teams`,
    OPS_EVENTS_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    OPS_GATEWAY_TOKEN: 'canary-gateway-0c41b7',
    TRELLO_AUTHORIZATION: TOKEN,
  };
  workspace = await testWorkspace({ text: settings(), dataDir, env, database });
});

afterEach(async () => {
  await workspace.close();
  await Promise.all([database.close(), receiver.close(), trello.vendor.close()]);
  await rm(dataDir, { recursive: true, force: true });
});

const NAMES = ['our-channel', 'our-team', 'ops-events', 'our-history', 'our-trello', 'picky'];

/** The examples of the documentation, at the addresses of this test and for all changes, and one target that is picky. */
function settings(): string {
  const here = { allowPrivate: true, budget: { requests: 100, per: '1s' } };
  const all = { events: undefined, fields: undefined };
  const send = { body: '{ "n": {% if title == "b" %}none{% else %}1{% endif %} }' };
  const targets = {
    'our-channel': { ...example('our-channel'), ...here, ...all },
    'our-team': { ...example('our-team'), ...here, ...all },
    'ops-events': { ...example('ops-events'), ...here, ...all, url: `${receiver.url}/events` },
    'our-history': example('our-history'),
    'our-trello': { ...example('our-trello'), ...here, url: trello.vendor.url },
    picky: { type: 'http', url: `${receiver.url}/picky`, ...here, send },
  };
  const mirror = { type: 'tasks', account: 'demo', targets: NAMES, options: { backfill: true } };
  const accounts = { demo: { budget: { requests: 5000, per: '1s', burst: 500 } } };
  return stringify({ accounts, syncs: { mirror }, targets });
}

function example(name: string): object {
  return parse(exampleOf(name)).targets[name];
}

test('the documented targets receive a run, and a template that does not fit one task stops no other delivery', async () => {
  const { client } = await workspace.accounts.open('demo');
  for (const taskName of ['a', 'b']) await client.call('tasks.create', { lane: 'interactive', body: { taskName } });
  await workspace.deliver(NAMES);
  const begun = await workspace.startSync('mirror', { lane: 'batch', dryRun: false });
  const runner = await workspace.work();
  await runner.attend(begun.run);
  await ended(database, begun.run.id);

  const deliveries = await database.pool.query(
    `select target, task->>'title' as title, verdict, reason from ledger.deliveries where verdict <> 'delivered'`,
  );
  expect(deliveries.rows).toEqual([{ target: 'picky', title: 'b', verdict: 'dead', reason: 'TEMPLATE_INVALID' }]);
  const paths = receiver.requests.map((request) => request.path).sort();
  expect(paths).toEqual(['/events', '/events', '/picky', '/slack', '/teams', '/teams']);
  const history = await database.pool.query('select title, sequence, event from lockstep_task_versions order by title');
  expect(history.rows).toEqual([
    { title: 'a', sequence: 1, event: 'created' },
    { title: 'b', sequence: 1, event: 'created' },
  ]);
  expect([trello.count(), trello.vendor.complaints]).toEqual([2, []]);
});
