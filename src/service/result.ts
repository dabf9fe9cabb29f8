/** What a handler found or did, before anyone decides how it looks on the wire (dialect.ts). */
import type { RecordKind } from './testbed/behaviour.ts';

export type ShownKind = RecordKind | 'comment' | 'card';

export type Result =
  | { readonly status: 'record'; readonly kind: ShownKind; readonly json: string }
  /** Items as JSON text joined by commas: in one piece, or in batches for a list that may be long. */
  | { readonly status: 'list'; readonly kind: ShownKind; readonly items: string | AsyncIterable<string> }
  | Written
  | Refused;

/** Created or changed. `read` gives the record as it is now. */
export interface Written {
  readonly status: 'written';
  readonly kind: ShownKind;
  readonly id: number;
  read(): Promise<string | undefined>;
}

/** Nothing was changed. `message` names the field where one is to blame. */
export interface Refused {
  readonly status: 'refused';
  readonly httpStatus: 400 | 401 | 404 | 405 | 408 | 409 | 413 | 414 | 415 | 429 | 431 | 500 | 503;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A record of another tenant gets the same words as one that never was. */
export function absent(kind: ShownKind, id: number): Refused {
  return { status: 'refused', httpStatus: 404, message: `no ${kind} ${id} in this workspace` };
}

/** A body or query that cannot be used because of `field`. */
export function invalid(field: string, message: string): Refused {
  return { status: 'refused', httpStatus: 400, message: `${field}: ${message}` };
}

export function found(kind: ShownKind, id: number, json: string | undefined): Result {
  return json === undefined ? absent(kind, id) : { status: 'record', kind, json };
}
