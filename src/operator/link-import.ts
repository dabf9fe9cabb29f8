/** Imports links of tasks from a CSV, for the command line and the console. */
import type pg from 'pg';
import { wrongUse } from '../base/errors.ts';
import { type FileSource, type Received, receive } from '../csv/receive.ts';
import { examineTable, type Table, tableRows } from '../csv/table.ts';
import { scopeNamed } from '../engine/ledger/scopes/scopes.ts';
import { type ImportedLinks, importLinks } from '../mirror/links/import-links.ts';
import { type LinkColumns, type LinkField, mapLinkColumns } from '../mirror/links/link-columns.ts';
import { type LinkReader, type LinkRow, readLink } from '../mirror/links/read-links.ts';
import { type ItemNaming, itemNamingOf } from '../mirror/targets/items/item-naming.ts';
import { oneOf, quote } from '../settings/message-parts.ts';
import { accountNamed, type Settings, targetNamed } from '../settings/settings.ts';

/** Refused rows that are listed, at most; the counts include all. */
const MOST_REFUSED = 100;

export interface LinkFile {
  readonly source: FileSource;
  readonly target: string;
  readonly account: string;
  /** Columns of fields, by name or number; the others are recognised. */
  readonly map?: ReadonlyMap<LinkField, string>;
  readonly hasHeader: boolean;
  readonly isReplacing: boolean;
  readonly isDryRun: boolean;
  readonly spoolDir: string;
  readonly signal: AbortSignal;
}

export interface ImportedFile extends ImportedLinks {
  /** Of the file. */
  readonly name: string;
  readonly columns: LinkColumns;
}

/** All links or none. @throws LockstepError TARGET_WITHOUT_ITEMS, SETTINGS_NAME_UNKNOWN; as receiving and reading a file do */
export async function importLinkFile(pool: pg.Pool, settings: Settings, file: LinkFile): Promise<ImportedFile> {
  const { target, account, isReplacing, isDryRun, spoolDir, signal } = file;
  accountNamed(settings, account);
  const naming = namingOf(settings, target);
  const received = await receive(file.source, { spoolDir, signal });
  try {
    const { table, reader } = understand(received, file, naming);
    const imported = await importLinks(pool, {
      target,
      scope: await scopeNamed(pool, account),
      rows: linksIn(received, table, reader, signal),
      isReplacing,
      isDryRun,
      mostRefused: MOST_REFUSED,
      signal,
    });
    return { ...imported, name: received.name, columns: reader.columns };
  } finally {
    await received.close();
  }
}

function namingOf(settings: Settings, target: string): ItemNaming {
  const named = targetNamed(settings, target);
  const naming = itemNamingOf(named);
  if (naming) return naming;
  const others = linkableTargets(settings);
  const remedy = others.length === 0 ? 'and no other target in the settings has any' : `but ${oneOf(others)} has`;
  throw wrongUse(
    `Target ${quote(target)} is of type ${named.type}, which has no items to link tasks with, ${remedy}.`,
    'TARGET_WITHOUT_ITEMS',
  );
}

export function linkableTargets({ targets }: Settings): readonly string[] {
  return Object.values(targets).flatMap((one) => (itemNamingOf(one) ? [one.name] : []));
}

function understand(received: Received, { map = new Map(), hasHeader }: LinkFile, naming: ItemNaming) {
  const table = examineTable(received, hasHeader ? {} : { hasHeader: false });
  const columns = mapLinkColumns(
    { names: table.columns, isGiven: table.format.hasHeader, line: table.headerLine },
    map,
  );
  return { table, reader: { width: table.columns.length, columns, naming } };
}

async function* linksIn(
  received: Received,
  table: Table,
  reader: LinkReader,
  signal: AbortSignal,
): AsyncGenerator<readonly LinkRow[]> {
  for await (const rows of tableRows(received, table)) {
    signal.throwIfAborted();
    yield rows.map((row) => readLink(row, reader));
  }
}
