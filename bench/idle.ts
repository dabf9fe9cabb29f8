/** What `lockstep start` costs while it has nothing to do: CPU and memory of its process, and CPU of its Postgres. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { buildPackage } from '../.ci/build.ts';
import { postmasterOf } from '../test/support/processes.ts';
import { cpuMsOf, familyCpuMs, memoryMb } from './cost.ts';
import type { Row } from './table.ts';

/** Until the work of the start is over. */
const SETTLING_MS = 20_000;
const MEASURED_MS = 60_000;
const MOST_CPU = 0.01;
const MOST_MB = 150;
const program = path.join(import.meta.dirname, '../src/cli/bin/lockstep.mjs');

export async function idle(): Promise<readonly Row[]> {
  const dir = await fs.mkdtemp(path.join(os.tmpdir(), 'lockstep-bench-'));
  await buildPackage();
  const args = [program, 'start', '--port', '0', '--data', dir, '--json'];
  const started = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await once(started.stdout, 'data');
    const pid = started.pid ?? 0;
    const postmaster = postmasterOf(dir);
    await delay(SETTLING_MS);
    const before = { node: await cpuMsOf(pid), postgres: await familyCpuMs(postmaster) };
    await delay(MEASURED_MS);
    const cpu = ((await cpuMsOf(pid)) - before.node) / MEASURED_MS;
    const postgres = ((await familyCpuMs(postmaster)) - before.postgres) / MEASURED_MS;
    const mb = await memoryMb(pid, 'VmRSS');
    const percent = (share: number) => `${(share * 100).toFixed(2)}%`;
    return [
      {
        what: 'lockstep start without work: CPU of its process, of one core',
        wanted: `< ${percent(MOST_CPU)}`,
        got: `${percent(cpu)}; its Postgres ${percent(postgres)}`,
        isMet: cpu < MOST_CPU,
      },
      { what: 'the same: RSS', wanted: `< ${MOST_MB} MB`, got: `${mb.toFixed(0)} MB`, isMet: mb < MOST_MB },
    ];
  } finally {
    const exited = once(started, 'exit');
    started.kill('SIGTERM');
    await exited;
    await fs.rm(dir, { recursive: true, force: true });
  }
}
