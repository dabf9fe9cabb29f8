/**
 * What people said about the columns of a file, kept for the account and the header for which they said it. Until a load is
 * accepted, it is kept with the load only: a dry run, or a load that a person does not approve, changes no later load.
 */
import type pg from 'pg';
import { z } from 'zod';
import { referenceTo } from '../../csv/column-names.ts';
import { FIELDS, type Field } from '../../csv/fields.ts';
import type { Sheet } from '../../csv/sheet.ts';
import type { Run } from '../../engine/ledger/runs.ts';
import { keepLearnt, readLearnt } from '../../engine/ledger/scopes/learnt.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { type Load, readLoad } from './begin-load.ts';

const COLUMNS = 'columns:';

const byField = z.record(z.string(), z.string());

/**
 * A part of what is kept with a load. `told`: as `rememberedColumns` returns it. `read`: how its file was read. `options`: what else was
 * chosen, as `readingOptions` returns it.
 */
const formSchema = z.object({
  columns: z.object({ signature: z.string(), told: byField }).optional(),
  read: z
    .object({ columns: byField, decimal: z.enum(['.', ',']).optional(), accounting: z.boolean().optional() })
    .optional(),
  options: z.array(z.string()).readonly().default([]),
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

/**
 * Has `columns` only if there is something to remember. A file of results says nothing new about the columns of the file that it
 * was made from.
 */
export function tellingForm({ mapping, columns: names, signature, amounts, preset, added }: Telling): TellingForm {
  const columns = mapping.columns.map(({ field, index, how }) => ({ field, name: referenceTo(index, names), how }));
  const told = columns.filter(({ how }) => how === 'told' || how === 'remembered');
  const none = mapping.none.map((field) => ({ field, name: '' }));
  const hasOrderId = preset !== undefined || columns.some(({ field }) => field === 'order_id');
  const found = columns.filter(({ how }) => how !== 'preset' && how !== 'shared');
  const decimal = amounts.decimal === 'unsure' ? undefined : amounts.decimal;
  return {
    read: {
      columns: pairs([...found, ...none, ...(hasOrderId ? [] : [{ field: 'order_id', name: '' }])]),
      decimal,
      accounting: amounts.accounting,
    },
    ...(told.length + none.length > 0 && !added && { columns: { signature, told: pairs([...told, ...none]) } }),
  };
}

type Telling = Pick<Sheet, 'mapping' | 'columns' | 'signature' | 'amounts' | 'preset' | 'added'>;

function pairs(
  columns: readonly { readonly field: string; readonly name: string }[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(columns.map(({ field, name }) => [field, name]));
}

/**
 * How the file of a load was read, so that some of its rows can be read in the same way: field → column, or empty where no column
 * fills the field, and the form of amounts. Of a load of an earlier version: what was said about its columns.
 */
export function readAs({ form }: Load) {
  const { read, columns } = formSchema.parse(form ?? {});
  return read ?? { columns: columns?.told ?? {} };
}

/** The options that read the file of a load again in the same way, besides those that `readAs` says. */
export function optionsOf({ form }: Load): readonly string[] {
  return formSchema.parse(form ?? {}).options;
}

/** Remembers what was said about the columns of a load that is accepted. */
export async function rememberColumns(db: Queryable, { id, scope }: Pick<Run, 'id' | 'scope'>): Promise<void> {
  const { columns } = formSchema.parse((await readLoad(db, id))?.form ?? {});
  if (columns) await keepLearnt(db, scope, `${COLUMNS}${columns.signature}`, columns.told);
}
