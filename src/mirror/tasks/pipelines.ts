/** Pipelines as a source of changes: each pipeline is read whole, and its cards are tasks whose status is their column. */
import { idOf, toWireId } from '../../client/call/dialect.ts';
import type { TaskState } from '../../contract/target.ts';
import { RunFailed } from '../../engine/account/failure.ts';
import { listReader } from '../../engine/account/list-reader.ts';
import { readCall, readsOf } from '../../engine/account/reads.ts';
import { addNote, recordProgress } from '../../engine/ledger/runs.ts';
import type { JobContext } from '../../engine/worker/job.ts';
import { sourceIdOf } from '../links/item-links.ts';
import { cardsOf } from './cards.ts';
import { missingFrom } from './missing-tasks.ts';
import type { TasksOptions } from './options.ts';
import { orRefused, readWhole } from './read-lists.ts';
import { keepSeen, type Watching } from './watching.ts';

export interface CardsScanned {
  /** The lists that were read to their end, by their names in the ledger. */
  readonly lists: readonly string[];
  /** Known cards that no pipeline holds; empty if one of the pipelines could not be read. */
  readonly missing: readonly string[];
}

/** The name of all pipelines together in the ledger: a card in a pipeline that is new after the baseline is a change. */
const ALL = 'pipelines';
const listOf = (pipelineId: string) => `pipeline:${pipelineId}`;

export async function scanPipelines(
  context: JobContext<TasksOptions>,
  watching: Watching,
  scannedBefore: ReadonlySet<string>,
): Promise<CardsScanned> {
  const { pool, run, options } = context;
  if (options.pipelines === false) return { lists: [], missing: [] };
  const { ids, isWhole } =
    options.pipelines === true ? await allPipelines(context) : { ids: options.pipelines, isWhole: true };
  const lists: string[] = [];
  for (const id of new Set(ids)) {
    const isFirstScan = !scannedBefore.has(listOf(id)) && !scannedBefore.has(ALL);
    const read = await orRefused(() => readPipeline(context, id));
    if (read.status === 'refused') {
      await addNote(pool, run.id, `pipeline ${id} could not be read: ${read.why.message}`);
      continue;
    }
    const { cards, readAtMs } = read;
    await keepSeen(watching, 'card', cards, { readAtMs, isSilent: isFirstScan && !options.backfill });
    for (const card of cards) watching.seen.add(sourceIdOf(card));
    if (cards.length > 0) await recordProgress(pool, run.id, { rowsSeen: cards.length });
    lists.push(listOf(id));
  }
  const isComplete = isWhole && lists.length === new Set(ids).size;
  if (options.pipelines === true && isComplete) lists.push(ALL);
  // Of all known cards: a card may move between pipelines, and the cards of a deleted pipeline are gone with it.
  const seen = { has: (cardId: string) => watching.seen.has(sourceIdOf({ kind: 'card', id: cardId })) };
  return { lists, missing: isComplete ? await missingFrom(pool, run, 'card', seen) : [] };
}

async function allPipelines(context: JobContext<TasksOptions>): Promise<{ ids: readonly string[]; isWhole: boolean }> {
  const { records, isWhole } = await readWhole(context, 'pipelines', listReader(context, 'pipelines'));
  const ids = records.flatMap((pipeline) => idOf(pipeline, 'pipelines', context.account.dialect) ?? []);
  return { ids, isWhole };
}

interface Read {
  readonly status: 'read';
  readonly cards: readonly TaskState[];
  readonly readAtMs: number;
}

async function readPipeline(context: JobContext<TasksOptions>, id: string): Promise<Read> {
  const { run, account, options } = context;
  const done = new Set(options.doneColumns.map((name) => name.trim().toLowerCase()));
  const readAtMs = performance.now();
  const answer = await readCall(account, 'pipelines.get', {
    ...readsOf(context),
    query: { pipeline_id: toWireId(id) },
  });
  const read = cardsOf(answer.content, id, (column) => done.has(column.trim().toLowerCase()));
  if (read.status === 'read') return { ...read, readAtMs };
  const message = `The service's answer to pipelines.get for pipeline ${id} ${read.why}. Lockstep recognises columns (or stages, lists, lanes) that contain cards, or cards beside them that name their column. To continue without pipelines, remove pipelines from the options of sync "${run.sync}".`;
  throw new RunFailed('SERVICE_UNREADABLE', message);
}
