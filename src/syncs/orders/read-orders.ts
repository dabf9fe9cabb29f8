/**
 * Reads all orders once: for the baseline of a load, and for every read-back. It keeps the orders whose keys the load holds,
 * and in a read-back the new orders of its customers or with its labels, because a service may change a label or a customer.
 */
import { unescaped } from '../../base/texts.ts';
import { rivalsOf } from '../../client/call/contract-record.ts';
import { amountOf, idOf, isJsonObject } from '../../client/call/dialect.ts';
import { type Json, type JsonObject, textOf } from '../../client/call/json.ts';
import { KeyFilter } from '../../client/lists/key-filter.ts';
import type { Account } from '../../engine/account/account.ts';
import { withoutId } from '../../engine/account/list-reader.ts';
import {
  type KeepingOrders,
  keepOrders,
  SAME_ORDER,
  type SeenOrder,
  takeAsked,
} from '../../engine/ledger/matching/order-records.ts';
import { settleChanged } from '../../engine/ledger/matching/unlisted-records.ts';
import { recordProgress } from '../../engine/ledger/runs.ts';
import { sentSoFar } from '../../engine/ledger/sent-so-far.ts';
import type { Exclusive } from '../../engine/worker/exclusive.ts';
import type { JobContext } from '../../engine/worker/job.ts';
import type { Queryable } from '../../storage/queryable.ts';
import type { Baseline } from '../customers/baseline.ts';
import { lookUpHidden } from '../read-back.ts';
import { BASELINE, type ListRead, openList } from '../read-list.ts';
import { FieldsSeen, fieldDisputed } from './order-fields.ts';
import { openWantedOrders, type WantedOrders } from './wanted-records.ts';

export interface OrdersRead extends ListRead {
  /** Whether an order of the list may have this label of the load, and another customer than the load's. */
  readonly isNamesake: (label: string) => boolean;
}

/**
 * `baseline`: in the baseline's own pass, receives the orders of the load's customers; in a read-back, what it has received;
 * undefined if an earlier version stored none. @throws Stop; RunFailed SERVICE_UNREADABLE if no order of the list names
 * its customer or its label
 */
export async function readOrders(
  context: JobContext<unknown>,
  exclusive: Exclusive,
  pass: number,
  baseline?: Baseline,
): Promise<OrdersRead> {
  const { pool, run, account } = context;
  const list = await openList(context, exclusive, 'orders', pass);
  const keepingFor: KeepingOrders = { run, pass, isAudit: list.isAudit };
  let wanted: WantedOrders | undefined;
  const fields = new FieldsSeen(account);
  const namesakes = new KeyFilter();
  let seen: SeenOrder[] = [];
  const keep = async () => {
    const orders = seen;
    seen = [];
    const ids = orders.map(({ recordId }) => recordId); // an order that moves to another page is listed twice
    await list.keep((db) => keepOrders(db, keepingFor, orders), ids);
  };
  const { isWhole } = await list.read({
    toSeen: (record) => nameOf(record, account),
    async take(batch) {
      if (batch.length > 0) wanted ??= await openWantedOrders(pool, keepingFor);
      for (const named of batch) {
        const isNamesake = wanted?.isNamesake(named) === true;
        fields.note(named, isNamesake);
        if (isNamesake && !wanted?.wants(named)) namesakes.add(named.label);
        const order = wanted && toKeep(named, { wanted, isNamesake, pass, baseline });
        if (order) seen.push(order);
      }
      if (seen.length >= KEPT_AT_ONCE) await keep();
    },
    async takeRest() {
      if (seen.length > 0) await keep();
    },
    async check() {
      await exclusive.transaction((db) => takeAsked(db, keepingFor));
      await fields.check(() => sentSoFar(pool, run.id));
      return true;
    },
    matches: SAME_ORDER,
  });
  if (!isWhole) await recordProgress(pool, run.id, { scan: 'unproven' });
  return { isWhole, isNamesake: (label) => namesakes.has(label) };
}

/** Each transaction costs four round trips. */
const KEPT_AT_ONCE = 4_000;

/** The keys that decide whether an order is asked for. */
interface OrderName extends Omit<SeenOrder, 'fields' | 'isOld'> {
  readonly record: JsonObject;
}

interface Keeping {
  readonly wanted: WantedOrders;
  readonly isNamesake: boolean;
  readonly pass: number;
  readonly baseline: Baseline | undefined;
}

/** The order if the load asks for it, or if it is new and of a customer or label of the load. */
function toKeep(named: OrderName, { wanted, isNamesake, pass, baseline }: Keeping): SeenOrder | undefined {
  const isNear = isNamesake || wanted.isNear(named);
  if (isNear && pass === BASELINE) baseline?.add(named.recordId);
  const isOld = pass === BASELINE || baseline?.has(named.recordId) !== false;
  const isKept = wanted.wants(named) || (isNear && !isOld);
  return isKept ? { ...named, fields: listedOrderFields(named.record), isOld } : undefined;
}

/** Stores orders that were read by their ids. Before anything is sent, settles the rows whose order has changed. */
export async function keepUnlisted(
  db: Queryable,
  { run, account }: JobContext<unknown>,
  pass: number,
  records: readonly JsonObject[],
): Promise<void> {
  const keepingFor = { run, pass, isAudit: false };
  const orders = records.map((record): SeenOrder => {
    const named = nameOf(record, account);
    return { ...named, fields: listedOrderFields(named.record), isOld: false };
  });
  await keepOrders(db, keepingFor, orders, { isListed: false });
  await takeAsked(db, keepingFor);
  if (pass === BASELINE) await settleChanged(db, run, orders);
}

/** Reads orders that the list does not show by their ids, as part of pass `pass`. */
export async function readUnlistedOrders(
  context: JobContext<unknown>,
  exclusive: Exclusive,
  pass: number,
  ids: readonly string[],
): Promise<void> {
  const records = await lookUpHidden(context, 'orders', ids);
  if (records.length > 0) await exclusive.transaction((db) => keepUnlisted(db, context, pass, records));
}

function nameOf(record: Json, account: Account): OrderName {
  const recordId = idOf(record, 'orders', account.dialect);
  if (recordId === undefined || !isJsonObject(record)) throw withoutId('orders', record, account);
  const { order_id: label, client_id: customer } = record;
  for (const field of ['client_id', 'order_id'] as const) {
    const rivals = textOf(record[field]) === '' ? rivalsOf(record, field) : [];
    if (rivals.length > 0) throw fieldDisputed(account, field, rivals);
  }
  return {
    recordId,
    clientId: textOf(customer) || undefined,
    label: textOf(label),
    isNumber: typeof label === 'number',
    record,
  };
}

/** The order's content in one spelling, and not escaped: whole updates send it back. Absent members are left out. */
export function listedOrderFields({ amount, status, description }: JsonObject): Readonly<Record<string, string>> {
  const [state, text] = [unescaped(textOf(status)), unescaped(textOf(description))];
  const said = { amount: amountOf(amount) ?? '', status: state, description: text };
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== ''));
}
