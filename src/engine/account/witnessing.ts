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
 * A witness that was first seen less than `settle` before the read may be newer than the list (assumption A2): the list is
 * read again. So may a record that no list has shown yet, and that is found by its id: it becomes a witness.
 */
import { formatCount } from '../../base/counts.ts';
import { pause } from '../../base/pause.ts';
import { isJsonObject } from '../../client/call/dialect.ts';
import type { Json } from '../../client/call/json.ts';
import { mayBeSame, type RecordKeys, recordKeys } from '../../client/lists/record-keys.ts';
import { isPageSize } from '../../client/lists/scan-pages.ts';
import { SeenIds } from '../../client/lists/seen-ids.ts';
import { singular } from '../../contract/kinds.ts';
import { isMoreThanChance } from '../ledger/matching/check-links.ts';
import { distrustList } from '../ledger/matching/first-created.ts';
import { openRows } from '../ledger/rows.ts';
import { addNote, recordAwaited } from '../ledger/runs.ts';
import {
  keepWitnesses,
  readWitnesses,
  type StoredWitness,
  type Witness,
  type WitnessedKind,
  wasRebound,
  witnessedElsewhere,
} from '../ledger/scopes/witnesses.ts';
import { hasSent, sentSoFar } from '../ledger/sent-so-far.ts';
import type { JobContext } from '../worker/job.ts';
import { EMBEDDED } from './account.ts';
import { RetryLater, type RunPaused } from './failure.ts';
import { type Hidden, type Looked, lookAtSuspects, MOST_LOOKED_UP, type Unclear } from './hidden-records.ts';
import { Sample, spread } from './list-sample.ts';
import { namedCustomers } from './named-customers.ts';
import { checkTenant, FEW_GONE, identityUnclear, keepFirstWitnesses, wentBack } from './same-tenant.ts';
import { SkippedIds } from './skipped-ids.ts';

/** A list that is empty by mistake may hide records with these ids, at a service that counts. */
const FIRST_IDS = ['1', '2', '3'];
/** A list that is empty by mistake is no longer empty after this time. */
const EMPTY_AGAIN_MS = 2_000;

/** What is known about a list before it is read. */
interface Known {
  readonly witnesses: readonly StoredWitness[];
  /** The ids of other accounts' witnesses, if there are none yet. */
  readonly elsewhere: ReadonlySet<string>;
  /** A person has confirmed the tenant, so what the list does not show was deleted. */
  readonly isRebound: boolean;
  /** No earlier list has left witnesses. Never of contacts: nothing is written for those that a list does not show. */
  readonly isFirstLook: boolean;
  /** A first look of a run that has written. A service may show a new record by its id before it lists it. */
  readonly isAfterSend: boolean;
  /** A first look of a run that has written nothing, at a service whose lists may hide records. */
  readonly isUntried: boolean;
  /** Rows may be sent again, and must not be records that the list hides: many lists end with their oldest records. */
  readonly isDoubtful: boolean;
}

async function readKnown({ pool, run, account }: JobContext<unknown>, resource: WitnessedKind): Promise<Known> {
  const witnesses = await readWitnesses(pool, run.scope, resource);
  const elsewhere = witnesses.length === 0 ? await witnessedElsewhere(pool, run.scope, resource) : new Set<string>();
  const isRebound = await wasRebound(pool, run.scope);
  const isOfContacts = resource === 'contacts';
  const isFirstLook = witnesses.length === 0 && !isOfContacts && !isRebound;
  const isAfterSend = isFirstLook && (await hasSent(pool, run.id));
  const isUntried = isFirstLook && !isAfterSend && account.service !== EMBEDDED;
  const mayDoubt = !isFirstLook && !isOfContacts && !run.listsAwaited.includes(resource);
  const isDoubtful = mayDoubt && (await openRows(pool, run.id)).unknown > 0;
  return { witnesses, elsewhere, isRebound, isFirstLook, isAfterSend, isUntried, isDoubtful };
}

/** Checks one read of a list. */
export class Witnessing {
  readonly #context: JobContext<unknown>;
  readonly #resource: WitnessedKind;
  readonly #known: Known;
  readonly #wanted: ReadonlySet<string>;
  /** The witnesses that the list shows, own ones and other accounts'. */
  readonly #found = new Map<string, RecordKeys>();
  readonly #tenants = new Set<string>();
  readonly #sample = new Sample<{ id: string; record: Json }>();
  readonly #skipped = new SkippedIds();
  readonly #listed = new SeenIds();

  private constructor(context: JobContext<unknown>, resource: WitnessedKind, known: Known) {
    this.#context = context;
    this.#resource = resource;
    this.#known = known;
    this.#wanted = new Set(known.witnesses.map(({ id }) => id));
  }

  static async open(context: JobContext<unknown>, resource: WitnessedKind): Promise<Witnessing> {
    return new Witnessing(context, resource, await readKnown(context, resource));
  }

  /** Waits until an empty list is to be read again: once in a run, if nothing else shows that it is not empty by mistake. */
  get awaitMore(): (() => Promise<void>) | undefined {
    const { pool, run, account, signal } = this.#context;
    const { isUntried, witnesses } = this.#known;
    const empty = `empty ${this.#resource}`;
    if ((!isUntried && witnesses.length === 0) || run.listsAwaited.includes(empty)) return undefined;
    return async () => {
      await recordAwaited(pool, run.id, empty); // the next read may be put off, such as by a cache
      await pause(Math.min(EMPTY_AGAIN_MS, account.settleMs), signal); // the next call reports it
    };
  }

  /** Notes a record of the list; the same record may come more than once. */
  note(id: string, record: Json): void {
    const { elsewhere, isFirstLook, isDoubtful } = this.#known;
    if (this.#tenants.size < 2) for (const tenant of tenantIn(record)) this.#tenants.add(tenant);
    if (this.#wanted.has(id) || elsewhere.has(id)) this.#found.set(id, recordKeys(this.#resource, record));
    this.#sample.add({ id, record });
    if (isFirstLook || isDoubtful || this.#resource === 'contacts') this.#skipped.add(id);
    if (isFirstLook && this.#resource === 'customers') this.#listed.note(id, 0, '');
  }

  /**
   * Judges the list once it was read to its end: looks up what it lacks, and keeps new witnesses, or a note. True if all
   * witnesses are in it or were removed; false if the list is partial, so that a missing record proves nothing.
   * `isProven`: its pages show every record. @throws RunPaused if the list belongs to another tenant, or the service was
   * restored to an older state; RetryLater if the list has to be read again, because a record may be newer than the read
   */
  async judge(isProven: boolean): Promise<boolean> {
    const context = this.#context;
    const resource = this.#resource;
    const { pool, run, account } = context;
    const { witnesses, isUntried } = this.#known;
    await checkTenant(context, this.#tenants);
    await this.#checkKeys();
    const lacks = witnesses.filter(({ id }) => !this.#found.has(id));
    const young = lacks.find(({ ageMs }) => ageMs >= 0 && ageMs < account.settleMs);
    if (young) throw await awaitNewer(context, resource, young.id);
    const missing = lacks.map(({ id }) => id);
    const control = this.#sample.records[0]?.id;
    const suspects = await this.#suspects(missing, control === undefined);
    const looked = await lookAtSuspects(context, resource, suspects, control);
    const gone = { missing: missing.length, known: witnesses.length, isProven };
    const list = listShownBy(looked, resource, gone, (id) => !this.#wanted.has(id));
    if (list.is === 'too old') {
      const { id, record } = list.lacks;
      await keepWitnesses(pool, run.scope, resource, [...witnesses, { id, keys: recordKeys(resource, record) }]);
      await recordAwaited(pool, run.id, resource);
      throw await awaitNewer(context, resource, id);
    }
    if (list.is === 'restored') throw await wentBack(context, resource, gone.missing, gone.known);
    if (list.is === 'partial') {
      await addNote(pool, run.id, partialNote(context, resource, list.lacks));
      return false;
    }
    if (run.dryRun) return true;
    // A list may also show orders under other labels or customers: orders that exist would be created again.
    const isAsked = resource === 'customers' && this.#skipped.areDense && looked.status !== 'unclear';
    if (isUntried && resource !== 'contacts' && control !== undefined && !isAsked)
      await distrustList(pool, run.scope, resource);
    await this.#keepShown();
    return true;
  }

  /** @throws RunPaused if many of the witnesses are other records now */
  async #checkKeys(): Promise<void> {
    const others = this.#known.witnesses.filter(({ id, keys }) => !mayBeSame(keys, this.#found.get(id) ?? keys));
    if (isMoreThanChance(others.length, this.#found.size))
      throw await otherRecords(this.#context, this.#resource, others, this.#found);
  }

  /** Ids of records that the list may hide. */
  async #suspects(missing: readonly string[], isEmpty: boolean): Promise<readonly string[]> {
    const { isRebound, isFirstLook, isAfterSend, isUntried } = this.#known;
    const mayEndEarly = isPageSize(this.#skipped.count) && !isRebound; // a limit is a round number
    if (this.#resource === 'contacts' && !mayEndEarly) return missing;
    if (!isFirstLook) return [...missing, ...this.#skipped.after()];
    const isSampled = this.#skipped.areCounted || this.#resource !== 'customers' || isAfterSend;
    const beside = isSampled
      ? this.#skipped.sample(MOST_LOOKED_UP)
      : await namedCustomers(this.#context, this.#listed, MOST_LOOKED_UP);
    return isUntried && isEmpty ? [...beside, ...FIRST_IDS] : beside;
  }

  /** Keeps the witnesses that the list still has, and others of its records, as it shows them: those that have keys. */
  async #keepShown(): Promise<void> {
    const { pool, run } = this.#context;
    const before = this.#known.witnesses;
    const kept = before.map(({ id }) => ({ id, keys: this.#found.get(id) ?? {} }));
    const shown = this.#sample.records.map(({ id, record }) => ({ id, keys: recordKeys(this.#resource, record) }));
    const now = spread([...kept, ...shown].filter(({ keys }) => Object.keys(keys).length > 0));
    if (before.length === 0) await keepFirstWitnesses(this.#context, this.#resource, now, this.#found);
    else await keepWitnesses(pool, run.scope, this.#resource, now);
  }
}

function tenantIn(record: Json): readonly string[] {
  const tenant = isJsonObject(record) ? record.tenant_id : undefined;
  return typeof tenant === 'number' || (typeof tenant === 'string' && tenant !== '') ? [String(tenant)] : [];
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

/** A record that may be newer than the list must be in it once the service has to show it. */
async function awaitNewer(
  { account, run, pool }: JobContext<unknown>,
  resource: WitnessedKind,
  id: string,
): Promise<RetryLater> {
  const why = `waited to see whether the list of ${resource} shows ${singular(resource)} ${id}, which may be new`;
  await addNote(pool, run.id, why);
  return new RetryLater(why, account.settleMs, { isFailure: false });
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
