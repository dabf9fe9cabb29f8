/**
 * Passes an arriving list to `onRecords` in batches, and returns the outcome of the call at the end.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { kindOf } from '../../contract/kinds.ts';
import { type Call, classify, isEmptyList, isSuccess, refusedWith, signsOf } from '../call/classify.ts';
import { type Dialect, type LongIds, longIdsOf } from '../call/dialect.ts';
import type { Json } from '../call/json.ts';
import type { Outcome, Streamed, StreamOutcome } from '../call/outcome.ts';
import { shapeOf } from '../call/shape.ts';
import { packingOf, type Unpacking, unpacking } from '../http/content-encoding.ts';
import type { BodySink, Exchanged, Head } from '../http/exchange.ts';
import { ListReader } from './list-stream.ts';

const MAX_LIST_BYTES = 1024 * 1024 * 1024;

export type OnRecords = (records: readonly Json[]) => Promise<void>;

/** The service accepted the call, and `onRecords` rejected: it had seen enough, or could not keep the records. */
export interface ConsumerFailed extends Streamed {
  readonly consumerFailed: { readonly error: unknown };
}

export interface ListSink {
  readonly sink: BodySink;
  /** Hands over the last records once the whole answer is known to be good. */
  finish(exchanged: Exchanged): Promise<StreamOutcome | ConsumerFailed>;
}

export interface ListSinkOptions {
  readonly onRecords: OnRecords;
  /** Whether one page was requested, as in `listIn`. */
  readonly isPage?: boolean;
  /** A larger list counts as endless. Default 1 GiB. */
  readonly maxBytes?: number;
}

export function createListSink(
  call: Call,
  dialect: Dialect,
  { onRecords, isPage = false, maxBytes = MAX_LIST_BYTES }: ListSinkOptions,
): ListSink {
  const kind = kindOf(call.operation);
  const reader = new ListReader(kind, dialect, isPage);
  let records = 0;
  let firstRecord: Json | undefined;
  let longIds: LongIds | undefined;
  let consumerFailed: { readonly error: unknown } | undefined;

  async function handOver(first: readonly Json[] | undefined, next: () => readonly Json[] | undefined): Promise<void> {
    try {
      for (let batch = first; batch !== undefined && batch.length > 0; batch = next()) {
        if (records === 0) firstRecord = batch[0];
        longIds ??= longIdsOf(batch, kind, dialect);
        await onRecords(batch);
        records += batch.length;
        await nextTurn(); // a long list must not keep the rest of the process waiting
      }
    } catch (error) {
      consumerFailed = { error };
      throw error;
    }
  }

  function read(chunk: Uint8Array): Promise<void> | undefined {
    reader.write(chunk);
    const batch = reader.take();
    return batch === undefined ? undefined : handOver(batch, () => reader.take());
  }

  let packed: Unpacking | undefined;

  async function end(arrived: Exchanged): Promise<StreamOutcome> {
    const exchanged = packed === undefined ? arrived : await endOf(packed, arrived);
    if (consumerFailed !== undefined) throw consumerFailed.error;
    const outcome = outcomeOf(call, exchanged, reader);
    if (outcome.status !== 'applied') return outcome;
    await handOver(reader.take(), () => reader.take());
    const { content: _, ...applied } = outcome;
    if (records === 0) return { ...applied, records };
    const shape = { ...shapeOf(reader.path, firstRecord, kind, dialect), ...(longIds && { longIds }) };
    return { ...applied, records, shape };
  }

  return {
    sink: {
      maxBytes,
      accepts(head) {
        const packing = packingOf(head);
        if (packing !== undefined && packing !== 'unknown') packed ??= unpacking(packing, read, maxBytes);
        return accepts(call, head);
      },
      write: (chunk) => (packed === undefined ? read(chunk) : packed.write(chunk)),
    },
    async finish(arrived) {
      try {
        return await end(arrived);
      } catch (error) {
        if (consumerFailed === undefined) throw error;
        return { status: 'applied', httpStatus: arrived.head?.httpStatus ?? 200, records, consumerFailed };
      }
    },
  };
}

/** The end of a compressed answer, or the error. */
async function endOf(packed: Unpacking, exchanged: Exchanged): Promise<Exchanged> {
  if (exchanged.error !== undefined) {
    packed.abandon();
    return exchanged;
  }
  try {
    await packed.end();
    return exchanged;
  } catch (error) {
    return { ...exchanged, error };
  }
}

/** Classifies the answer; the content of a success is what the reader has read. */
function outcomeOf(call: Call, exchanged: Exchanged, reader: ListReader): Outcome {
  const { head, error } = exchanged;
  const streamed = head !== undefined && accepts(call, head) && error === undefined;
  if (!streamed || isEmptyList(call, head)) return classify(call, exchanged);
  try {
    const end = reader.end();
    const { httpStatus } = head;
    if (end.status === 'whole')
      return { status: 'applied', httpStatus, content: undefined, ...signsOf(call, end.outline, head) };
    return refusedWith(head, end.message, true);
  } catch (problem) {
    return classify(call, { ...exchanged, error: problem });
  }
}

function accepts(call: Call, head: Head): boolean {
  return isSuccess(call, head) && packingOf(head) !== 'unknown';
}
