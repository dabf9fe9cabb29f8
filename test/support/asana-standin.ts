/** Asana's tasks, as far as the target uses them: developers.asana.com/reference/tasks. */

import { openAsana } from '../../src/mirror/targets/asana.ts';
import type { SettingsOf } from '../../src/settings/target.ts';
import { type ItemVendor, secretRef, TOKEN } from './item-vendor.ts';
import { openApiContract } from './vendor-contract.ts';
import { startVendor } from './vendor-standin.ts';

export interface AsanaTask {
  readonly gid: string;
  completed: boolean;
  readonly name: string;
  readonly notes: string;
}

export interface AsanaVendor extends ItemVendor {
  readonly tasks: AsanaTask[];
}

export function asanaSettings(given: Partial<SettingsOf<'asana'>> = {}): SettingsOf<'asana'> {
  return {
    name: 'outside',
    type: 'asana',
    url: 'https://app.asana.com/api/1.0',
    token: secretRef(TOKEN),
    project: '555',
    create: true,
    columns: {},
    budget: { requests: 2, perMs: 1000, burst: 2, concurrency: 4 },
    timeoutMs: 15_000,
    allowPrivate: false,
    ...given,
  };
}

export async function startAsana(): Promise<AsanaVendor> {
  const tasks: AsanaTask[] = [];
  const missing = { status: 404, body: { errors: [{ message: 'task: Unknown object' }] } };
  const add = (name: string, notes: string, completed = false) => {
    const task = { gid: String(1200 + tasks.length), name, notes, completed };
    tasks.push(task);
    return task;
  };
  const taskAt = (gid: string | undefined) => tasks.find((task) => task.gid === gid);
  const list = (query: URLSearchParams) => {
    const [from, size] = [Number(query.get('offset') ?? 0), Number(query.get('limit'))];
    const next = from + size < tasks.length ? { offset: String(from + size) } : null;
    return { body: { data: tasks.slice(from, from + size), next_page: next } };
  };

  const vendor = await startVendor(
    openApiContract('asana'),
    { authorization: new RegExp(`^Bearer ${TOKEN}$`), accept: /^application\/json$/ },
    [
      {
        method: 'GET',
        path: /^\/tasks\/(\d+)$/,
        answer: (_, [, gid]) => (taskAt(gid) === undefined ? missing : { body: { data: taskAt(gid) } }),
      },
      {
        method: 'PUT',
        path: /^\/tasks\/(\d+)$/,
        answer({ body }, [, gid]) {
          const task = taskAt(gid);
          if (task !== undefined) task.completed = JSON.parse(body).data.completed;
          return task === undefined ? missing : { body: { data: task } };
        },
      },
      {
        method: 'GET',
        path: /^\/tasks$/,
        answer: ({ query }) => list(query),
      },
      {
        method: 'POST',
        path: /^\/tasks$/,
        answer({ body }) {
          const { name, notes, projects } = JSON.parse(body).data;
          if (projects[0] !== '555') return { status: 400, body: { errors: [{ message: 'projects: ?' }] } };
          return { status: 201, body: { data: add(name, notes) } };
        },
      },
    ],
  );
  return {
    vendor,
    tasks,
    openTarget: (needs, { create }) => openAsana(asanaSettings({ create }), needs),
    put: (isCompleted) => add('Old', '', isCompleted).gid,
    isCompleted: (itemId) => taskAt(itemId)?.completed === true,
    count: () => tasks.length,
    isWrite: ({ method }) => method === 'PUT',
    isCreation: ({ method }) => method === 'POST',
    missing,
  };
}
