/** A service with tasks, issues of a stand-in for GitHub, a receiver of webhooks, and the console between them. */
import { createHmac } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type pg from 'pg';
import { expect, vi } from 'vitest';
import type { Workspace } from '../../../src/cli/wire.ts';
import type { OperationName } from '../../../src/contract/operations.ts';
import { type Run, readRun } from '../../../src/engine/ledger/runs.ts';
import { linkKind } from '../../../src/mirror/links/item-links.ts';
import { type Service, startService } from '../../../src/service/server.ts';
import { createKey, createTenant } from '../../../src/service/tenants.ts';
import { callService } from '../../support/call-service.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { type Between, startFrontServer } from '../../support/front-server.ts';
import { type GithubHarness, startGithub } from '../../support/github-standin.ts';
import { HOOK_SECRET, TOKEN } from '../../support/item-harness.ts';
import { testWorkspace } from '../../support/test-workspace.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../../support/webhook-receiver.ts';

const KEY = 'the-key-of-the-test-tenant';
const SIGNING = 'a signing secret of many bytes';

export const ENV = { TEST_KEY: KEY, TOKEN, HOOK_SECRET, SIGNING };

export interface ReportsHarness {
  readonly database: FreshDatabase;
  readonly service: Service;
  readonly workspace: Workspace;
  readonly connection: pg.PoolConfig;
  readonly settingsText: string;
  readonly dataDir: string;
  readonly github: GithubHarness;
  readonly receiver: WebhookReceiver;
  /** Runs the sync to its end, including its deliveries and reports. */
  sync(how?: { reconcile?: boolean; dryRun?: boolean }): Promise<Run>;
  /** From now on, this process applies the reports of all targets. */
  work(): Promise<void>;
  /** From now on, this process delivers and applies nothing. */
  stopWorking(): Promise<void>;
  /** Waits until nothing is in flight in either direction. */
  settle(): Promise<void>;
  /** Tasks with a linked issue each, known to a first scan. */
  linkedTasks(count: number): Promise<void>;
  link(taskId: number, itemId: string): Promise<void>;
  complete(taskId: number, isCompleted?: boolean): Promise<void>;
  isCompleted(taskId: number): Promise<boolean>;
  /** A person changes an issue; GitHub sends no call. */
  changeIssue(number: number, state: 'open' | 'closed'): void;
  /** GitHub's own call about an issue, with its current state or the given one. */
  hook(number: number, state?: string, signature?: string): Promise<Response>;
  /** The writes to GitHub so far. */
  writes(): number;
  report(number: number): Promise<Record<string, unknown> | undefined>;
  between(look?: Between): void;
  close(): Promise<void>;
}

export async function openReportsHarness({
  options = '{}',
  targets = '[issues, hook]',
}: {
  options?: string;
  targets?: string;
} = {}): Promise<ReportsHarness> {
  const database = await freshDatabase();
  const { pool, connection } = database;
  const service = await startService({ pool });
  const plain = await startService({ pool });
  const front = await startFrontServer();
  front.passTo(service.url);
  const tenant = await createTenant(pool, 'test');
  await createKey(pool, tenant.id, { key: KEY });
  const github = await startGithub();
  const receiver = await startWebhookReceiver(SIGNING);
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-test-'));
  const budget = 'budget: { requests: 5000, per: 1s, burst: 500, concurrency: 8 }';
  const settingsText = `
accounts:
  test: { url: "${front.url}", apiKey: { env: TEST_KEY }, budget: { requests: 5000, per: 1s, burst: 500, timeout: 5s, settle: 2s } }
redis: { url: none }
console: { listen: "127.0.0.1:0" }
syncs:
  mirror: { job: tasks, account: test, targets: ${targets}, options: ${options} }
targets:
  issues: { type: github, url: "${github.vendor.url}", token: { env: TOKEN }, owner: octo, repo: shop, hookSecret: { env: HOOK_SECRET }, allowPrivate: true, ${budget} }
  hook: { type: webhook, url: "${receiver.hook}", secret: { env: SIGNING }, allowPrivate: true, ${budget} }
`;
  // As two processes: the one that accepts calls does not apply them.
  const open = () => testWorkspace({ text: settingsText, dataDir, env: ENV, database });
  const [workspace, receiving] = [await open(), await open()];
  const web = await receiving.serveConsole();
  let working: Promise<unknown> | undefined;

  const call = (operation: OperationName, pathId: number, body?: unknown): Promise<unknown> =>
    callService({ url: plain.url, key: KEY }, operation, pathId, body);
  const work = async (): Promise<void> => {
    const { settings } = workspace;
    working ??= workspace.deliver(settings.syncs.mirror?.type === 'tasks' ? settings.syncs.mirror.targets : []);
    await working;
  };
  const link: ReportsHarness['link'] = async (taskId, itemId) => {
    await pool.query(
      `insert into ledger.links (scope, kind, source_id, record_id, run_id) values ('test', $1, $2, $3, '')`,
      [linkKind('issues'), `task:${taskId}`, itemId],
    );
  };
  const sync: ReportsHarness['sync'] = async ({ reconcile = false, dryRun = false } = {}) => {
    await work();
    const begun = await workspace.startSync('mirror', { lane: 'batch', dryRun, reconcile });
    expect(begun.status).toBe('started');
    await (await workspace.work()).attend(begun.run);
    const isOver = async () => expect((await readRun(pool, begun.run.id)).status).not.toBe('running');
    await vi.waitFor(isOver, { timeout: 30_000, interval: 20 });
    return readRun(pool, begun.run.id);
  };
  return {
    database,
    service,
    workspace,
    connection,
    settingsText,
    dataDir,
    github,
    receiver,
    sync,
    work,
    stopWorking: () => workspace.close(),
    async settle() {
      await work();
      const isQuiet = async () => {
        const found = await pool.query(
          `select 1 from ledger.deliveries where state <> 'ended' union all select 1 from ledger.item_reports where state = 'waiting'`,
        );
        expect(found.rowCount).toBe(0);
      };
      await vi.waitFor(isQuiet, { timeout: 20_000, interval: 20 });
    },
    async linkedTasks(count) {
      await pool.query(
        `insert into service.tasks (tenant_id, fields)
         select $1, jsonb_build_object('taskName', 'Task ' || n, 'isCompleted', false) from generate_series(1, $2::int) n order by n`,
        [tenant.id, count],
      );
      for (let id = 1; id <= count; id++) await link(id, github.put(false));
      await sync();
    },
    link,
    complete: async (taskId, isCompleted = true) => void (await call('tasks.complete', taskId, { isCompleted })),
    async isCompleted(taskId) {
      const found = await pool.query<{ fields: { isCompleted: boolean } }>(
        'select fields from service.tasks where id = $1',
        [taskId],
      );
      return found.rows[0]?.fields.isCompleted === true;
    },
    changeIssue(number, state) {
      const issue = github.issues[number - 1];
      if (issue) issue.state = state;
    },
    hook(number, state = github.issues[number - 1]?.state ?? 'open', signature) {
      const body = hookBody(number, state);
      return fetch(`${web.url}/hooks/issues`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-github-event': 'issues',
          'x-hub-signature-256': signature ?? `sha256=${createHmac('sha256', HOOK_SECRET).update(body).digest('hex')}`,
        },
        body,
      });
    },
    writes: () => github.vendor.requests.filter(github.isWrite).length,
    async report(number) {
      const found = await pool.query('select * from ledger.item_reports where item_id = $1', [`octo/shop#${number}`]);
      return found.rows[0];
    },
    between: (look) => front.set(look),
    async close() {
      await workspace.close();
      await receiving.close();
      await github.vendor.close();
      await receiver.close();
      await front.close();
      await service.close();
      await plain.close();
      await database.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

let events = 0;

/** Each event of its own, as GitHub's are. */
function hookBody(number: number, state: string): string {
  return JSON.stringify({
    action: state === 'closed' ? 'closed' : 'reopened',
    issue: { number, state, updated_at: new Date().toISOString() },
    event: ++events,
    repository: { name: 'shop', owner: { login: 'octo' } },
  });
}
