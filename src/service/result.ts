/** The result of a handler; dialect.ts decides how it is sent. */
import type { RecordKind } from './testbed/behaviour.ts';

export type ShownKind = RecordKind | 'comment' | 'card';

export type Result =
  | { readonly status: 'record'; readonly kind: ShownKind; readonly json: string }
  /** Items as JSON text joined by commas: as one text, or in batches if the list may be long. */
  | { readonly status: 'list'; readonly kind: ShownKind; readonly items: string | AsyncIterable<string> }
  | Written
  | Refused;

/** Created or changed. `read` returns the current record. */
export interface Written {
  readonly status: 'written';
  readonly kind: ShownKind;
  readonly id: number;
  read(): Promise<string | undefined>;
}

/** Nothing was changed. `message` names the field if one is the cause. */
export interface Refused {
  readonly status: 'refused';
  readonly httpStatus: 400 | 401 | 404 | 405 | 408 | 409 | 413 | 414 | 415 | 429 | 431 | 500 | 503;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The message is the same for a record of another tenant and for one that never existed. */
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
