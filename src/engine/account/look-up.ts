/** Reads one record by its id, if the service has an operation for that. */
import type { Lane } from '../../client/budget/budget.ts';
import { recordIn } from '../../client/call/decode.ts';
import { flagOf, idOf, isJsonObject, toWireId } from '../../client/call/dialect.ts';
import { type Json, type JsonObject, textOf } from '../../client/call/json.ts';
import { formOfRecord } from '../../client/call/record-form.ts';
import { type GettableKind, ID_PARAM, type Kind } from '../../contract/kinds.ts';
import type { Account } from './account.ts';
import { RunFailed } from './failure.ts';
import { type ReadOptions, readCall } from './reads.ts';

export type LookedUp =
  | { readonly status: 'found'; readonly record: JsonObject; readonly readAtMs: number }
  /** The service refuses the id, or answers another record or none. */
  | { readonly status: 'not-found' };

export interface LookUpOptions extends ReadOptions {
  readonly lane: Lane;
  readonly signal: AbortSignal;
}

/** Whether a record says of itself that it is deleted: some services list such records, and others hide them. */
export function isMarkedDeleted(record: Json, kind: Kind): boolean {
  return isJsonObject(record) && formOfRecord(record, kind).deletion.some((name) => isSet(record[name]));
}

function isSet(value: Json | undefined): boolean {
  return flagOf(value) !== false && (value === true || /[1-9a-z]/i.test(textOf(value)));
}

/** @throws Stop */
export async function lookUp(
  account: Account,
  kind: Exclude<GettableKind, 'pipelines'>,
  id: string,
  options: LookUpOptions,
): Promise<LookedUp> {
  const readAtMs = performance.now();
  try {
    const answer = await readCall(account, `${kind}.get`, { ...options, query: { [ID_PARAM[kind]]: toWireId(id) } });
    const record = recordIn(answer.content, account.dialect, kind);
    const isIt = record !== undefined && idOf(record, kind, account.dialect) === id;
    return isIt ? { status: 'found', record, readAtMs } : { status: 'not-found' };
  } catch (error) {
    if (error instanceof RunFailed && error.code === 'SERVICE_REFUSED') return { status: 'not-found' };
    throw error;
  }
}
