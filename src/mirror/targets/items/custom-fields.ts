/** Fields that only one vendor, or one project, has: named in the settings, and described by the vendor's metadata. Pure. */
import type { Finding } from '../../../contract/target.ts';
import type { FieldTemplates } from '../../../settings/target-items.ts';
import { failedCheck, fine, problem } from '../findings.ts';
import type { Calls } from './item-calls.ts';
import { type FieldValues, isDate, type LabelChange, type Problem } from './item-fields.ts';
import type { Asked } from './item-target.ts';
import { keptMetadata } from './kept-metadata.ts';
import { isSameName } from './wanted-state.ts';

/** `one` and `many` of its options; `list` of any texts; `document`: text with paragraphs. */
type CustomType = 'text' | 'document' | 'number' | 'date' | 'one' | 'many' | 'list';

export interface CustomField {
  readonly id: string;
  readonly name: string;
  /** Undefined: Lockstep cannot write it. */
  readonly type: CustomType | undefined;
  readonly options: readonly { readonly id: string; readonly name: string }[];
}

/** How the vendor's calls write a value. Values of the other types are written as they are. */
export interface CustomForms {
  one(id: string): unknown;
  date(text: string): unknown;
  document(text: string): unknown;
}

/** What the calls of a vendor name by ids, and settings by names. */
export interface NamedValues {
  /** The ids of labels by their names; of labels that it does not have, none. */
  labels?(calls: Calls, names: readonly string[]): Promise<Asked<ReadonlyMap<string, string>>>;
  /** Fields that only this project has. */
  readonly custom?: { read(calls: Calls): Promise<Asked<readonly CustomField[]>>; readonly forms: CustomForms };
}

export interface Resolved {
  readonly values: FieldValues;
  /** Those that the vendor does not have. */
  readonly problems: readonly Problem[];
}

/** Values in the vendor's own form. `target`: for messages. */
export function valueResolver({ labels, custom }: NamedValues, target: string, now: () => Date) {
  const fields = custom && keptMetadata(now, custom.read);
  return async (calls: Calls, values: FieldValues): Promise<Asked<Resolved>> => {
    let resolved: Resolved = { values, problems: [] };
    const { add = [], remove = [] } = values.labels ?? {};
    const names = [...add, ...remove];
    if (labels !== undefined && names.length > 0) {
      const known = await labels(calls, names);
      if (known.status !== 'ok') return known;
      const read = labelIds({ add, remove }, known.value, target);
      resolved = { values: { ...values, labels: read.labels }, problems: read.problems };
    }
    if (custom !== undefined && fields !== undefined && values.custom !== undefined) {
      const texts = values.custom;
      const known = await fields.read(calls, (some) => Object.keys(texts).every((name) => fieldNamed(some, name)));
      if (known.status !== 'ok') return known;
      const read = customValues(texts, known.value, custom.forms, target);
      resolved = {
        values: { ...resolved.values, custom: read.values },
        problems: [...resolved.problems, ...read.problems],
      };
    }
    return { status: 'ok', value: resolved };
  };
}

/** Whether the target has the labels and fields of the settings. */
export async function namedFindings(
  { labels, custom }: NamedValues,
  wanted: Pick<FieldTemplates, 'labels' | 'custom'>,
  calls: Calls,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  if (labels !== undefined && wanted.labels !== undefined) {
    const known = await labels(calls, wanted.labels);
    findings.push(
      ...(known.status === 'ok' ? labelFindings(wanted.labels, known.value) : [failedCheck('labels', known, '')]),
    );
  }
  if (custom !== undefined && wanted.custom !== undefined) {
    const known = await custom.read(calls);
    findings.push(
      ...(known.status === 'ok' ? customFindings(wanted.custom, known.value) : [failedCheck('fields', known, '')]),
    );
  }
  return findings;
}

/** The values by the ids of their fields; an empty text is null. `texts`: by the names or ids of the fields. */
function customValues(
  texts: Readonly<Record<string, unknown>>,
  fields: readonly CustomField[],
  forms: CustomForms,
  target: string,
): { readonly values: Readonly<Record<string, unknown>>; readonly problems: readonly Problem[] } {
  const values: Record<string, unknown> = {};
  const problems: Problem[] = [];
  for (const [name, given] of Object.entries(texts)) {
    const field = fieldNamed(fields, name);
    const read = field === undefined ? unknownField(name, fields) : readText(field, String(given), forms);
    if ('value' in read && field !== undefined) values[field.id] = read.value;
    if (!('why' in read)) continue;
    const { reason, why } = read;
    const detail = `the field ${name} was not written: ${why}; correct targets.${target}.fields.custom, then replay`;
    problems.push({ field: 'custom', failure: { status: 'refused', reason, detail } });
  }
  return { values, problems };
}

/** Whether the target has the fields of the settings, and the values of those that are the same for every task. */
export function customFindings(
  templates: Readonly<Record<string, string>>,
  fields: readonly CustomField[],
): readonly Finding[] {
  return Object.entries(templates).map(([name, template]) => {
    const field = fieldNamed(fields, name);
    const text = isConstant(template) ? template : '';
    const read = field === undefined ? unknownField(name, fields) : readText(field, text, PLAIN);
    const remedy = 'correct the settings, or add the field or its option there';
    return 'why' in read ? problem(`field ${name}`, read.why, remedy) : fine(`field ${name}`, 'found');
  });
}

/** Whether the target has the labels that are the same for every task. */
function labelFindings(templates: readonly string[], known: ReadonlyMap<string, string>): readonly Finding[] {
  const missing = templates.filter((template) => isConstant(template) && !known.has(template));
  if (missing.length === 0) return [fine('labels', 'found')];
  const remedy = 'create what is missing there, or correct fields.labels';
  return [problem('labels', `the target has no label "${missing.join('" or "')}"`, remedy)];
}

export function fieldNamed(fields: readonly CustomField[], name: string): CustomField | undefined {
  return fields.find(({ id }) => id === name) ?? fields.find((field) => isSameName(field.name, name));
}

/** Labels as their ids; a label that the vendor does not know is left out. */
function labelIds(
  labels: LabelChange,
  known: ReadonlyMap<string, string>,
  target: string,
): { readonly labels: LabelChange; readonly problems: readonly Problem[] } {
  const idsOf = (names: readonly string[]) => names.flatMap((each) => known.get(each) ?? []);
  const unknown = labels.add.filter((each) => !known.has(each));
  const names = unknown.join('" and "');
  const [what, them] = unknown.length === 1 ? ['label', 'it'] : ['labels', 'them'];
  const detail = `the target does not have the ${what} "${names}", so Lockstep did not write ${them}: create ${them} there, or correct targets.${target}.fields.labels, then replay`;
  return {
    labels: { add: idsOf(labels.add), remove: idsOf(labels.remove) },
    problems:
      unknown.length === 0
        ? []
        : [{ field: 'labels', failure: { status: 'refused', reason: 'LABEL_UNKNOWN', detail } }],
  };
}

function isConstant(template: string): boolean {
  return !template.includes('{{') && !template.includes('{%');
}

const PLAIN: CustomForms = { one: (id) => id, date: (text) => text, document: (text) => text };

type Read = { readonly value: unknown } | { readonly reason: string; readonly why: string };

function unknownField(name: string, fields: readonly CustomField[]): Read {
  const known = fields.map((field) => field.name).join(', ') || 'none';
  return { reason: 'FIELD_UNKNOWN', why: `the target has no field "${name}" (available: ${known})` };
}

function readText({ type, options, name }: CustomField, text: string, forms: CustomForms): Read {
  if (type === undefined) return invalid(`Lockstep cannot write fields of the type of ${name}`);
  if (text === '') return { value: null };
  switch (type) {
    case 'text':
      return { value: text };
    case 'document':
      return { value: forms.document(text) };
    case 'list':
      return { value: partsOf(text) };
    case 'date':
      return isDate(text) ? { value: forms.date(text.slice(0, 10)) } : invalid(`"${text}" is not a date`);
    case 'number':
      return Number.isFinite(Number(text)) ? { value: Number(text) } : invalid(`"${text}" is not a number`);
    case 'one':
    case 'many': {
      const chosen = (type === 'one' ? [text] : partsOf(text)).map((part) => ({
        part,
        id: options.find((option) => isSameName(option.name, part))?.id,
      }));
      const ids = chosen.flatMap(({ id }) => (id === undefined ? [] : [forms.one(id)]));
      if (ids.length === chosen.length) return { value: type === 'one' ? ids[0] : ids };
      const unknown = chosen.find(({ id }) => id === undefined)?.part;
      return invalid(`it has no option "${unknown}" (available: ${options.map((option) => option.name).join(', ')})`);
    }
    default:
      return type satisfies never;
  }
}

function partsOf(text: string): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function invalid(why: string): Read {
  return { reason: 'FIELD_INVALID', why };
}
