/**
 * Checks a list by records that must be in it. Paging shows that a list was read to its end; it does not show that the
 * service returned everything, or that the list belongs to the same tenant. Records of an earlier list show both.
 *
 * | a witness is | result |
 * |---|---|
 * | in the list, equal in a key | nothing to do |
 * | in the list, with other keys | the id belongs to another record: many of these pause the run |
 * | missing, found by its id | the list is partial: records missing from it may exist |
 * | missing, not found by its id | it was removed: many of these pause the run |
 * | missing, and the service has no look-up by id | the list counts as partial |
 *
 * A record that no list has shown yet, and that is found by its id, may be newer than the read. It becomes a witness.
 */
import { formatCount } from '../../base/counts.ts';
import { pause } from '../../base/pause.ts';
import { isJsonObject } from '../../client/call/dialect.ts';
import type { Json, JsonObject } from '../../client/call/json.ts';
import { mayBeSame, type RecordKeys, recordKeys } from '../../client/lists/record-keys.ts';
import { SeenIds } from '../../client/lists/seen-ids.ts';
import { isPageSize } from '../../client/lists/whole-lists.ts';
import { singular } from '../../contract/kinds.ts';
import { isMoreThanChance } from '../ledger/matching/check-links.ts';
import { distrustList } from '../ledger/matching/first-created.ts';
import { openRows } from '../ledger/rows.ts';
import { addNote, recordAwaited } from '../ledger/runs.ts';
import {
  keepWitnesses,
  readWitnesses,
  type Witness,
  type WitnessedKind,
  wasRebound,
  witnessedElsewhere,
} from '../ledger/scopes/witnesses.ts';
import { hasSent, sentSoFar } from '../ledger/sent-so-far.ts';
import type { JobContext } from '../worker/job.ts';
import { EMBEDDED } from './account.ts';
import { RetryLater, type RunPaused } from './failure.ts';
import { evenly, Sample, spread } from './list-sample.ts';
import { isMarkedDeleted, lookUp } from './look-up.ts';
import { namedCustomers } from './named-customers.ts';
import { readsOf } from './reads.ts';
import { checkTenant, FEW_GONE, identityUnclear, keepFirstWitnesses, wentBack } from './same-tenant.ts';
import { SkippedIds } from './skipped-ids.ts';

/** Maximum records looked up by id. */
const MOST_LOOKED_UP = 8;
/** A list that is empty by mistake may hide records with these ids, at a service that counts. */
const FIRST_IDS = ['1', '2', '3'];
/** A list that is empty by mistake is no longer empty after this time. */
const EMPTY_AGAIN_MS = 2_000;
export async function openWitnesses(context: JobContext<unknown>, resource: WitnessedKind) {
  const { pool, run, account, signal } = context;
  const witnesses = await readWitnesses(pool, run.scope, resource);
  const isOfContacts = resource === 'contacts';
  const isRebound = await wasRebound(pool, run.scope);
  const isFirstLook = witnesses.length === 0 && !isOfContacts && !isRebound;
  // A service may show a new record by its id before it lists it.
  const isAfterSend = isFirstLook && (await hasSent(pool, run.id));
  const isUntried = isFirstLook && !isAfterSend && account.service !== EMBEDDED;
  // A row that is to be sent again must not be a record that the list hides: many lists end with their oldest records.
  const hasWaited = run.listsAwaited.includes(resource);
  const isDoubtful = !isFirstLook && !hasWaited && !isOfContacts && (await openRows(pool, run.id)).unknown > 0;
  const wanted = new Set(witnesses.map(({ id }) => id));
  const elsewhere = witnesses.length === 0 ? await witnessedElsewhere(pool, run.scope, resource) : new Set<string>();
  const found = new Map<string, RecordKeys>();
  const tenants = new Set<string>();
  const sample = new Sample<{ id: string; record: Json }>();
  const skipped = new SkippedIds();
  const listed = new SeenIds();
  /** Records that the list may hide. */
  const suspectsBeside = async (missing: readonly string[], isEmpty: boolean) => {
    const mayEndEarly = isPageSize(skipped.count) && !isRebound; // a limit is a round number
    if (isOfContacts && !mayEndEarly) return missing;
    if (!isFirstLook) return [...missing, ...skipped.after()];
    const isSampled = skipped.areCounted || resource !== 'customers' || isAfterSend;
    const beside = isSampled ? skipped.sample(MOST_LOOKED_UP) : await namedCustomers(context, listed, MOST_LOOKED_UP);
    return isUntried && isEmpty ? [...beside, ...FIRST_IDS] : beside;
  };
  const empty = `empty ${resource}`;
  const awaitMore = async () => {
    await recordAwaited(pool, run.id, empty); // the next read may be put off, such as by a cache
    await pause(Math.min(EMPTY_AGAIN_MS, account.settleMs), signal); // the next call reports it
  };
  return {
    /** Waits until an empty list is to be read again: once in a run, if nothing else shows that it is not empty by mistake. */
    awaitMore: (isUntried || witnesses.length > 0) && !run.listsAwaited.includes(empty) ? awaitMore : undefined,
    /** Notes a record of the list; the same record may come more than once. */
    note(id: string, record: Json): void {
      if (tenants.size < 2) for (const tenant of tenantIn(record)) tenants.add(tenant);
      if (wanted.has(id) || elsewhere.has(id)) found.set(id, recordKeys(resource, record));
      sample.add({ id, record });
      if (isFirstLook || isDoubtful || isOfContacts) skipped.add(id);
      if (isFirstLook && resource === 'customers') listed.note(id, 0, '');
    },
    /**
     * Judges the list once it was read to its end: looks up what it lacks, and keeps new witnesses, or a note. True if all
     * witnesses are in it or were removed; false if the list is partial, so that a missing record proves nothing.
     * `isProven`: its pages show every record. @throws RunPaused if the list belongs to another tenant, or the service was
     * restored to an older state; RetryLater if the list has to be read again, because a record may be newer than the read
     */
    async judge(isProven: boolean): Promise<boolean> {
      await checkTenant(context, tenants);
      const others = witnesses.filter(({ id, keys }) => !mayBeSame(keys, found.get(id) ?? keys));
      if (isMoreThanChance(others.length, found.size)) throw await otherRecords(context, resource, others, found);
      const missing = witnesses.filter(({ id }) => !found.has(id)).map(({ id }) => id);
      const control = sample.records[0]?.id;
      const suspects = await suspectsBeside(missing, control === undefined);
      const looked = await lookAtSuspects(context, resource, suspects, control);
      const gone = { missing: missing.length, known: witnesses.length, isProven };
      const list = listShownBy(looked, resource, gone, (id) => !wanted.has(id));
      if (list.is === 'too old') return awaitNewer(context, resource, witnesses, list.lacks);
      if (list.is === 'restored') throw await wentBack(context, resource, gone.missing, gone.known);
      if (list.is === 'partial') {
        await addNote(pool, run.id, partialNote(context, resource, list.lacks));
        return false;
      }
      if (run.dryRun) return true;
      // A list may also show orders under other labels or customers: orders that exist would be created again.
      const isAsked = resource === 'customers' && skipped.areDense && looked.status !== 'unclear';
      if (isUntried && control !== undefined && !isAsked) await distrustList(pool, run.scope, resource);
      const shown = sample.records.map(({ id, record }) => ({ id, keys: recordKeys(resource, record) }));
      await keepShown(context, resource, witnesses, found, shown);
      return true;
    },
  };
}

/** Keeps the witnesses that the list still has, and others of its records, as it shows them: those that have keys. */
async function keepShown(
  context: JobContext<unknown>,
  resource: WitnessedKind,
  before: readonly Witness[],
  found: ReadonlyMap<string, RecordKeys>,
  shown: readonly Witness[],
): Promise<void> {
  const kept = before.flatMap(({ id }) => {
    const keys = found.get(id);
    return keys === undefined ? [] : [{ id, keys }];
  });
  const now = spread([...kept, ...shown].filter(({ keys }) => Object.keys(keys).length > 0));
  if (before.length === 0) await keepFirstWitnesses(context, resource, now, found);
  else await keepWitnesses(context.pool, context.run.scope, resource, now);
}

function tenantIn(record: Json): readonly string[] {
  const tenant = isJsonObject(record) ? record.tenant_id : undefined;
  return typeof tenant === 'number' || (typeof tenant === 'string' && tenant !== '') ? [String(tenant)] : [];
}

/** What the service answers about records that its list lacks. */
type Looked = Hidden | Unclear | { readonly status: 'removed' };

/** The service shows this record when asked by id, and not in its list. */
interface Hidden {
  readonly status: 'hidden';
  readonly id: string;
  readonly record: JsonObject;
}

/** The service cannot be asked by id, so nothing tells whether this record was removed. */
interface Unclear {
  readonly status: 'unclear';
  readonly id: string;
}

type List =
  | { readonly is: 'whole' | 'restored' }
  /** Read before the record was created. */
  | { readonly is: 'too old'; readonly lacks: Hidden }
  | { readonly is: 'partial'; readonly lacks: Hidden | Unclear };

interface Gone {
  /** Witnesses that the list lacks. */
  readonly missing: number;
  /** All witnesses. */
  readonly known: number;
  /** Pages that may have left out records show none that is gone, unless the service denies each of them by its id. */
  readonly isProven: boolean;
}

function listShownBy(looked: Looked, resource: WitnessedKind, gone: Gone, mayBeNew: (id: string) => boolean): List {
  if (looked.status === 'hidden') return { is: mayBeNew(looked.id) ? 'too old' : 'partial', lacks: looked };
  const writes = resource !== 'contacts'; // nothing is written for contacts that are gone
  const isTold = gone.isProven || looked.status === 'removed';
  if (writes && isTold && gone.missing > FEW_GONE && isMoreThanChance(gone.missing, gone.known))
    return { is: 'restored' };
  // Without a missing witness, only ids that may never have been given are unclear.
  return looked.status === 'unclear' && gone.missing > 0 ? { is: 'partial', lacks: looked } : { is: 'whole' };
}

function partialNote({ account }: JobContext<unknown>, resource: WitnessedKind, lacks: Hidden | Unclear): string {
  const record = `${singular(resource)} ${lacks.id}`;
  const why =
    lacks.status === 'hidden'
      ? `it does not contain ${record}, which the service returns by its id`
      : `it no longer contains ${record}, and the service has no look-up by id`;
  const deleted = `If the record was deleted: \`lockstep accounts rebind ${account.name}\``;
  const effect =
    resource === 'contacts'
      ? 'Contacts that it does not show are not imported'
      : 'Records missing from it may exist, so from now on none of them are created';
  return `the list of ${resource} is partial: ${why}. ${effect}. ${deleted}`;
}

/**
 * Looks up records that the list lacks, and first a record that is in the list: if that one is not found, the look-up proves
 * nothing.
 */
async function lookAtSuspects(
  context: JobContext<unknown>,
  resource: WitnessedKind,
  suspects: readonly string[],
  control: string | undefined,
): Promise<Looked> {
  const { account, run, signal, log } = context;
  const [first] = suspects;
  if (first === undefined) return { status: 'removed' };
  const look = (id: string) => lookUp(account, resource, id, readsOf(context));
  try {
    if (control !== undefined && (await look(control)).status !== 'found') return { status: 'unclear', id: first };
    for (const id of evenly(suspects, MOST_LOOKED_UP)) {
      const found = await look(id);
      if (found.status === 'found' && !isMarkedDeleted(found.record, resource))
        return { status: 'hidden', id, record: found.record };
    }
  } catch (error) {
    if (signal.aborted) throw error;
    log.warn({ err: error, run: run.id }, `missing ${resource} could not be looked up by id`);
    return { status: 'unclear', id: first };
  }
  return { status: 'removed' };
}

/**
 * A record that no list has shown yet is hidden, or it is newer than the read. As a witness, it must be in the list once the
 * service has to show it. @throws RetryLater
 */
async function awaitNewer(
  { account, run, pool }: JobContext<unknown>,
  resource: WitnessedKind,
  witnesses: readonly Witness[],
  { id, record }: Hidden,
): Promise<never> {
  await keepWitnesses(pool, run.scope, resource, [...witnesses, { id, keys: recordKeys(resource, record) }]);
  const why = `waited to see whether the list of ${resource} shows ${singular(resource)} ${id}, which may be new`;
  await addNote(pool, run.id, why);
  await recordAwaited(pool, run.id, resource);
  throw new RetryLater(why, account.settleMs, { isFailure: false });
}

async function otherRecords(
  { account, pool, run }: JobContext<unknown>,
  resource: WitnessedKind,
  others: readonly Witness[],
  found: ReadonlyMap<string, RecordKeys>,
): Promise<RunPaused> {
  const [first] = others;
  const said = (keys: RecordKeys | undefined) => Object.values(keys ?? {}).join(', ');
  const example =
    first && `${singular(resource)} ${first.id} was ${said(first.keys)} and is ${said(found.get(first.id))}`;
  const what = `lists other ${resource} under the ids that are known: ${formatCount(others.length)} of ${formatCount(found.size)}; ${example}`;
  return identityUnclear(account.name, what, await sentSoFar(pool, run.id));
}
