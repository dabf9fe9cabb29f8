/** Child processes of a benchmark, which communicate over IPC. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { bundlePrograms } from '../.ci/build.ts';
import type { BehaviourOptions } from '../src/service/testbed/behaviour.ts';
import type { BareFigures } from './bare-process.ts';
import type { Answer, Ask } from './service-process.ts';
import type { SyncFigures } from './sync-process.ts';

export const CONCURRENCY = 16;
export const ROWS_PER_PAGE = 500;

export interface Bench {
  start(behaviour: BehaviourOptions): Promise<void>;
  /** A fresh tenant with this many contacts, a tenth of them customers already. */
  tenant(contacts: number): Promise<Tenant>;
  traffic(): Promise<Required<Omit<Answer, 'url'>>>;
  bare(tenant: Tenant, imports: number): Promise<BareFigures>;
  /** Runs the sync `times` times in one process, with `helpers` more processes beside it. */
  sync(tenant: Tenant, options?: { times?: number; budget?: string; helpers?: number }): Promise<SyncFigures>;
  close(): Promise<void>;
}

export interface Tenant {
  readonly name: string;
  readonly key: string;
  readonly contacts: number;
}

/** More than any load uses. */
export const FREE_BUDGET = `{ requests: 100000, per: 1s, concurrency: ${CONCURRENCY} }`;

/** The embedded service in its own process, with its data in `dir`; `ask` sends it a request. */
export async function openBenchService(
  dir: string,
): Promise<{ readonly service: ChildProcess; readonly ask: (question: Ask) => Promise<Answer> }> {
  const service = run('service-process', [path.join(dir, 'service')]);
  await once(service, 'message');
  let asking: Promise<unknown> = Promise.resolve();
  const ask = (question: Ask): Promise<Answer> => {
    // One request at a time: answers come back in order and carry no number.
    const answered = asking.then(async () => {
      service.send(question);
      const [answer] = await once(service, 'message');
      return answer as Answer; // safe: the process answers nothing else
    });
    asking = answered;
    return answered;
  };
  return { service, ask };
}

export async function openBench(): Promise<Bench> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-bench-'));
  const { service, ask } = await openBenchService(dir);
  let url = '';
  let tenants = 0;
  return {
    async start(behaviour) {
      url = (await ask({ start: behaviour })).url ?? '';
    },
    async tenant(contacts) {
      const tenant = { name: `tenant-${++tenants}`, key: `the-key-of-tenant-number-${tenants}`, contacts };
      await ask({ seed: tenant });
      return tenant;
    },
    traffic: async () => (await ask({ traffic: true })) as Required<Answer>,
    bare: (tenant, imports) => {
      const numbers = [tenant.contacts, imports, CONCURRENCY, ROWS_PER_PAGE].map(String);
      return figuresOf<BareFigures>(run('bare-process', [url, tenant.key, ...numbers]));
    },
    async sync(tenant, { times = 1, budget = FREE_BUDGET, helpers = 0 } = {}) {
      const settings = `
accounts: { bench: { url: "${url}", apiKey: { env: BENCH_KEY }, budget: ${budget} } }
syncs: { contacts: { job: contacts, account: bench, options: { rowsPerPage: ${ROWS_PER_PAGE} } } }`;
      const args = [path.join(dir, tenant.name), settings];
      const env = { BENCH_KEY: tenant.key };
      const beside = Array.from({ length: helpers }, () => run('sync-process', ['help', ...args], env));
      await Promise.all(beside.map((helper) => once(helper, 'message')));
      try {
        return await figuresOf<SyncFigures>(run('sync-process', ['sync', ...args, String(times)], env));
      } finally {
        for (const helper of beside) helper.disconnect();
        await Promise.all(beside.map((helper) => once(helper, 'exit')));
      }
    },
    async close() {
      service.disconnect();
      await once(service, 'exit');
      await rm(dir, { recursive: true, force: true });
    },
  };
}

const PROGRAMS = path.join(os.tmpdir(), `lockstep-bench-programs-${process.pid}`);
const SMALL_HEAP = new URL('../src/cli/bin/small-heap.mjs', import.meta.url).href;

/** Bundles the processes of this folder, as the package is, until this one ends: the loader of sources needs memory and time. */
export async function bundleProcesses(): Promise<void> {
  const names = (await readdir(import.meta.dirname)).filter((name) => name.endsWith('-process.ts'));
  await mkdir(PROGRAMS);
  process.once('exit', () => rmSync(PROGRAMS, { recursive: true, force: true }));
  await bundlePrograms(
    names.map((name) => path.join(import.meta.dirname, name)),
    PROGRAMS,
  );
}

/** Starts one of the bundled processes. `by`: the command that starts it, such as on another host; default: none. */
export function run(
  name: string,
  args: readonly string[],
  env: Record<string, string> = {},
  by: readonly string[] = [],
): ChildProcess {
  const file = path.join(PROGRAMS, 'bench', `${name}.js`);
  const node = [process.execPath, '--max-semi-space-size=8', '--import', SMALL_HEAP]; // as bin/lockstep.mjs
  const [execPath = process.execPath, ...execArgv] = [...by, ...node];
  return fork(file, args, { env: { ...process.env, ...env }, execPath, execArgv });
}

/** The last message of a process before it ends. */
export async function figuresOf<T>(child: ChildProcess): Promise<T> {
  let figures: T | undefined;
  child.on('message', (message) => {
    figures = message as T; // safe: the process sends nothing else
  });
  const [code] = await once(child, 'exit');
  if (figures === undefined) throw new Error(`a benchmark process ended with ${code} and no figures`);
  return figures;
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** NaN for an empty list. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * q)] ?? Number.NaN;
}

/** Calls a second between the first tenth and the last tenth of them: at the start and the end, rows do not always wait. */
export async function paceWhileRowsWait(bench: Pick<Bench, 'traffic'>, running: Promise<unknown>): Promise<number> {
  const samples: { readonly atMs: number; readonly total: number }[] = [];
  const sampling = setInterval(async () => {
    const { total } = await bench.traffic();
    samples.push({ atMs: performance.now(), total });
  }, 200);
  await running.finally(() => clearInterval(sampling));
  const all = samples.at(-1)?.total ?? 0;
  const inside = samples.filter(({ total }) => total > all * 0.1 && total < all * 0.9);
  const [first, last] = [inside[0], inside.at(-1)];
  if (!first || !last) throw new Error('the run was too short to be measured');
  return ((last.total - first.total) * 1000) / (last.atMs - first.atMs);
}
