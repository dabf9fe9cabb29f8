/** The options of `lockstep orders load` that read a file in a certain way. */
import { shellWord } from '../../base/reasons/template.ts';
import type { SheetChoices } from '../../csv/sheet.ts';

/** `--decimal , --header-row 3`, as a shell reads it. */
export function readingOptions(choices: Omit<SheetChoices, 'presets' | 'recall'>): readonly string[] {
  const { map, encoding, delimiter, quote, decimal, accounting, hasHeader, headerLine } = choices;
  const { preset, combineLines, where, limit } = choices;
  const option = (flag: string, value: string | number | undefined) =>
    value === undefined ? [] : [`--${flag} ${shellWord(String(value))}`];
  return [
    ...[...(map ?? [])].flatMap(([field, column]) => option('map', `${field}=${column.trim()}`)),
    ...option('encoding', encoding),
    ...option('delimiter', delimiter === '\t' ? 'tab' : delimiter),
    ...option('quote', quote),
    ...option('decimal', decimal),
    ...(accounting ? ['--accounting'] : []),
    ...(hasHeader === false ? ['--no-header'] : option('header-row', headerLine)),
    ...option('preset', preset),
    ...option('combine-lines', combineLines),
    ...[...(where ?? [])].flatMap((condition) => conditionsOf(condition).flatMap((text) => option('where', text))),
    ...option('limit', limit),
  ];
}

type Condition =
  NonNullable<SheetChoices['where']> extends ReadonlyMap<string, infer One> ? readonly [string, One] : never;

/** Presets have other conditions, too; they are not chosen with a file. */
function conditionsOf([column, condition]: Condition): readonly string[] {
  const isNot = typeof condition === 'object' && 'not' in condition;
  const values = isNot ? condition.not : condition;
  return [values].flat().map((value) => `${column}${isNot ? '!=' : '='}${value}`);
}
