/** Pipelines as a source of changes: each pipeline is read whole, and its cards are tasks whose status is their column. */
import { idOf, toWireId } from '../client/dialect.ts';
import { addNote, recordProgress } from '../engine/ledger/runs.ts';
import { presentIds } from '../engine/ledger/task-versions.ts';
import type { TaskState } from '../targets/target.ts';
import type { JobContext } from '../worker/job.ts';
import { readCall } from '../worker/reads.ts';
import { RunFailed } from '../worker/trouble.ts';
import { cardsOf } from './cards.ts';
import type { TasksOptions } from './options.ts';
import { listReader } from './read-lists.ts';
import { keepSeen, rowId, type Watching } from './watching.ts';

export interface CardsScanned {
  /** The lists that were read to their end, as the ledger calls them. */
  readonly lists: readonly string[];
  /** Known cards that no pipeline holds; none where one of them could not be read. */
  readonly missing: readonly string[];
}

/** What the ledger calls all pipelines together: what comes in a pipeline that is new after that is a change. */
const ALL = 'pipelines';
const listOf = (pipelineId: string) => `pipeline:${pipelineId}`;

export async function scanPipelines(
  context: JobContext<TasksOptions>,
  watching: Watching,
  scannedBefore: ReadonlySet<string>,
): Promise<CardsScanned> {
  const { pool, run, options } = context;
  if (options.pipelines === false) return { lists: [], missing: [] };
  const ids = options.pipelines === true ? await allPipelines(context) : options.pipelines;
  const lists: string[] = [];
  for (const id of new Set(ids)) {
    const isFirstScan = !scannedBefore.has(listOf(id)) && !scannedBefore.has(ALL);
    const read = await readPipeline(context, id);
    if (read.status === 'refused') {
      await addNote(pool, run.id, `pipeline ${id} could not be read: ${read.why.message}`);
      continue;
    }
    const { cards, readAtMs } = read;
    await keepSeen(watching, 'card', cards, { readAtMs, isSilent: isFirstScan && !options.backfill });
    for (const card of cards) watching.seen.add(rowId(card));
    if (cards.length > 0) await recordProgress(pool, run.id, { rowsSeen: cards.length });
    lists.push(listOf(id));
  }
  const isComplete = lists.length === new Set(ids).size;
  if (options.pipelines === true && isComplete) lists.push(ALL);
  return { lists, missing: isComplete ? await missingCards(watching) : [] };
}

/** Of all known cards: a card may go from one pipeline to another, and one of a pipeline that is gone is gone with it. */
async function missingCards({ pool, run, seen }: Watching): Promise<readonly string[]> {
  const missing: string[] = [];
  for await (const ids of presentIds(pool, run, 'card')) {
    missing.push(...ids.filter((id) => !seen.has(rowId({ kind: 'card', id }))));
  }
  return missing;
}

async function allPipelines(context: JobContext<TasksOptions>): Promise<readonly string[]> {
  const { account } = context;
  const pipelines = await listReader(context, 'pipelines.getall', 'pipelines')({});
  return pipelines.flatMap((pipeline) => idOf(pipeline, 'pipelines', account.dialect) ?? []);
}

type Read =
  | { readonly status: 'read'; readonly cards: readonly TaskState[]; readonly readAtMs: number }
  | { readonly status: 'refused'; readonly why: RunFailed };

async function readPipeline(
  { pool, run, account, options, signal }: JobContext<TasksOptions>,
  id: string,
): Promise<Read> {
  const done = new Set(options.doneColumns.map((name) => name.trim().toLowerCase()));
  const readAtMs = performance.now();
  try {
    const answer = await readCall(account, 'pipelines.get', {
      lane: run.lane,
      signal,
      query: { pipeline_id: toWireId(id) },
      onCalls: (made) => recordProgress(pool, run.id, made),
    });
    const read = cardsOf(answer.content, id, (column) => done.has(column.trim().toLowerCase()));
    if (read.status === 'read') return { ...read, readAtMs };
    const message = `The service's answer to pipelines.get for pipeline ${id} ${read.why}. Lockstep recognises columns (or stages, lists, lanes) that hold cards, or cards beside them that name their column. Leave pipelines out of the options of sync "${run.sync}" to go on without them.`;
    throw new RunFailed('SERVICE_UNREADABLE', message);
  } catch (error) {
    if (error instanceof RunFailed && error.code === 'SERVICE_REFUSED') return { status: 'refused', why: error };
    throw error;
  }
}
