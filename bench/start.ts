/** How long the built command takes to start, as multiples of `node -e 0`, measured alternately; and how long the build takes. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { buildPackage } from '../.ci/build.ts';
import { median } from './processes.ts';
import type { Row } from './table.ts';

const TIMES = 21;
const BUILD_WANTED_MS = 2_000;
const program = path.join(import.meta.dirname, '../src/cli/bin/lockstep.mjs');

export async function start(): Promise<readonly Row[]> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-bench-'));
  const buildMs = await took(buildPackage);
  const args = ['start', '--roles', 'service', '--port', '0', '--data', dir, '--json'];
  const keepsWarm = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await once(keepsWarm.stdout, 'data');
    return [
      {
        what: 'npm run build, without the start of npm',
        wanted: '< 2 s',
        got: `${(buildMs / 1_000).toFixed(1)} s`,
        isMet: buildMs < BUILD_WANTED_MS,
      },
      ...ratios([
        { what: '--help', args: ['--help'], most: 5 },
        { what: 'settings check', args: ['settings', 'check'], most: 8 },
        { what: 'runs, on an embedded Postgres that runs', args: ['runs', '--data', dir], most: 10 },
      ]),
    ];
  } finally {
    const exited = once(keepsWarm, 'exit');
    keepsWarm.kill('SIGTERM');
    await exited;
    await rm(dir, { recursive: true, force: true });
  }
}

interface Command {
  readonly what: string;
  readonly args: readonly string[];
  /** In multiples of `node -e 0`. */
  readonly most: number;
}

function ratios(commands: readonly Command[]): readonly Row[] {
  const bare: number[] = [];
  const measured = commands.map((command) => ({ ...command, timesMs: [] as number[] }));
  for (let time = 0; time < TIMES; time++) {
    bare.push(runMs(['-e', '0']));
    for (const { args, timesMs } of measured) timesMs.push(runMs([program, ...args]));
  }
  return measured.map(({ what, most, timesMs }) => {
    const ratio = median(timesMs) / median(bare);
    const got = `${ratio.toFixed(1)} × (${median(timesMs).toFixed(0)} ms against ${median(bare).toFixed(0)} ms)`;
    return { what, wanted: `≤ ${most} ×`, got, isMet: ratio <= most };
  });
}

function runMs(args: readonly string[]): number {
  const startedAtMs = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`);
  return performance.now() - startedAtMs;
}

async function took(work: () => Promise<void>): Promise<number> {
  const startedAtMs = performance.now();
  await work();
  return performance.now() - startedAtMs;
}
