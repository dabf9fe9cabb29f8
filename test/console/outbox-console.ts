/** A console whose ledger has deliveries of two webhooks, and links of a repository's issues. */
import { beforeEach } from 'vitest';
import { freshConsole, SETTINGS } from './open-console.ts';
import { apiOf, pageAt } from './requests.ts';

export const HOSTILE = `<img src=x onerror="alert(1)">"><svg onload=alert(2)> \u202egpj.exe \u001b[31m ${'x'.repeat(3_000)}`;
export const TEXT = `${SETTINGS.replace('budget:', 'dialect: { idField: { contacts: nr } }, budget:')}
targets:
  hook: { type: webhook, url: "https://hook.example/in", secret: { env: HOOK }, previousSecret: { env: OLD_HOOK } }
  spare: { type: webhook, url: "https://spare.example/in", secret: { env: HOOK } }
  issues: { type: github, token: { env: TOKEN }, owner: octocat, repo: hello-world }
syncs: { mirror: { type: tasks, account: acme, targets: [hook, spare] } }
`;

/** For the file that calls it. Each test begins without deliveries. */
export async function openOutboxConsole() {
  const { database, web } = await freshConsole({ text: TEXT });
  beforeEach(() =>
    database.pool.query(
      'truncate ledger.suspensions, ledger.deliveries, ledger.links, ledger.target_states, ledger.console_actions, ledger.delivery_claims cascade',
    ),
  );

  /** Deliveries of different tasks, the first the newest: dead ones with a hostile answer. */
  async function deliver(verdicts: readonly ('dead' | 'delivered' | null)[]): Promise<void> {
    for (const [i, verdict] of verdicts.entries()) {
      const state = verdict === null ? 'waiting' : 'ended';
      await database.pool.query(
        `insert into ledger.deliveries (id, target, scope, sync, kind, task_id, sequence, event, task, seen_at, state, verdict,
           reason, detail, answer, failures, attempts, created_at, ended_at)
         values ($1, 'hook', 'acme', 'tasks', 'task', $1, 1, 'changed', $2, now(), $3, $4, $5, $6, $7,
           case when $4 = 'dead' then jsonb_build_array(jsonb_build_object('at', now(), 'detail', $6::text, 'answer', $7::json)) end, 3,
           now() - $8 * interval '1 minute', case when $4::text is null then null else now() end)`,
        [
          `msg_${i}`,
          { title: HOSTILE },
          state,
          verdict,
          verdict === 'dead' ? 'REFUSED' : null,
          verdict === 'dead' ? HOSTILE : null,
          verdict === 'dead' ? { httpStatus: 500, text: HOSTILE } : null,
          i,
        ],
      );
    }
  }

  const states = async () => {
    const found = await database.pool.query('select state from ledger.deliveries order by id');
    return found.rows.map(({ state }) => state);
  };

  return { database, web, deliver, states, call: apiOf(web), htmlAt: (path: string) => pageAt(web, path) };
}
