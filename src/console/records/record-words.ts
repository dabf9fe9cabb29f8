/** Records in words: what names a record, the values of its members, and the command that does the same as a call. */
import { shellWord } from '../../base/reasons/template.ts';
import type { Json, JsonObject } from '../../client/call/json.ts';
import { listOf } from '../../contract/kinds.ts';
import type { OperationName } from '../../contract/operations.ts';
import { KIND, type RecordKind } from './kinds.ts';
import { PAGE } from './read.ts';

/** The name of a record, or `task 7`. */
export function recordTitle(kind: RecordKind, id: string, record: JsonObject): string {
  for (const group of KIND[kind].titles) {
    const words = group.map((name) => valueWords(record[name])).filter((word) => word !== '');
    if (words.length > 0) return words.join(' ');
  }
  return `${KIND[kind].one} ${id}`;
}

export function valueWords(value: Json | undefined): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'object' && 'digits' in value) return String(value);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

interface Called {
  readonly operation: OperationName;
  readonly account: string;
  /** Of the path and of the query. */
  readonly params?: Readonly<Record<string, string | number>>;
  readonly body?: unknown;
}

/** The command, without `lockstep`. */
export function callCommand({ operation, account, params = {}, body }: Called): string {
  const words = Object.entries(params).map(([name, value]) => `--param ${shellWord(`${name}=${value}`)}`);
  if (body !== undefined) words.push(`--body ${shellWord(JSON.stringify(body))}`);
  return ['call', operation, `--account ${shellWord(account)}`, ...words].join(' ');
}

/** The command that lists records, without `lockstep`. */
export function listCommand(account: string, kind: RecordKind, term?: string): string {
  if (kind === 'contacts' && term !== undefined)
    return callCommand({ operation: 'contacts.search', account, params: { search_term: term } });
  const params = {
    ...(KIND[kind].list === 'paged' && { page: 0 }),
    ...(kind === 'contacts' && { rows_per_page: PAGE }),
  };
  return callCommand({ operation: listOf(kind), account, params });
}

/** Where a record is shown. */
export function recordPath(account: string, kind: RecordKind, id?: string): string {
  const parts = ['/records', account, kind, ...(id === undefined ? [] : [id])];
  return parts.map((part, i) => (i === 0 ? part : encodeURIComponent(part))).join('/');
}
