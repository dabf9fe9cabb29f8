/**
 * Pours a list that is arriving into `onRecords`, batch by batch, and says in the end what became of the call.
 */
import { type Call, classify, encodingOf, isSuccess, shorten } from './classify.ts';
import { type Dialect, type Json, kindOf } from './dialect.ts';
import type { BodySink, Exchanged, Head } from './exchange.ts';
import { ListReader } from './list-stream.ts';
import type { Outcome, StreamOutcome } from './outcome.ts';

const MAX_LIST_BYTES = 1024 * 1024 * 1024;

export type OnRecords = (records: readonly Json[]) => Promise<void>;

export interface Pouring {
  readonly sink: BodySink;
  /** Hands over the last records once the whole answer has proved good. Rejects with what `onRecords` rejected with. */
  finish(exchanged: Exchanged): Promise<StreamOutcome>;
}

export function pourList(call: Call, dialect: Dialect, onRecords: OnRecords): Pouring {
  const reader = new ListReader(kindOf(call.operation), dialect);
  let records = 0;
  let consumerFailed: { readonly error: unknown } | undefined;

  async function handOver(first: readonly Json[] | undefined, next: () => readonly Json[] | undefined): Promise<void> {
    try {
      for (let batch = first; batch !== undefined && batch.length > 0; batch = next()) {
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
      maxBytes: MAX_LIST_BYTES,
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
      return { status: 'applied', httpStatus: outcome.httpStatus, records };
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
