/**
 * For tests of changes that come back from targets: tasks linked with issues of a stand-in for GitHub, a receiver of
 * webhooks, and the console.
 */
import { createHmac } from 'node:crypto';
import { expect, vi } from 'vitest';
import type { Run } from '../../../src/engine/ledger/runs.ts';
import { linkKind } from '../../../src/mirror/links/item-links.ts';
import { createKey, createTenant } from '../../../src/service/tenants.ts';
import { startGithub } from '../github-standin.ts';
import { HOOK_SECRET, TOKEN } from '../item-vendor.ts';
import { PATIENT } from '../patient.ts';
import { startWebhookReceiver } from '../webhook-receiver.ts';
import { openHarness, type SyncHow } from './harness.ts';
import { BUDGET } from './needs.ts';
import { withTasks } from './tasks.ts';

const SIGNING = 'a signing secret of many bytes';

export type ReportsHarness = Awaited<ReturnType<typeof openReportsHarness>>;

const OTHER_KEY = 'the-key-of-the-other-account';

/** `issueKeys`: more settings of the target of issues. `hasOther`: another account has a sync `others` with the same settings. */
export async function openReportsHarness({
  options = '{}',
  targets = '[issues, hook]',
  issueKeys = '',
  isHooked = true,
  hasOther = false,
} = {}) {
  const github = await startGithub();
  const receiver = await startWebhookReceiver(SIGNING);
  const more = 'allowPrivate: true, budget: { requests: 5000, per: 1s, burst: 500, concurrency: 8 }';
  const issues = `url: "${github.vendor.url}", token: { env: TOKEN }, owner: octo, repo: shop${isHooked ? ', hookSecret: { env: HOOK_SECRET }' : ''}`;
  const harness = withTasks(
    await openHarness({
      hasFront: true,
      ...(hasOther && { accounts: { other: `apiKey: { env: OTHER_KEY }, ${BUDGET}` } }),
      syncs: {
        mirror: `job: tasks, targets: ${targets}, options: ${options}`,
        ...(hasOther && { others: `account: other, job: tasks, targets: ${targets}, options: ${options}` }),
      },
      targets: {
        issues: `type: github, ${issues}, ${more}${issueKeys && `, ${issueKeys}`}`,
        hook: `type: webhook, url: "${receiver.hook}", secret: { env: SIGNING }, ${more}`,
      },
      env: { TOKEN, HOOK_SECRET, SIGNING, OTHER_KEY },
    }),
  );
  const { workspace, close, runSync } = harness;
  const { pool } = harness.database;
  // As two processes: the one that accepts calls does not apply them.
  const web = await (await harness.anotherWorkspace()).serveConsole();
  let working: Promise<void> | undefined;
  /** From now on, this process applies the reports of all targets. */
  const work = (): Promise<void> => {
    const { mirror } = workspace.settings.syncs;
    working ??= workspace.deliver(mirror?.type === 'tasks' ? mirror.targets : []);
    return working;
  };
  const link = async (taskId: number, itemId: string, scope = 'test'): Promise<void> => {
    await pool.query(
      `insert into ledger.links (scope, kind, source_id, record_id, run_id) values ($1, $2, $3, $4, '')`,
      [scope, linkKind('issues'), `task:${taskId}`, itemId],
    );
  };
  /** Runs the sync to its end, including its deliveries and reports. */
  const sync = async (how?: SyncHow): Promise<Run> => {
    await work();
    return runSync(how);
  };
  return Object.assign(harness, {
    github,
    receiver,
    work,
    link,
    sync,
    /** From now on, this process delivers and applies nothing. */
    stopWorking: () => workspace.close(),
    /** Waits until nothing is in flight in either direction. */
    async settle(): Promise<void> {
      await work();
      const isQuiet = async () => {
        const found = await pool.query(
          `select 1 from ledger.deliveries where state <> 'ended' union all select 1 from ledger.item_reports where state = 'waiting'`,
        );
        expect(found.rowCount).toBe(0);
      };
      await vi.waitFor(isQuiet, PATIENT);
    },
    /** Adds tasks with a linked issue each, known to a first scan. */
    async linkedTasks(count: number): Promise<void> {
      await harness.addTasks(count);
      for (let id = 1; id <= count; id++) await link(id, github.put(false));
      await sync();
    },
    /** Adds a task of the other account that is linked with the issue of task 1, known to a first scan; returns its id. */
    async otherTask(): Promise<number> {
      const { id: tenantId } = await createTenant(pool, 'other');
      await createKey(pool, tenantId, { key: OTHER_KEY });
      const { rows } = await pool.query<{ id: string }>(
        `insert into service.tasks (tenant_id, fields) values ($1, '{"taskName": "Theirs", "isCompleted": false}') returning id`,
        [tenantId],
      );
      const id = Number(rows[0]?.id);
      await link(id, 'octo/shop#1', 'other');
      await sync({ sync: 'others' });
      return id;
    },
    async isCompleted(taskId: number): Promise<boolean> {
      const found = await pool.query(
        `select 1 from service.tasks where id = $1 and fields @> '{"isCompleted": true}'`,
        [taskId],
      );
      return found.rowCount === 1;
    },
    /** A person changes an issue; GitHub sends no call. */
    changeIssue(number: number, state: 'open' | 'closed'): void {
      const issue = github.issues[number - 1];
      if (issue) issue.state = state;
    },
    /** GitHub's own call about an issue, with its current state or the given one. */
    hook(number: number, state = github.issues[number - 1]?.state ?? 'open', signature?: string): Promise<Response> {
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
    /** The writes to GitHub so far. */
    writes: () => github.vendor.requests.filter(github.isWrite).length,
    /** Waits for the first read that does not confirm a call, and makes the second one due. */
    async readAgain(number: number): Promise<void> {
      const reason = async () => (await this.report(number))?.reason;
      await expect.poll(reason, PATIENT).toBe('CALL_UNCONFIRMED');
      await pool.query('update ledger.item_reports set due_at = now()');
    },
    async report(number: number): Promise<Record<string, unknown> | undefined> {
      const found = await pool.query('select * from ledger.item_reports where item_id = $1', [`octo/shop#${number}`]);
      return found.rows[0];
    },
    async close(): Promise<void> {
      await close();
      await github.vendor.close();
      await receiver.close();
    },
  });
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
