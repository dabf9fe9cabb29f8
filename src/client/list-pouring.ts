/**
 * Pours a list that is arriving into `onRecords`, batch by batch, and says in the end what became of the call.
 */
import { type Call, classify, encodingOf, isSuccess, shorten } from './classify.ts';
import { type Dialect, type Json, kindOf } from './dialect.ts';
import type { BodySink, Exchanged, Head } from './exchange.ts';
import { ListReader } from './list-stream.ts';
import type { Outcome, StreamOutcome } from './outcome.ts';
import { shapeOf } from './shape.ts';

const MAX_LIST_BYTES = 1024 * 1024 * 1024;

export type OnRecords = (records: readonly Json[]) => Promise<void>;

export interface Pouring {
  readonly sink: BodySink;
  /** Hands over the last records once the whole answer has proved good. Rejects with what `onRecords` rejected with. */
  finish(exchanged: Exchanged): Promise<StreamOutcome>;
}

/** Past `maxBytes` the list is taken for endless. */
export function pourList(call: Call, dialect: Dialect, onRecords: OnRecords, maxBytes = MAX_LIST_BYTES): Pouring {
  const kind = kindOf(call.operation);
  const reader = new ListReader(kind, dialect);
  let records = 0;
  let firstRecord: Json | undefined;
  let consumerFailed: { readonly error: unknown } | undefined;

  async function handOver(first: readonly Json[] | undefined, next: () => readonly Json[] | undefined): Promise<void> {
    try {
      for (let batch = first; batch !== undefined && batch.length > 0; batch = next()) {
        if (records === 0) firstRecord = batch[0];
        await onRecords(batch);
        records += batch.length;
      }
    } catch (error) {
      consumerFailed = { error };
      throw error;
    }
  }

  return {
    sink: {
      maxBytes,
      accepts,
      write(chunk) {
        reader.write(chunk);
        const batch = reader.take();
        return batch === undefined ? undefined : handOver(batch, () => reader.take());
      },
    },
    async finish(exchanged) {
      if (consumerFailed !== undefined) throw consumerFailed.error;
      const outcome = outcomeOf(call, exchanged, reader);
      if (outcome.status !== 'applied') return outcome;
      await handOver(reader.take(), () => reader.take());
      const { httpStatus } = outcome;
      const shape = records === 0 ? undefined : shapeOf(reader.path, firstRecord, kind, dialect);
      return { status: 'applied', httpStatus, records, ...(shape && { shape }) };
    },
  };
}

/** Sorts the answer; the content of a success is what the reader has read. */
function outcomeOf(call: Call, exchanged: Exchanged, reader: ListReader): Outcome {
  const { head, error } = exchanged;
  const streamed = head !== undefined && accepts(head) && error === undefined;
  if (!streamed) return classify(call, exchanged);
  try {
    const end = reader.end();
    const { httpStatus } = head;
    if (end.status === 'whole') return { status: 'applied', httpStatus, content: undefined };
    return { status: 'refused', httpStatus, message: shorten(end.message), json: true };
  } catch (problem) {
    return classify(call, { ...exchanged, error: problem });
  }
}

function accepts(head: Head): boolean {
  return isSuccess(head.httpStatus) && encodingOf(head) === undefined;
}
