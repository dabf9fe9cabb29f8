/**
 * One worker process, measured from outside: `sync` runs the contact sync TIMES times, `help` only works beside another
 * process until it receives the message to stop.
 *   node sync-process.ts sync|help DATA_DIR SETTINGS_YAML TIMES
 */
import pino from 'pino';
import { openWorkspace } from '../src/cli/workspace/open-workspace.ts';
import { countRows } from '../src/engine/ledger/rows.ts';
import { readRun } from '../src/engine/ledger/runs.ts';
import { parseSettings } from '../src/settings/parse.ts';
import { type Cost, ledgerBytes, measureCost, peakMemoryMb } from './cost.ts';

export interface SyncFigures {
  readonly runs: readonly {
    readonly ms: number;
    readonly calls: number;
    readonly created: number;
    readonly scan: string;
    readonly cost: Cost;
  }[];
  readonly peakRssMb: number;
  readonly ledgerBytes: number;
}

const [, , role, dataDir = '', text = '', times = '1'] = process.argv;
const parsed = parseSettings({ text, file: 'bench.yaml', env: {} });
if (parsed.status !== 'valid') throw new Error(JSON.stringify(parsed.problems));
const log = pino({ level: 'warn' }, pino.destination(2));
const workspace = await openWorkspace({ settings: parsed.settings, dataDir, env: process.env, log });
const runner = await workspace.work();

if (role === 'help') {
  process.send?.({});
  process.once('disconnect', () => void workspace.close());
} else {
  const runs = [];
  for (let i = 0; i < Number(times); i++) {
    const costOf = await measureCost(workspace.database.pool);
    const startedAt = performance.now();
    const begun = await workspace.startSync('contacts', { lane: 'batch', dryRun: false });
    await runner.attend(begun.run);
    const run = await untilEnded(begun.run.id);
    if (run.status !== 'done') throw new Error(`the run ended as ${run.status}: ${run.error}`);
    const { created } = await countRows(workspace.database.pool, run.id);
    const ms = performance.now() - startedAt;
    runs.push({ ms, calls: run.calls, created, scan: run.scan ?? 'none', cost: await costOf() });
  }
  const bytes = await ledgerBytes(workspace.database.pool);
  await workspace.close();
  const figures: SyncFigures = { runs, peakRssMb: await peakMemoryMb(), ledgerBytes: bytes };
  process.send?.(figures);
  process.disconnect?.();
}

async function untilEnded(id: string) {
  for (;;) {
    const run = await readRun(workspace.database.pool, id);
    if (run.status !== 'running') return run;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
