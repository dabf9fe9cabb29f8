/** The fields of an item, from the templates of the settings and the task. Pure. */
import type { Delivery, TargetFailure, TaskState } from '../../../contract/target.ts';
import type { FieldTemplates, ItemField, ItemSettings } from '../../../settings/target-items.ts';
import type { ChangeView } from '../../../settings/template.ts';
import { quietViewOf, renderer, viewOf } from '../render.ts';
import { cutText, lineOf, taskTitle } from './item-text.ts';

/** Values as a vendor writes them; members that are not written are undefined, and null empties a field. */
export interface FieldValues {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** A date without a time: 2026-03-01. */
  readonly dueDate?: string | null | undefined;
  readonly labels?: LabelChange | undefined;
  /** The vendor's id of the person. */
  readonly assignee?: string | null | undefined;
  readonly priority?: string | number | null | undefined;
  /** The vendor's own fields by their names or ids: texts, or what `resolve` of the vendor makes of them by their ids. */
  readonly custom?: Readonly<Record<string, unknown>> | undefined;
}

export interface LabelChange {
  readonly add: readonly string[];
  readonly remove: readonly string[];
}

type Refused = Extract<TargetFailure, { status: 'refused' }>;

/** A field that was not written, and why. `isLeftOut`: by the vendor; a person has to write it there. */
export interface Problem {
  readonly field: ItemField;
  readonly failure: Refused;
  readonly isLeftOut?: boolean;
}

type Text = string | readonly string[] | Readonly<Record<string, string>>;
/** What the templates yield for one state of a task. */
type Texts = Readonly<Partial<Record<ItemField, Text>>>;

export interface Fields {
  /**
   * The values of these fields. With `before`, only if their texts differ between the two states, except those that are still
   * `due`.
   */
  values(
    delivery: Delivery,
    names: readonly ItemField[],
    before?: TaskState,
    due?: readonly string[],
  ): ReadFields | Refused;
  readonly names: readonly ItemField[];
}

export interface ReadFields {
  readonly status: 'ok';
  readonly values: FieldValues;
  /** The fields in `values`, for people, each with its new text. */
  readonly changed: readonly { readonly name: string; readonly text: string }[];
  /** Fields that were left out, because the target has no value for their texts. */
  readonly problems: readonly Problem[];
}

const NAMES: Readonly<Record<ItemField, string>> = {
  title: 'title',
  description: 'description',
  dueDate: 'due date',
  labels: 'labels',
  assignee: 'assignee',
  priority: 'priority',
  custom: 'fields of the target',
};
const DEFAULTS: FieldTemplates = { title: '{{ title }}', description: '{{ text }}' };

type Settings = Pick<ItemSettings, 'fields' | 'people'> & { readonly name: string };
/** The vendor's priorities by their common names; undefined: the vendor's priorities are texts. */
type Priorities = Readonly<Record<string, number>> | undefined;

export function openFields(settings: Settings, priorities: Priorities): Fields {
  const templates = { ...DEFAULTS, ...settings.fields };
  const names = (Object.keys(NAMES) as ItemField[]).filter((name) => templates[name] !== undefined); // safe: its own keys
  const fillers = names.map((name) => [name, filler(settings, name, templates[name])] as const);

  function textsOf(delivery: Delivery): { readonly status: 'ok'; readonly texts: Texts } | Refused {
    const [view, quiet] = [viewOf(delivery), quietViewOf(delivery)];
    const texts: Partial<Record<ItemField, Text>> = {};
    for (const [name, fill] of fillers) {
      const read = fill(name === 'title' || name === 'description' ? quiet : view);
      if (read.status !== 'ok') return read;
      texts[name] = read.text;
    }
    return { status: 'ok', texts };
  }

  return {
    names,
    values(delivery, wanted, before, due = []) {
      const now = textsOf(delivery);
      const old = before && textsOf({ ...delivery, task: before });
      if (now.status !== 'ok') return now;
      if (old && old.status !== 'ok') return old;
      const changed = names.filter(
        (name) =>
          due.includes(name) ||
          (wanted.includes(name) && JSON.stringify(now.texts[name]) !== JSON.stringify(old?.texts[name])),
      );
      return valuesOf(changed, delivery, now.texts, old?.texts ?? {}, { ...settings, priorities });
    },
  };
}

/** Fills the templates of a field. */
function filler(
  { name: target }: Settings,
  name: ItemField,
  given: Text = '',
): (view: ChangeView) => { readonly status: 'ok'; readonly text: Text } | Refused {
  const where = `targets.${target}.fields.${name}`;
  const renders = Object.entries(typeof given === 'string' ? [given] : given).map(([key, text]) => {
    return [key, renderer({ text, place: 'text', where: name === 'custom' ? `${where}.${key}` : where })] as const;
  });
  return (view) => {
    const texts: Record<string, string> = {};
    for (const [key, render] of renders) {
      const rendered = render(view);
      if (rendered.status !== 'ok') return rendered;
      texts[key] = rendered.text.trim();
    }
    return { status: 'ok', text: textOf(name, texts) };
  };
}

/** The vendor's own fields have a text each, labels are a list of texts, and another field is one text. */
function textOf(name: ItemField, texts: Readonly<Record<string, string>>): Text {
  if (name === 'custom') return texts;
  const all = Object.values(texts);
  return name === 'labels' ? [...new Set(all.filter((text) => text !== ''))] : (all[0] ?? '');
}

type Choice = Settings & { readonly priorities: Priorities };
type Value = { readonly value: FieldValues } | { readonly failure: Refused };

function valuesOf(names: readonly ItemField[], delivery: Delivery, now: Texts, old: Texts, choice: Choice): ReadFields {
  let values: FieldValues = {};
  const problems: Problem[] = [];
  for (const name of names) {
    const read = readValue(name, delivery, now, old, choice);
    if ('value' in read) values = { ...values, ...read.value };
    else problems.push({ field: name, failure: read.failure });
  }
  const written = names.filter((name) => name in values);
  const changed = written.map((name) => ({ name: NAMES[name], text: forPeople(now[name]) }));
  return { status: 'ok', values, changed, problems };
}

function forPeople(text: Text = ''): string {
  if (typeof text === 'string') return text;
  const named = Array.isArray(text) ? text : Object.entries(text).map(([name, each]) => `${name}: ${each || 'none'}`);
  return named.join(', ');
}

function readValue(name: ItemField, { task }: Delivery, now: Texts, old: Texts, choice: Choice): Value {
  const text = String(now[name] ?? '');
  switch (name) {
    case 'labels': {
      const [add, before] = [listOf(now.labels), listOf(old.labels)];
      return { value: { labels: { add, remove: before.filter((label) => !add.includes(label)) } } };
    }
    case 'custom': {
      const [texts, before] = [Object.entries(now.custom ?? {}), new Map(Object.entries(old.custom ?? {}))];
      return { value: { custom: Object.fromEntries(texts.filter(([key, each]) => before.get(key) !== each)) } };
    }
    case 'title':
      return { value: { title: lineOf(text) || taskTitle({ ...task, title: '' }) } };
    case 'description':
      return { value: { description: cutText(text) } };
    case 'dueDate':
      return text === '' || isDate(text) ? { value: { dueDate: text.slice(0, 10) || null } } : notADate(choice, text);
    case 'assignee':
      return assigneeOf(text, choice);
    case 'priority':
      return priorityOf(text, choice);
    default:
      return name satisfies never;
  }
}

function listOf(text: Text = []): readonly string[] {
  return Array.isArray(text) ? text : [];
}

/** `2026-03-01`, with or without a time. */
export function isDate(text: string): boolean {
  return /^\d{4}-\d\d-\d\d(?![\w-])|^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text.slice(0, 10)));
}

function notADate({ name }: Settings, text: string): Value {
  const remedy = `correct targets.${name}.fields.dueDate: it must yield a date such as 2026-03-01, or nothing`;
  return refusal('FIELD_INVALID', `the due date was not written: "${text}" is not a date; ${remedy}`);
}

function assigneeOf(text: string, { name, people }: Settings): Value {
  if (text === '') return { value: { assignee: null } };
  const person = people[text.toLowerCase()];
  if (person !== undefined) return { value: { assignee: person } };
  const remedy = `add the id of that person to targets.${name}.people, then replay`;
  return refusal('PERSON_UNKNOWN', `the assignee was not written: "${text}" is not in the settings; ${remedy}`);
}

function priorityOf(text: string, { name, priorities }: Choice): Value {
  if (text === '') return { value: { priority: null } };
  const priority = priorities === undefined ? text : priorities[text.toLowerCase()];
  if (priority !== undefined) return { value: { priority } };
  const known = Object.keys(priorities ?? {}).join(', ');
  const remedy = `targets.${name}.fields.priority must yield one of ${known}, or nothing`;
  return refusal('FIELD_INVALID', `the priority was not written: "${text}" is not known; ${remedy}`);
}

function refusal(reason: string, detail: string): Value {
  return { failure: { status: 'refused', reason, detail } };
}

/** For a creation: a new item has no field to empty. */
export function withoutEmpty(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
