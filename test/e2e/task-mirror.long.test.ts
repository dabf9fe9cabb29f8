/** Tasks mirrored by real processes that are killed midway, to a receiver that accepts nothing unsigned. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';
import { type Running, startLockstep } from './cli-process.ts';
import { type E2eWorkspace, KEY, openWorkspace } from './workspace.ts';

const SECRET = 'a signing secret that is hard to guess';
const ROUNDS = 2;

interface Event {
  readonly type: string;
  readonly data: { readonly sequence: number; readonly task: { readonly id: string; readonly isCompleted: boolean } };
}

let workspace: E2eWorkspace;
let receiver: WebhookReceiver;
beforeAll(async () => {
  workspace = await openWorkspace({ contacts: 400 });
  receiver = await startWebhookReceiver(SECRET);
  await writeFile(
    path.join(workspace.cwd, 'lockstep.yaml'),
    `
accounts:
  acme: { url: "${workspace.url}", apiKey: { env: E2E_KEY }, budget: { requests: 1000, per: 1s, settle: 400ms, timeout: 2s } }
syncs:
  mirror: { job: tasks, account: acme, schedule: { every: 1s }, targets: [hook], options: { backfill: true } }
targets:
  hook: { type: webhook, url: "${receiver.hook}", secret: { env: HOOK_SECRET }, allowPrivate: true, budget: { requests: 200, per: 1s } }
`,
  );
}, 60_000);
afterAll(async () => {
  await receiver.close();
  await workspace.close();
});

const start = (): Running =>
  startLockstep(['start', '--config', 'lockstep.yaml', '--json'], {
    ...workspace,
    env: { ...workspace.env, HOOK_SECRET: SECRET },
  });

/** Gives each task of this round another status. */
async function turn(ids: readonly string[], isCompleted: boolean): Promise<void> {
  await Promise.all(
    ids.map(async (id) => {
      const answered = await fetch(`${workspace.url}/api/v1/tasks/${id}/saveCheckStatus`, {
        method: 'PUT',
        headers: { API_KEY: KEY, 'content-type': 'application/json' },
        body: JSON.stringify({ isCompleted }),
      });
      expect(answered.status).toBe(200);
    }),
  );
}

const heard = () => receiver.events as readonly Event[]; // safe: the receiver has checked them

/** The last event that the receiver got for each task. */
function lastHeard(): ReadonlyMap<string, boolean> {
  return new Map(heard().map(({ data }) => [data.task.id, data.task.isCompleted]));
}

async function tasksThere(): Promise<ReadonlyMap<string, boolean>> {
  const found = await workspace.database.pool.query<{ id: string; done: boolean }>(
    `select id::text, (fields->>'isCompleted')::boolean as done from service.tasks order by id`,
  );
  return new Map(found.rows.map(({ id, done }) => [id, done]));
}

test('despite killed processes the receiver gets the last state of every task, in order, repeats under one id', async () => {
  const ids = [...(await tasksThere()).keys()];
  const processes = [start(), start()];
  await expect.poll(() => lastHeard().size).toBe(ids.length);
  for (let round = 0; round < ROUNDS; round++) {
    const before = heard().length;
    await turn(ids, round % 2 === 0);
    await expect.poll(() => heard().length, { interval: 5 }).toBeGreaterThan(before);
    processes.shift()?.signal('SIGKILL');
    processes.push(start());
  }
  await expect.poll(lastHeard).toEqual(await tasksThere());
  expect(receiver.problems).toEqual([]);
  for (const id of ids) {
    const sequences = heard()
      .filter(({ data }) => data.task.id === id)
      .map(({ data }) => data.sequence);
    expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
  }
  const bodies = new Map(receiver.requests.map(({ headers, body }) => [`${headers['webhook-id']} ${body}`, body]));
  expect(bodies.size).toBe(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])).size);
  for (const running of processes) {
    await running.ready(); // before that, a signal ends it like any process
    running.signal('SIGTERM');
  }
  for (const { ended } of processes) expect((await ended).code).toBe(0);
}, 200_000);
