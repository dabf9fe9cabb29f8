/** One drawn service with its account: how its runs are started, and whether they went well. */
import { statementFor } from '../../src/base/reasons/reasons.ts';
import type { Workspace } from '../../src/cli/workspace/open-workspace.ts';
import { countRows } from '../../src/engine/ledger/rows.ts';
import { type Run, readRun } from '../../src/engine/ledger/runs.ts';
import { reportRows } from '../../src/engine/ledger/views/row-pages.ts';
import type { FreshDatabase } from './database.ts';
import type { Drawn, Random } from './drawn-service.ts';
import { type Progress, ended as stopped } from './harness/ended.ts';
import type { RandomService } from './random-service.ts';

export interface World {
  /** Of its account, and in the names of its syncs. */
  readonly n: number;
  readonly drawn: Drawn;
  readonly random: Random;
  readonly service: RandomService;
  readonly workspace: Workspace;
  /** The processes that work on its runs are killed; otherwise the workspace does. */
  readonly isKilled: boolean;
  readonly database: FreshDatabase;
  readonly dataDir: string;
  readonly why: { refused: string[]; wrong: string[] };
}

export const nameOf = (n: number) => `account-${n}`;

/** True if the run is done and every row succeeded; otherwise reports why not. */
export async function sync(world: World, name: string, step: string): Promise<boolean> {
  const begun = await world.workspace.startSync(name, { lane: 'batch', dryRun: false });
  await attend(world, begun.run);
  const run = await ended(world, begun.run.id);
  return isWell(world, run, step);
}

/** Has the workspace work on the run at once; other processes find it. */
export async function attend({ workspace, isKilled }: World, run: Run): Promise<void> {
  if (!isKilled) await (await workspace.work()).attend(run);
}

export async function isWell({ database, why }: World, run: Run, step: string): Promise<boolean> {
  if (run.status !== 'done') {
    why.refused.push(`${step}: ${run.status}: ${run.errorCode}: ${run.error}`);
    return false;
  }
  const { review, rejected, invalid, unknown } = await countRows(database.pool, run.id);
  if (run.scan === 'unproven' && run.type === 'contacts')
    why.refused.push(`${step}: unproven: ${run.notes.join('; ')}`);
  if (review + rejected + invalid + unknown === 0) return run.scan !== 'unproven' || run.type !== 'contacts';
  const reasons = new Set<string>();
  for await (const row of reportRows(database.pool, run.id)) {
    if (['review', 'rejected', 'invalid', 'unknown'].includes(row.verdict))
      reasons.add(`${row.reason}: ${statementFor(row.reason, row.facts)}`);
  }
  const notes = run.notes.map((note) => ` | ${note}`);
  const rows = review + rejected + invalid + unknown;
  why.refused.push(`${step}: ${rows} rows: ${[...reasons].slice(0, 2).join(' | ')}${notes.join('')}`);
  return false;
}

/** A run that does not end is as wrong as one that ends wrong. */
export async function ended(
  { database, why }: World,
  runId: string,
  hasStopped?: (run: Progress) => boolean,
): Promise<Run> {
  return stopped(database, runId, { ...(hasStopped && { hasStopped }), timeout: 240_000 }).catch(async () => {
    const run = await readRun(database.pool, runId);
    const rows = await database.pool.query(
      'select state, verdict, reason, count(*)::int as n from ledger.rows where run_id = $1 group by 1, 2, 3',
      [runId],
    );
    const seen = `${run.error ?? ''} ${run.notes.join('; ')} ${JSON.stringify(rows.rows)}`;
    why.wrong.push(`run ${runId} is still running (${run.phase}): ${seen}`);
    return run;
  });
}
