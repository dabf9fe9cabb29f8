/**
 * Settles what a run has sent from one read of the list. A row that the list does not show although the service has
 * acknowledged it, or an earlier read has shown it, is looked up by its id: a service may hide records from its list, or show
 * them with other values.
 */
import { formatCount } from '../base/counts.ts';
import type { JsonObject } from '../client/call/json.ts';
import type { WholeKind } from '../contract/kinds.ts';
import { isMarkedDeleted, lookUp } from '../engine/account/look-up.ts';
import { readsOf } from '../engine/account/reads.ts';
import { requireSameTenant } from '../engine/account/same-tenant.ts';
import { beginRead, type Reading, shownInPass, startOfRead } from '../engine/ledger/match-index.ts';
import { addNote } from '../engine/ledger/runs.ts';
import { ledgerNow } from '../engine/ledger/set-clock.ts';
import type { ReadBack, Settled } from '../engine/ledger/settling.ts';
import type { Exclusive } from '../engine/worker/exclusive.ts';
import type { JobContext, JobResult } from '../engine/worker/job.ts';
import type { Queryable } from '../storage/queryable.ts';
import type { Baseline } from './customers/baseline.ts';

export interface ReadBackOf {
  readonly kind: WholeKind;
  readonly pass: number;
  readonly isWhole: boolean;
  readonly baseline: Baseline | undefined;
  /** The job that sends rows again. */
  readonly sender: string;
  settle(db: Queryable, read: Omit<ReadBack, 'settleMs'>): Promise<Settled>;
  /** Stores records that are not in the list. */
  keep(db: Queryable, records: readonly JsonObject[]): Promise<void>;
}

/** A read starts this long after it is due. */
const MARGIN_MS = 20;
/** After this many ids in a row that lead to no record, the service's ids or its look-up mean something else. */
const MOST_IN_VAIN = 20;

/** What follows; undefined if everything is settled. @throws Stop; RunPaused IDENTITY_UNCLEAR if known records are others now */
export async function settleReadBack(
  context: JobContext<unknown>,
  exclusive: Exclusive,
  readBack: ReadBackOf,
): Promise<JobResult | undefined> {
  const settled = await settleLookedUp(context, exclusive, readBack);
  if (!settled) return { status: 'again', inMs: 0 };
  if (settled.ready > 0) return { status: 'next', job: readBack.sender };
  return settled.open > 0 ? { status: 'again', inMs: settled.againInMs + MARGIN_MS } : undefined;
}

/** Undefined if a crash of the database has emptied the read. */
async function settleLookedUp(
  context: JobContext<unknown>,
  exclusive: Exclusive,
  { kind, pass, isWhole, baseline, settle, keep }: ReadBackOf,
): Promise<Settled | undefined> {
  const { pool, run } = context;
  const read = { kind: kind === 'orders' ? 'order' : 'customer', pass } as const;
  const settleNow = (how: Pick<ReadBack, 'isWhole' | 'isLookedUp'>) =>
    exclusive.transaction(async (db) => {
      const readAt = await startOfRead(db, run.id, read);
      return readAt && settle(db, { ...how, pass, readAt });
    });
  const settled = await settleNow({ isWhole, isLookedUp: false });
  if (settled === undefined || settled.toLookUp.length === 0) return settled;
  // The list may lack the rows because it is another tenant's list now.
  const missing = formatCount(settled.toLookUp.length);
  await requireSameTenant(context, `has accepted ${missing} ${kind} that its list does not show`);
  const ids = settled.toLookUp.flatMap(({ id }) => (id === null || baseline?.has(id) ? [] : [id]));
  const shown = await shownInPass(pool, run.id, read, ids);
  const others = ids.filter((id) => !shown.has(id));
  const hidden = await lookUpAll(context, kind, others);
  if (hidden.length > 0) {
    await exclusive.transaction((db) => keep(db, hidden));
    const what = `the list of ${kind} does not show every record that the service returns by its id`;
    await addNote(pool, run.id, `${what}: records missing from it may exist, so none of them are sent again`);
  }
  return settleNow({ isWhole: isWhole && hidden.length === 0, isLookedUp: true });
}

/** Records that a list does not show, and may hide; those that say that they are deleted are not among them. */
export async function lookUpHidden(
  context: JobContext<unknown>,
  kind: WholeKind,
  ids: readonly string[],
): Promise<readonly JsonObject[]> {
  return (await lookUpAll(context, kind, ids)).filter((record) => !isMarkedDeleted(record, kind));
}

/** Those that exist; not all of them if the service cannot be asked. @throws if the run is stopped */
async function lookUpAll(
  context: JobContext<unknown>,
  kind: ReadBackOf['kind'],
  ids: readonly string[],
): Promise<readonly JsonObject[]> {
  const { run, account, signal, log } = context;
  const found: JsonObject[] = [];
  let inVain = 0;
  for (const id of ids) {
    try {
      const one = await lookUp(account, kind, id, readsOf(context));
      inVain = one.status === 'found' ? 0 : inVain + 1;
      if (one.status === 'found') found.push(one.record);
    } catch (error) {
      if (signal.aborted) throw error;
      log.warn({ err: error, run: run.id }, `${kind} could not be looked up by id`);
      return found;
    }
    if (inVain === MOST_IN_VAIN) return found;
  }
  return found;
}

/** Marks the start of a read in the ledger. If the clock was set since the last check, the ledger's times move first. */
export async function beginReading(
  { pool, run }: Pick<JobContext<unknown>, 'pool' | 'run'>,
  exclusive: Exclusive,
  reading: Reading,
): Promise<void> {
  await ledgerNow(pool);
  await exclusive.transaction((db) => beginRead(db, run.id, reading));
}
