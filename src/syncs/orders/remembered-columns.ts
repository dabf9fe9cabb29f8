/**
 * What people said about the columns of a file, kept for the account and the header for which they said it. Until a load is
 * accepted, it is kept with the load only: a dry run, or a load that a person does not approve, changes no later load.
 */
import type pg from 'pg';
import { z } from 'zod';
import { FIELDS, type Field } from '../../csv/fields.ts';
import type { Sheet } from '../../csv/sheet.ts';
import { keepLearnt, readLearnt } from '../../engine/ledger/learnt.ts';
import type { Run } from '../../engine/ledger/runs.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { type Load, readLoad } from './begin.ts';

const COLUMNS = 'columns:';

/** A part of what is kept with a load. `told`: as `rememberedColumns` returns it. */
const formSchema = z.object({
  columns: z.object({ signature: z.string(), told: z.record(z.string(), z.string()) }).optional(),
});

export type TellingForm = z.input<typeof formSchema>;

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

/** Empty if there is nothing to remember. */
export function tellingForm({ mapping, signature }: Pick<Sheet, 'mapping' | 'signature'>): TellingForm {
  const told = mapping.columns.filter(({ how }) => how === 'told' || how === 'remembered');
  const said = [...told.map(({ field, name }) => [field, name]), ...mapping.none.map((field) => [field, ''])];
  return said.length === 0 ? {} : { columns: { signature, told: Object.fromEntries(said) } };
}

/** What was said about the columns of a load: field → column, or empty where no column fills the field. */
export function toldOf({ form }: Load): Readonly<Record<string, string>> {
  return formSchema.parse(form ?? {}).columns?.told ?? {};
}

/** Remembers what was said about the columns of a load that is accepted. */
export async function rememberColumns(db: Queryable, { id, scope }: Pick<Run, 'id' | 'scope'>): Promise<void> {
  const { columns } = formSchema.parse((await readLoad(db, id))?.form ?? {});
  if (columns) await keepLearnt(db, scope, `${COLUMNS}${columns.signature}`, columns.told);
}
