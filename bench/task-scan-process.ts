/**
 * One worker process that scans tasks, measured from outside: once for the baseline, a second time when it receives a message,
 * and a third time right after.
 *   node task-scan-process.ts DATA_DIR SETTINGS_YAML
 */
import { once } from 'node:events';
import pino from 'pino';
import { openWorkspace } from '../src/cli/workspace/open-workspace.ts';
import { endRun } from '../src/engine/ledger/run-status.ts';
import { readRun } from '../src/engine/ledger/runs.ts';
import { parseSettings } from '../src/settings/parse.ts';
import { peakMemoryMb } from './cost.ts';

export interface ScanFigures {
  readonly ms: number;
  readonly calls: number;
  readonly scan: string;
  readonly changes: number;
}

export interface TaskScanFigures {
  readonly scans: readonly ScanFigures[];
  readonly peakRssMb: number;
}

const [, , dataDir = '', text = ''] = process.argv;
const parsed = parseSettings({ text, file: 'bench.yaml', env: {} });
if (parsed.status !== 'valid') throw new Error(JSON.stringify(parsed.problems));
const log = pino({ level: 'warn' }, pino.destination(2));
const workspace = await openWorkspace({ settings: parsed.settings, dataDir, env: process.env, log });
const { pool } = workspace.database;
const runner = await workspace.work();
const scans = [await scan()];
process.send?.({});
await once(process, 'message');
scans.push(await scan(), await scan());
await workspace.close();
const figures: TaskScanFigures = { scans, peakRssMb: await peakMemoryMb() };
process.send?.(figures);
process.disconnect?.();

/** Until the changes are in the outbox; the delivery is not measured. */
async function scan(): Promise<ScanFigures> {
  const startedAt = performance.now();
  const { run: begun } = await workspace.startSync('mirror', { lane: 'batch', dryRun: false });
  await runner.attend(begun);
  for (;;) {
    const run = await readRun(pool, begun.id);
    if (run.status === 'failed') throw new Error(`the run failed: ${run.error}`);
    if (run.status === 'running' && run.phase === 'scan-tasks') {
      await new Promise((resolve) => setTimeout(resolve, 20));
      continue;
    }
    const ms = performance.now() - startedAt;
    await endRun(pool, run.id, 'done');
    const changed = await pool.query('select 1 from ledger.deliveries where run_id = $1', [run.id]);
    return { ms, calls: run.calls, scan: run.scan ?? 'none', changes: changed.rowCount ?? 0 };
  }
}
