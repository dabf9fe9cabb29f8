/**
 * Presets: how the exports of other programs are read. Each is a YAML file, `config/presets/NAME.yaml` or a file of the
 * directory that the settings name; docs/csv.md describes its keys. A file is recognised by its header.
 */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { z } from 'zod';
import { closest } from '../base/closest.ts';
import type { Condition } from '../base/condition.ts';
import { codeOf, LockstepError, messageOf, wrongUse } from '../base/errors.ts';
import type { CellSource } from './cell-source.ts';
import { CURRENCY_NAMES, FIELDS, type Field, REFUND_NAMES } from './fields.ts';
import { plainWords } from './words.ts';

const columnName = z.string().trim().min(1);

/** A column, the first column of a list that the file has, a part of each cell, or several cells with spaces between them. */
const rule = z.union(
  [
    columnName.transform((column) => ({ first: [column] })),
    z
      .array(columnName)
      .min(1)
      .transform((first) => ({ first })),
    z.strictObject({ column: columnName, take: z.enum(['email', 'name']) }),
    z.strictObject({ join: z.array(columnName).min(2) }),
    z.strictObject({ column: columnName, ifNegative: columnName }),
  ],
  'expected a column, a list of columns, { column: …, take: email } (or name), { column: …, ifNegative: … }, or { join: [ … ] }',
);

/** Conditions on columns, by the column's header or number. */
export type Where = ReadonlyMap<string, Condition>;

const one = z.union([z.string(), z.boolean()]);
const values = z.union([one, z.array(one).min(1)]);
const condition = z.union(
  [values, z.strictObject({ not: values }), z.strictObject({ present: z.boolean() })],
  'expected a text, a list of texts, { not: … } or { present: true }; write a number in quotes',
);

const presetFile = z.strictObject({
  title: z.string().min(1),
  header: z.array(columnName).min(1),
  columns: z.strictObject(
    Object.fromEntries(FIELDS.map((field) => [field, rule.optional()])) as Record<Field, z.ZodOptional<typeof rule>>,
  ),
  currency: columnName.optional(),
  reversed: z
    .strictObject({
      amount: columnName.optional(),
      cancelled: columnName.optional(),
      status: z.array(z.string().min(1)).min(1).optional(),
    })
    .optional(),
  where: z
    .record(columnName, condition)
    .transform((where): Where => new Map(Object.entries(where)))
    .optional(),
  combineLines: z.strictObject({ amount: z.enum(['sum', 'first']), description: z.enum(['join', 'first']) }).optional(),
});

/** `name` is the name of its file. */
export type Preset = z.output<typeof presetFile> & { readonly name: string };

export const NO_PRESET = 'none';
const BUILT_IN = fileURLToPath(new URL('../../config/presets/', import.meta.url));
/** They do not change while the program runs, and parsing them takes longer than reading a file of orders. */
let builtIn: readonly Preset[] | undefined;
const FILE = /^([a-z0-9][a-z0-9_-]*)\.ya?ml$/i;

/**
 * The presets that come with Lockstep, and those in `dir`, which replace presets of the same name.
 * @throws LockstepError PRESET_INVALID, PRESETS_UNREADABLE
 */
export async function readPresets(dir?: string): Promise<readonly Preset[]> {
  builtIn ??= await presetsIn(BUILT_IN);
  const own = dir === undefined ? [] : await presetsIn(dir);
  return [...new Map([...builtIn, ...own].map((preset) => [preset.name, preset])).values()];
}

async function presetsIn(dir: string): Promise<readonly Preset[]> {
  try {
    const files = (await readdir(dir)).filter((file) => FILE.test(file)).sort();
    return await Promise.all(
      files.map(async (file) => presetOf(await readFile(path.join(dir, file), 'utf8'), dir, file)),
    );
  } catch (error) {
    if (codeOf(error) === undefined || error instanceof LockstepError) throw error;
    const message = `The presets in ${dir} cannot be read: ${messageOf(error)}. Check the key presets in the settings, and the permissions.`;
    throw wrongUse(message, 'PRESETS_UNREADABLE', error);
  }
}

function presetOf(text: string, dir: string, file: string): Preset {
  const at = path.join(dir, file);
  const name = FILE.exec(file)?.[1] ?? file;
  if (name === NO_PRESET) throw invalid(at, [`${NO_PRESET} is not allowed as a name: --preset none means no preset`]);
  const read = presetFile.safeParse(parsed(text, at));
  if (read.success) return { ...read.data, name };
  throw invalid(at, read.error.issues.flatMap(problemsOf));
}

function parsed(text: string, at: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw invalid(at, [messageOf(error).split('\n')[0] ?? '']);
  }
}

function problemsOf(issue: z.core.$ZodIssue): readonly string[] {
  if (issue.code !== 'unrecognized_keys') return [[issue.path.join('.'), issue.message].filter(Boolean).join(': ')];
  return issue.keys.map((key) => {
    const known = issue.path[0] === 'columns' ? FIELDS : Object.keys(presetFile.shape);
    const guess = closest(key, known);
    return `${[...issue.path, key].join('.')}: unknown key${guess === undefined ? '' : ` (did you mean ${guess}?)`}`;
  });
}

function invalid(at: string, problems: readonly string[]): LockstepError {
  const message = `The preset ${at} is not valid: ${problems.join('; ')}. docs/csv.md describes the keys.`;
  return wrongUse(message, 'PRESET_INVALID');
}

/**
 * The preset for a header: the chosen one, or the one that names most of its columns among those whose `header` is in it.
 * @throws LockstepError CSV_PRESET_UNKNOWN, or CSV_PRESET_UNFIT if the chosen one has no column of the file
 */
export function presetFor(names: readonly string[], presets: readonly Preset[], chosen?: string): Preset | undefined {
  if (chosen === NO_PRESET) return undefined;
  if (chosen === undefined) {
    const fitting = presets.filter(({ header }) => header.every((name) => indexOf(names, name) !== -1));
    return fitting.sort((one, other) => other.header.length - one.header.length)[0];
  }
  const preset = presets.find(({ name }) => name === chosen);
  if (!preset) {
    const known = presets.map(({ name }) => name);
    const guess = closest(chosen, known);
    const hint = guess === undefined ? `Choose ${known.join(', ')} or none.` : `Did you mean ${guess}?`;
    const message = `There is no preset ${chosen}. ${hint}`;
    throw wrongUse(message, 'CSV_PRESET_UNKNOWN');
  }
  if (sourcesOf(preset, names).size > 0) return preset;
  const message = `The preset ${chosen} does not fit: the file has none of its columns. Choose another one, or none.`;
  throw wrongUse(message, 'CSV_PRESET_UNFIT');
}

/** Where a file with these columns has the fields of a preset. `hasCells`: whether a column has any; it goes before one without. */
export function sourcesOf(
  { columns }: Preset,
  names: readonly string[],
  hasCells: (index: number) => boolean = () => true,
): ReadonlyMap<Field, CellSource> {
  const sources = new Map<Field, CellSource>();
  for (const field of FIELDS) {
    const source = columns[field] && sourceOf(columns[field], names, hasCells);
    if (source) sources.set(field, source);
  }
  const amount = sources.get('amount')?.index;
  for (const [field, source] of sources) {
    const rule = columns[field];
    const index = rule !== undefined && 'ifNegative' in rule ? indexOf(names, rule.ifNegative) : -1;
    if (amount !== undefined && index !== -1) sources.set(field, { ...source, ifNegative: { amount, index } });
  }
  return sources;
}

function sourceOf(
  rule: NonNullable<Preset['columns'][Field]>,
  names: readonly string[],
  hasCells: (index: number) => boolean,
): CellSource | undefined {
  const wanted = 'first' in rule ? rule.first : 'join' in rule ? rule.join : [rule.column];
  const columns = wanted.map((name) => indexOf(names, name)).filter((at) => at !== -1);
  const [index, ...also] = columns;
  if (index === undefined) return undefined;
  if ('first' in rule) return { index: columns.find(hasCells) ?? index };
  if ('join' in rule && also.length > 0) return { index, also };
  return 'take' in rule ? { index, take: rule.take } : { index };
}

/** The column with the currency of the amounts: as the preset says, or by its name. From 0. */
export function currencyIndexOf(names: readonly string[], preset?: Preset): number | undefined {
  const named = names.find((name) => CURRENCY_NAMES.includes(plainWords(name)));
  return columnOf(names, preset?.currency ?? named);
}

/** Columns of orders that count no longer, from 0. */
export interface ReversalColumns {
  /** What was refunded of the order. */
  readonly refunded: number | undefined;
  /** When the order was cancelled. */
  readonly cancelled: number | undefined;
}

export function reversalColumnsOf(names: readonly string[], preset?: Preset): ReversalColumns {
  const { amount, cancelled } = preset?.reversed ?? {};
  const named = names.find((name) => REFUND_NAMES.includes(plainWords(name)));
  return { refunded: columnOf(names, amount ?? named), cancelled: columnOf(names, cancelled) };
}

function columnOf(names: readonly string[], wanted: string | undefined): number | undefined {
  const index = wanted === undefined ? -1 : indexOf(names, wanted);
  return index === -1 ? undefined : index;
}

/** Exports differ in case from version to version, and templates mark the columns that they need with an asterisk. */
function indexOf(names: readonly string[], wanted: string): number {
  return names.findIndex((name) => name.trim().replace(/^\*/, '').toLowerCase() === wanted.toLowerCase());
}
