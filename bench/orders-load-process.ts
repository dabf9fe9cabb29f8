/**
 * One process that loads CSVs of orders, measured from outside: the first file alone, or small files `behind` it while it is
 * being sent, after other files of their size were loaded alone.
 *   node orders-load-process.ts LOADING_JSON
 */
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pino from 'pino';
import { codeOf } from '../src/base/errors.ts';
import { openWorkspace } from '../src/cli/workspace/open-workspace.ts';
import type { Lane } from '../src/client/budget/budget.ts';
import { countRows } from '../src/engine/ledger/rows.ts';
import { type Run, readRun } from '../src/engine/ledger/runs.ts';
import { parseSettings } from '../src/settings/parse.ts';
import { receiveLoad } from '../src/syncs/orders/receive-load.ts';
import { writeResults } from '../src/syncs/orders/results.ts';
import { type Cost, ledgerBytes, measureCost, peakMemoryMb } from './cost.ts';

export interface Loading {
  readonly dataDir: string;
  /** Their account is called bench. */
  readonly settings: string;
  readonly file: string;
  /** Files that are loaded before it, each alone. */
  readonly alone?: readonly string[];
  /** Files that are loaded one after another while `file` is being sent; `file` is left unfinished then. */
  readonly behind?: readonly string[];
  /** The lane of all files except `file`, which is batch work. */
  readonly lane?: Lane;
  /** Writes the results of `file` too. */
  readonly withResults?: boolean;
}

export interface LoadingFigures {
  /** From the first byte read to the end of the audit. */
  readonly ms: number;
  readonly calls: number;
  readonly created: number;
  /** The time by step: receiving the file (`receive`), the run's phases, and writing the results. */
  readonly phases: Readonly<Record<string, number>>;
  /** The cost by step of the file that was loaded last, without its results. */
  readonly costs: Readonly<Record<string, Cost>>;
  readonly aloneMs: readonly number[];
  readonly behindMs: readonly number[];
  readonly peakRssMb: number;
  readonly ledgerBytes: number;
  /** For loading `file`, without its results. */
  readonly cost: Cost;
  /** The most rows that the queue's tables ever held. */
  readonly queued: Queued;
}

export interface Queued {
  readonly jobs: number;
  readonly events: number;
}

const LOOK_MS = 100;
const IS_UNDER_WAY = 2_000;
const UNDEFINED_TABLE = '42P01';
const UNDEFINED_SCHEMA = '3F000';

const loading: Loading = JSON.parse(process.argv[2] ?? '{}');
const parsed = parseSettings({ text: loading.settings, file: 'bench.yaml', env: {} });
if (parsed.status !== 'valid') throw new Error(JSON.stringify(parsed.problems));
const { dataDir, lane = 'batch' } = loading;
const log = pino({ level: 'warn' }, pino.destination(2));
const workspace = await openWorkspace({ settings: parsed.settings, dataDir, env: process.env, log });
const { pool } = workspace.database;
const runner = await workspace.work();
let queued: Queued = { jobs: 0, events: 0 };
const phases: Record<string, number> = {};
const costs: Record<string, Cost> = {};
await queueIsUp();

const aloneMs: number[] = [];
const behindMs: number[] = [];
for (const file of loading.alone ?? []) {
  aloneMs.push((await load(file, lane)).ms);
  await delay(1_000); // the budget refills
}
const { behind } = loading;
const costOf = await measureCost(pool);
const { ms, run } =
  behind === undefined ? await load(loading.file, 'batch', phases) : await loadBehind(loading.file, behind);
const cost = await costOf();
if (loading.withResults)
  await timed('results', () => writeResults(pool, run.id, { dir: path.join(dataDir, 'results') }));
const { created } = await countRows(pool, run.id);
const bytes = await ledgerBytes(pool);
await workspace.close();
const peakRssMb = await peakMemoryMb();
const { calls } = run;
const figures: LoadingFigures = {
  ...{ ms, calls, created, phases, costs, aloneMs, behindMs, peakRssMb, cost, queued },
  ledgerBytes: bytes,
};
process.send?.(figures);
process.disconnect?.();

async function load(
  file: string,
  inLane: Lane,
  inPhases: Record<string, number> = {},
): Promise<{ ms: number; run: Run }> {
  const startedAt = performance.now();
  let step = 'receive';
  let costOfStep = await measureCost(pool);
  const begun = await begin(file, inLane);
  inPhases.receive = performance.now() - startedAt;
  let lookedAt = performance.now();
  for (let looks = 0; ; looks++) {
    await delay(LOOK_MS);
    const { phase, isOver } = await lookAtRun(begun.id);
    inPhases[phase] = (inPhases[phase] ?? 0) + performance.now() - lookedAt;
    lookedAt = performance.now();
    if (phase !== step) {
      costs[step] = await costOfStep();
      [step, costOfStep] = [phase, await measureCost(pool)];
    }
    if (looks % 10 === 0) await lookAtQueue();
    if (!isOver) continue;
    const ms = performance.now() - startedAt;
    const run = await readRun(pool, begun.id);
    if (run.status === 'done') return { ms, run };
    throw new Error(`the load ended as ${run.status}: ${run.error}`);
  }
}

/** Reads no more than is needed: its CPU counts as the load's. */
async function lookAtRun(id: string): Promise<{ readonly phase: string; readonly isOver: boolean }> {
  const found = await pool.query<{ phase: string; isOver: boolean }>({
    name: 'look-at-run',
    text: `select coalesce(phase, 'ended') as phase, status <> 'running' as "isOver" from ledger.runs where id = $1`,
    values: [id],
  });
  const [run] = found.rows;
  if (!run) throw new Error(`run ${id} is gone`);
  return run;
}

async function loadBehind(file: string, small: readonly string[]): Promise<{ ms: number; run: Run }> {
  const startedAt = performance.now();
  const { id } = await begin(file, 'batch');
  while ((await readRun(pool, id)).calls < IS_UNDER_WAY) await delay(LOOK_MS);
  for (const one of small) behindMs.push((await load(one, lane)).ms);
  return { ms: performance.now() - startedAt, run: await readRun(pool, id) };
}

async function begin(source: string, inLane: Lane): Promise<Run> {
  const { begun } = await receiveLoad(pool, {
    account: await workspace.accounts.open('bench'),
    source,
    choices: {},
    options: { existing: 'skip', createCustomers: false, confirm: false },
    lane: inLane,
    dryRun: false,
    spoolDir: path.join(dataDir, 'received'),
    signal: new AbortController().signal,
  });
  const run = await readRun(pool, begun.run.id);
  await runner.attend(run);
  return run;
}

/** The first worker on a database creates the queue's tables, which does not belong to any load. */
async function queueIsUp(): Promise<void> {
  for (let isUp = false; !isUp; ) {
    isUp = await lookAtQueue().then(
      () => true,
      (error: unknown) => {
        if (codeOf(error) !== UNDEFINED_TABLE && codeOf(error) !== UNDEFINED_SCHEMA) throw error;
        return delay(LOOK_MS, false);
      },
    );
  }
}

async function timed(what: string, work: () => Promise<unknown>): Promise<void> {
  const startedAt = performance.now();
  await work();
  phases[what] = performance.now() - startedAt;
}

async function lookAtQueue(): Promise<void> {
  const counted = await pool.query<Queued>(
    'select (select count(*) from bullmq.job)::int as jobs, (select count(*) from bullmq.event)::int as events',
  );
  for (const { jobs, events } of counted.rows)
    queued = { jobs: Math.max(queued.jobs, jobs), events: Math.max(queued.events, events) };
}
