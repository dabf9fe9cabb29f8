/** What a file is as a load: its identity, by which it is found again, and what is kept of it for its results. */
import { createHash } from 'node:crypto';
import type pg from 'pg';
import { storable } from '../../base/texts.ts';
import type { Lane } from '../../client/budget/budget.ts';
import { indexesOf } from '../../csv/cell-source.ts';
import { doubtOf } from '../../csv/column-notes.ts';
import { contentSha256 } from '../../csv/content-hash.ts';
import type { Received } from '../../csv/receive.ts';
import type { Sheet, SheetChoices } from '../../csv/sheet.ts';
import type { Account } from '../../engine/account/account.ts';
import type { LoadSpec } from './begin-load.ts';
import { readingOptions } from './reading-options.ts';
import { type TellingForm, tellingForm } from './remembered-columns.ts';
import type { ResultFormat } from './results.ts';

export interface LoadIdentity {
  readonly account: Pick<Account, 'name' | 'scope' | 'service'>;
  readonly choices: Omit<SheetChoices, 'presets' | 'recall'>;
  /** Set to load a file again that was loaded before. */
  readonly salt?: string;
}

export interface Specified extends LoadIdentity, Pick<LoadSpec, 'options' | 'dryRun' | 'staysDeclined' | 'corrects'> {
  /** Default: interactive for a small file, because a person waits for it; batch for a large one. */
  readonly lane?: Lane;
}

const SMALL_BYTES = 1024 * 1024;

/**
 * Identifies a load: files with the same text are the same load, however they are compressed. Earlier versions identified
 * loads by the bytes of their file; such a load is found by its bytes.
 */
export async function loadFingerprint(pool: pg.Pool, { account }: LoadIdentity, received: Received): Promise<string> {
  const content = await contentSha256(received);
  const found = await pool.query('select 1 from ledger.loads where scope = $1 and sha256 = $2 limit 1', [
    account.scope,
    received.sha256,
  ]);
  return found.rowCount === 0 ? content : received.sha256;
}

/** The id of a load. `sha256`: its fingerprint. */
export function loadIdOf({ account, choices, salt = '' }: LoadIdentity, sheet: Sheet, sha256: string): string {
  const told = sheet.mapping.columns.map(({ field, ...source }) => [
    field,
    ...indexesOf(source),
    ...(source.take ? [source.take] : []),
  ]);
  const reading = readingOf(choices, sheet);
  const identity = [account.scope, account.service, sha256, told, sheet.amounts, salt, ...reading];
  return createHash('sha256').update(JSON.stringify(identity)).digest('hex');
}

export function specOf(load: Specified, received: Received, sheet: Sheet, sha256: string): LoadSpec {
  const { columns, format, encoding } = sheet;
  const { account, options, dryRun, staysDeclined, corrects } = load;
  const lane = load.lane ?? (received.unpackedBytes <= SMALL_BYTES ? 'interactive' : 'batch');
  const form: ResultFormat & TellingForm & { readonly corrects?: string; readonly isCorrection?: boolean } = {
    ...(corrects !== undefined && { corrects }),
    ...(sheet.added !== undefined && { isCorrection: true }),
    ...tellingForm(sheet),
    options: readingOptions({ ...load.choices, map: undefined, decimal: undefined, accounting: undefined }),
    delimiter: format.delimiter,
    quote: format.quote,
    lineEnd: format.lineEnd,
    encoding: encoding.encoding,
    withBom: encoding.hasBom,
    title: sheet.title.map((row) => row.map(storable)),
  };
  return {
    account: account.name,
    scope: account.scope,
    loadId: loadIdOf(load, sheet, sha256),
    fileName: received.name,
    sha256,
    bytes: received.sizeBytes,
    header: columns,
    form,
    options: { ...options, doubt: doubtOf(sheet) },
    lane,
    dryRun,
    staysDeclined,
    corrects,
  };
}

/** Which rows of the file become which orders; nothing where each row does, as in earlier versions. */
function readingOf({ headerLine }: LoadIdentity['choices'], { combine, limit, where }: Sheet): readonly unknown[] {
  const filter = where.length === 0 ? undefined : where.map(({ index, condition }) => [index, condition]);
  const isWhole = [combine, limit, headerLine, filter].every((one) => one === undefined);
  return isWhole ? [] : [{ combine, limit, headerLine, where: filter }];
}

/** The label prefix of orders without an order_id: the same however the columns are mapped, so no order is created twice. */
export function labelsFor({ account }: LoadIdentity, sha256: string): string {
  const identity = JSON.stringify([account.scope, account.service, sha256]);
  return `LS-${createHash('sha256').update(identity).digest('hex').slice(0, 8)}`;
}
