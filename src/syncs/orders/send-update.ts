/** How an existing order is updated: with what the file says, and with the rest of the order only if the service needs it. */
import type pg from 'pg';
import { elapsedMs } from '../../base/clock.ts';
import { pause } from '../../base/pause.ts';
import { idOf, isJsonObject } from '../../client/call/dialect.ts';
import type { Json, JsonObject } from '../../client/call/json.ts';
import type { Account } from '../../engine/account/account.ts';
import { lookUp } from '../../engine/account/look-up.ts';
import type { ReadOptions } from '../../engine/account/reads.ts';
import { readWholeList, type WholeListOptions } from '../../engine/account/whole-list.ts';
import { type WriteOptions, type WriteReport, write } from '../../engine/account/writes.ts';
import { type ClaimedRow, readBefore } from '../../engine/ledger/rows.ts';
import { keepLearnt, readLearnt } from '../../engine/ledger/scopes/learnt.ts';
import { type SentRow, sent, toSentUpdate } from '../../engine/worker/sent-row.ts';
import { countCalls, type ReadBefore, readNow, withCalls } from '../record-now.ts';
import { listedOrderFields } from './read-orders.ts';

type Options = WriteOptions & { readonly body: object };

/** An update is read back like a create: the service may have accepted it without storing it. */
export async function sendUpdate(
  account: Account,
  row: ClaimedRow,
  options: Options,
  mode: UpdateMode,
): Promise<SentRow> {
  if (mode.known === 'partial') return send(account, row, options);
  const { fields: before, isOld } = await mode.before(row.n);
  const rest = Object.entries(before).filter(([name]) => row.fields[name] === undefined);
  if (rest.length === 0) return send(account, row, options);
  while (mode.known === undefined && mode.probe) await mode.probe;
  if (mode.known === 'whole')
    return isOld ? sendCurrent(account, row, options, rest) : send(account, row, withRest(options, rest));
  if (mode.known !== undefined) return send(account, row, options);
  const probe = sendFirst(account, row, options, { before, rest, mode });
  mode.probe = probe.finally(() => {
    mode.probe = undefined;
  });
  return probe;
}

/** Sends the rest of the order as it is now, if the service shows it. */
async function sendCurrent(account: Account, row: ClaimedRow, options: Options, rest: First['rest']): Promise<SentRow> {
  const now = await readNow(account, 'orders', row, options);
  const record = now.record ?? {};
  const shown = Object.entries(listedOrderFields(record)).filter(([name]) => row.fields[name] === undefined);
  const hidden = rest.filter(([name]) => !(name in record));
  return withCalls(await send(account, row, withRest(options, [...hidden, ...shown])), now);
}

interface First {
  readonly before: Readonly<Record<string, string>>;
  /** The members of the order that the file does not have. */
  readonly rest: readonly (readonly [string, string])[];
  readonly mode: UpdateMode;
}

/** Sends only what the file says, reads the order, and restores the rest if the service has emptied it. */
async function sendFirst(account: Account, row: ClaimedRow, options: Options, first: First): Promise<SentRow> {
  const report = await write(account, 'orders.update', options);
  if (isRefusedAsPart(report)) return sendWhole(account, row, options, first, report);
  if (report.written.status !== 'applied') return toSentUpdate(row, report, 'order');
  const { made, onCalls } = countCalls();
  const shown = await readUpdated(account, row, { ...options, onCalls }, first);
  return withCalls(await restore(account, row, options, first, { report, shown }), made);
}

/** `shown`: the order after its first update, which `report` is about. */
async function restore(
  account: Account,
  row: ClaimedRow,
  options: Options,
  first: First,
  { report, shown }: { readonly report: WriteReport; readonly shown: Fields | undefined },
): Promise<SentRow> {
  if (options.stopWaiting.aborted) return sent(row, 'update', report, { outcome: 'unknown' }); // it is sent again
  if (shown === undefined) {
    first.mode.known = 'partial'; // for this process; the read of the list shows what was lost
    return toSentUpdate(row, report, 'order');
  }
  const isKept = first.rest.every(([name, value]) => shown[name] === value);
  await first.mode.learn(isKept ? 'partial' : 'whole');
  if (isKept) return toSentUpdate(row, report, 'order');
  return sendRest(account, row, options, first, report);
}

/** A service may want every member of an order that it updates. */
function isRefusedAsPart({ written }: WriteReport): boolean {
  return written.status === 'refused' && [200, 400, 422].includes(written.httpStatus);
}

/** Sends the order whole after only what the file says was refused. */
async function sendWhole(
  account: Account,
  row: ClaimedRow,
  options: Options,
  first: First,
  refused: WriteReport,
): Promise<SentRow> {
  const whole = await sendRest(account, row, options, first, refused);
  if (whole.result.outcome === 'acked') await first.mode.learn('whole');
  return whole;
}

async function sendRest(
  account: Account,
  row: ClaimedRow,
  options: Options,
  { rest }: First,
  before: WriteReport,
): Promise<SentRow> {
  return withCalls(await send(account, row, withRest(options, rest)), before);
}

const READ_AGAIN_MS = 250;

type Fields = Readonly<Record<string, string>>;
type Reading = Options & Pick<ReadOptions, 'onCalls'>;

/**
 * The order once it shows the update, or has lost other members, or must show both; undefined if it does not show the update
 * in time. If it cannot be read by its id, the list is read once, when it must show both.
 */
async function readUpdated(
  account: Account,
  { recordId = '', fields }: ClaimedRow,
  { lane = 'batch', stopWaiting: signal, onCalls }: Reading,
  { before, rest }: First,
): Promise<Fields | undefined> {
  const reads = { lane, signal, ...(onCalls && { onCalls }) };
  const changed = Object.keys(before).filter((name) => fields[name] !== undefined && fields[name] !== before[name]);
  /** Whether it shows the update, or has lost other members. */
  const isTelling = (shown: Fields) =>
    changed.some((name) => shown[name] !== before[name]) || rest.some(([name, value]) => shown[name] !== value);
  const beganMs = elapsedMs();
  for (;;) {
    const isLast = elapsedMs() - beganMs > account.settleMs; // only such a read has to show the update
    const found = await lookUp(account, 'orders', recordId, reads).catch(() => undefined);
    if (found === undefined) return undefined;
    if (found.status === 'not-found') break;
    const shown = listedOrderFields(found.record);
    if (isTelling(shown)) return shown;
    if (isLast) return changed.length === 0 ? shown : undefined;
    await pause(READ_AGAIN_MS, signal);
    if (signal.aborted) return undefined;
  }
  await pause(account.settleMs, signal);
  const listed = await readListed(account, recordId, reads);
  if (listed === undefined) return undefined;
  const shown = listedOrderFields(listed);
  return isTelling(shown) || changed.length === 0 ? shown : undefined;
}

/** The order as the list shows it. */
async function readListed(
  account: Account,
  id: string,
  reads: Omit<WholeListOptions, 'onRecords'>,
): Promise<JsonObject | undefined> {
  let listed: JsonObject | undefined;
  const onRecords = async (records: readonly Json[]) => {
    listed ??= records.filter(isJsonObject).find((record) => idOf(record, 'orders', account.dialect) === id);
  };
  await readWholeList(account, 'orders.getall', { ...reads, onRecords }).catch(() => undefined);
  return listed;
}

function withRest(options: Options, rest: First['rest']): Options {
  const values = rest.map(([name, value]) => [name, name === 'amount' ? Number(value) : value]);
  return { ...options, body: { ...options.body, ...Object.fromEntries(values) } };
}

async function send(account: Account, row: ClaimedRow, options: Options): Promise<SentRow> {
  return toSentUpdate(row, await write(account, 'orders.update', options), 'order');
}

/**
 * What an update of an order does to members that it does not send. A file may lack members that the order has, and the list
 * may show them in another form than they were written in, so they are sent only if the service would empty them otherwise.
 * The contract does not say (docs/gaps.md), so the first such update is read back, and its result is learnt.
 */
export interface UpdateMode {
  /** `partial`: other members stay as they are; `whole`: they are emptied. */
  known: 'partial' | 'whole' | undefined;
  /** The update that is being read back; others wait for its result. */
  probe: Promise<unknown> | undefined;
  learn(mode: 'partial' | 'whole'): Promise<void>;
  readonly before: ReadBefore;
}

const NAME = 'order-update';

export async function openUpdateMode(
  pool: pg.Pool,
  run: { readonly id: string; readonly scope: string },
  settleMs: number,
): Promise<UpdateMode> {
  const known = (await readLearnt(pool, run.scope)).get(NAME);
  const mode: UpdateMode = {
    known: known === 'partial' || known === 'whole' ? known : undefined,
    probe: undefined,
    async learn(learnt) {
      mode.known = learnt;
      await keepLearnt(pool, run.scope, NAME, learnt);
    },
    before: (n) => readBefore(pool, { runId: run.id, n, kind: 'order', settleMs }),
  };
  return mode;
}
