/** The form of a load: its fields, the choices that they make, and the command that makes the same. */
import { z } from 'zod';
import { shellWord } from '../../base/reasons/template.ts';
import { referenceTo } from '../../csv/column-names.ts';
import { COMBINE } from '../../csv/combine.ts';
import { ENCODINGS } from '../../csv/encoding.ts';
import { FIELDS, type Field } from '../../csv/fields.ts';
import { DELIMITERS } from '../../csv/format.ts';
import { EXISTING } from '../../settings/schema-sync.ts';
import type { Load } from '../../syncs/orders/begin-load.ts';
import type { OrdersOptions } from '../../syncs/orders/options.ts';
import { readingOptions } from '../../syncs/orders/reading-options.ts';
import type { FileLoad } from '../../syncs/orders/receive-load.ts';
import { readAs } from '../../syncs/orders/remembered-columns.ts';

/** The value of a column where no column fills the field. The name of a column has no spaces around it. */
export const NO_COLUMN = ' ';

const yes = z.literal('yes').optional();
const column = z.string().max(2_000).optional();
// Safe: these are the names of all fields.
const columns = Object.fromEntries(FIELDS.map((field) => [columnOf(field), column])) as Record<
  `column-${Field}`,
  typeof column
>;

export const loadForm = z.object({
  encoding: z.enum(ENCODINGS).optional(),
  delimiter: z.enum(DELIMITERS).optional(),
  decimal: z.enum(['.', ',']).optional(),
  accounting: yes,
  header: z.coerce.number().int().min(1).optional(),
  headless: yes,
  preset: z.string().max(100).optional(),
  combine: z.enum(COMBINE).optional(),
  existing: z.enum(EXISTING).prefault('skip'),
  customers: yes,
  again: yes,
  /** Only orders that have the value `is` in this column. */
  only: column,
  is: z.string().max(200).optional(),
  ...columns,
});

export type LoadForm = z.output<typeof loadForm>;

/** A field that is left out is found by the column's name and cells. */
export function columnOf<Name extends Field>(field: Name): `column-${Name}` {
  return `column-${field}`;
}

/** The value that names a column; the number of a column (from 1) where a form cannot send its name. */
export function columnValue(index: number, names: readonly string[]): string {
  const reference = referenceTo(index, names);
  return /^[^\r\n]{1,60}$/.test(reference) ? reference : String(index + 1);
}

export function choicesOf(form: LoadForm): FileLoad['choices'] {
  const { encoding, delimiter, decimal, accounting, header, headless, preset, combine, only, is } = form;
  return {
    encoding,
    delimiter,
    decimal,
    accounting: accounting === 'yes',
    preset,
    headerLine: headless ? undefined : header,
    hasHeader: headless ? false : undefined,
    combineLines: combine,
    where: only === undefined ? undefined : new Map([[only, is ?? '']]),
    map: new Map(told(form)),
  };
}

/** The columns and options of a load, for a file with some of its rows. */
export function formOfLoad(load: Load, { existing, createCustomers }: OrdersOptions): Readonly<Record<string, string>> {
  const { columns: found, decimal, accounting } = readAs(load);
  const columns = Object.entries(found).flatMap(([field, name]) => {
    const index = load.header.findIndex((_, at) => referenceTo(at, load.header) === name);
    if (name !== '' && index < 0) return [];
    return [[`column-${field}`, name === '' ? NO_COLUMN : columnValue(index, load.header)] as const];
  });
  return {
    ...Object.fromEntries(columns),
    ...(decimal !== undefined && { decimal }),
    ...(accounting && { accounting: 'yes' }),
    ...(createCustomers && { customers: 'yes' }),
    existing,
  };
}

/** Without `lockstep`. `options`: more of them. */
export function commandOf(
  form: LoadForm,
  { name, account }: { readonly name: string; readonly account: string },
  options: readonly string[] = [],
): string {
  const { existing, customers, again } = form;
  return [
    'orders load',
    shellWord(name.startsWith('-') ? `./${name}` : name),
    `--account ${shellWord(account)}`,
    ...readingOptions(choicesOf(form)),
    ...options,
    ...(existing === 'skip' ? [] : [`--existing ${existing}`]),
    ...(customers ? ['--create-customers'] : []),
    ...(again ? ['--again'] : []),
  ].join(' ');
}

function told(form: LoadForm): readonly (readonly [Field, string])[] {
  return FIELDS.flatMap((field) => {
    const column = form[columnOf(field)];
    return column === undefined ? [] : [[field, column] as const];
  });
}
