/** What people said about the columns of a file, kept for the account and the header for which they said it. */
import type pg from 'pg';
import { FIELDS, type Field } from '../../csv/fields.ts';
import type { Sheet } from '../../csv/sheet.ts';
import { keepLearnt, readLearnt } from '../../engine/ledger/learnt.ts';

const COLUMNS = 'columns:';

/** By the signature of a header: field → column, or empty where no column fills the field. */
export async function rememberedColumns(
  pool: pg.Pool,
  scope: string,
): Promise<ReadonlyMap<string, ReadonlyMap<Field, string>>> {
  const remembered = new Map<string, ReadonlyMap<Field, string>>();
  for (const [name, value] of await readLearnt(pool, scope)) {
    if (!name.startsWith(COLUMNS) || typeof value !== 'object' || value === null) continue;
    const told = new Map<string, unknown>(Object.entries(value));
    const fields = FIELDS.flatMap((field) => {
      const column = told.get(field);
      return typeof column === 'string' ? [[field, column] as const] : [];
    });
    remembered.set(name.slice(COLUMNS.length), new Map(fields));
  }
  return remembered;
}

export async function rememberColumns(pool: pg.Pool, scope: string, { mapping, signature }: Sheet): Promise<void> {
  const told = mapping.columns.filter(({ how }) => how === 'told' || how === 'remembered');
  const said = [...told.map(({ field, name }) => [field, name]), ...mapping.none.map((field) => [field, ''])];
  if (said.length > 0) await keepLearnt(pool, scope, `${COLUMNS}${signature}`, Object.fromEntries(said));
}
