/**
 * One read of a whole list: for the baseline of a run, before its first write, and for every read-back. Says whether a record
 * that is missing from the list does not exist.
 */
import { boundedPipeline } from '../base/bounded-pipeline.ts';
import type { Json } from '../client/call/json.ts';
import { type Kind, singular, type WholeKind } from '../contract/kinds.ts';
import { payAudits } from '../engine/account/audits.ts';
import { isCutOff } from '../engine/account/cut-off-lists.ts';
import { checkShape } from '../engine/account/list-shapes.ts';
import { isMarkedDeleted } from '../engine/account/look-up.ts';
import { readsOf } from '../engine/account/reads.ts';
import { readWholeList } from '../engine/account/whole-list.ts';
import { Witnessing } from '../engine/account/witnessing.ts';
import { areAuditsDue } from '../engine/ledger/audit-debts.ts';
import { addNote } from '../engine/ledger/runs.ts';
import type { Exclusive } from '../engine/worker/exclusive.ts';
import type { JobContext } from '../engine/worker/job.ts';
import type { Queryable } from '../storage/queryable.ts';
import { beginReading } from './read-back.ts';

/** The pass before the first write of a run. */
export const BASELINE = 0;

export interface ListRead {
  /** The list proves absence: its pages are proven, and it shows its witnesses. */
  readonly isWhole: boolean;
}

/** Stores records while more are read: in the order of the calls if they have one of `ids`. */
type Keep = (store: (db: Queryable) => Promise<void>, ids: readonly string[]) => Promise<void>;

/** What a sync takes from the list. */
interface Reader<Seen> {
  toSeen(record: Json): Seen;
  /** `records`: the same, as the list has them. */
  take(batch: readonly Seen[], records: readonly Json[]): Promise<void>;
  /** Called at the end of the list, before everything is stored. */
  takeRest?(): Promise<void>;
  /** Called when everything is stored. False if the list does not show which records are missing. @throws Stop */
  check(): Promise<boolean>;
  /** SQL: which records are the same; for audits. */
  readonly matches: string;
}

/** Begins to read a list. If `isAudit`, the read pays debts, so all records have to be kept that may be theirs. */
export async function openList(context: JobContext<unknown>, exclusive: Exclusive, kind: WholeKind, pass: number) {
  const { pool, run, account } = context;
  const reading = { kind: singular(kind), pass };
  await beginReading(context, exclusive, reading);
  const isAudit = await areAuditsDue(pool, run, reading);
  const keeping = boundedPipeline();
  const keep: Keep = (store, ids) => keeping.begin(() => exclusive.transaction(store), ids);

  /** A record may come more than once. @throws Stop, and what the reader throws */
  async function read<Seen extends { readonly recordId: string }>(reader: Reader<Seen>): Promise<ListRead> {
    const witnesses = await Witnessing.open(context, kind);
    let deleted = 0;
    const list = await readWholeList(account, `${kind}.getall`, {
      ...readsOf(context),
      awaitMore: witnesses.awaitMore,
      onRecords: async (answered) => {
        const records = answered.filter((record) => !isMarkedDeleted(record, kind));
        deleted += answered.length - records.length;
        const batch = records.map((record) => reader.toSeen(record));
        for (const [i, { recordId }] of batch.entries()) witnesses.note(recordId, records[i] ?? null);
        await reader.take(batch, records);
      },
    });
    await reader.takeRest?.();
    await keeping.end();
    if (list.shape) await checkShape(context, kind, list.shape);
    if (list.scan) {
      const { proof, reasons } = list.scan;
      const why = reasons.length === 0 ? '' : `: ${reasons.join('; ')}`;
      await addNote(pool, run.id, `the list of ${kind} came in pages, and its scan is ${proof}${why}`);
    }
    await noteDeleted(context, kind, deleted);
    const isProven = (await reader.check()) && list.scan?.proof !== 'unproven';
    const isPart = await isCutOff(context, kind, list);
    const isWhole = (await witnesses.judge(isProven)) && isProven && !isPart;
    if (isAudit) await payAudits(context, exclusive, { ...reading, isComplete: isWhole, matches: reader.matches });
    return { isWhole };
  }

  return { isAudit, keep, read };
}

/** Records that say that they are deleted are left out of a list: nothing belongs to them, and nothing is made of them. */
export async function noteDeleted({ pool, run }: JobContext<unknown>, kind: Kind, deleted: number): Promise<void> {
  if (deleted > 0)
    await addNote(pool, run.id, `the list of ${kind} has records that are marked as deleted: they were left out`);
}
