/**
 * Templates in the settings, in the language Liquid: of targets, and of the fields of customers. What a value may contain never
 * changes the form of the result: each value is escaped for the place where it is written. Pure.
 */
import { createRequire } from 'node:module';
import type * as Liquids from 'liquidjs';
import { z } from 'zod';
import { messageOf } from '../base/errors.ts';
import { perKey } from '../base/per-key.ts';
import { wireJson } from '../client/call/json.ts';
import type { TaskState } from '../contract/target.ts';
import { didYouMean, quote } from './message-parts.ts';

/** Where a template is used: in JSON, as a part of a path, in a header, or where every text is allowed. */
export type Place = 'json' | 'path' | 'header' | 'text';

/** What a template may use. Members are null where the task has none. */
export interface ChangeView {
  /** created, completed, reopened, changed or gone. */
  readonly event: string;
  readonly account: string;
  readonly sequence: number;
  /** The id of the delivery: the same in all attempts. */
  readonly delivery: string;
  /** When Lockstep saw the change: an ISO time in UTC. */
  readonly seenAt: string;
  /** The title on one line, without markup; never empty. */
  readonly title: string;
  /** The description without markup. */
  readonly text: string;
  /** The same for all deliveries of one task: `lockstep-` and 12 hexadecimal digits. */
  readonly marker: string;
  readonly task: {
    readonly [Key in keyof TaskState]: TaskState[Key] extends string | boolean ? TaskState[Key] : string | null;
  };
}

/** In the call that reads an item there is only its id, and in calls that change it the task and the record too. */
export interface ItemView {
  /** The id of the outside item. */
  readonly item: string;
}

/** What a call that changes an item may use. */
export interface WriteView extends ChangeView, ItemView {
  /** The record of the item as it was read before the call, in the form of its system. */
  readonly record: unknown;
}

/** What the call that finds an item may use. */
export interface FindView extends ChangeView {
  /** What the page before names its next page by; null for the first page. */
  readonly cursor: string | null;
}

export type TemplateView = ChangeView | ItemView | WriteView | FindView;
export type Template<View extends object> = (view: View) => string;

/** A template is rendered with these when the settings are checked: with all values, and with as few as possible. */
export const FULL = {
  event: 'completed',
  account: 'demo',
  sequence: 2,
  delivery: 'msg_5f2b',
  seenAt: '2026-03-01T12:00:00.000Z',
  title: 'Call "Lee"',
  text: 'first\nsecond',
  marker: 'lockstep-0123456789ab',
  item: '12',
  cursor: 'page-2',
  task: {
    kind: 'task',
    id: '12',
    title: 'Call "Lee"',
    description: 'first\nsecond',
    status: 'completed',
    isCompleted: true,
    isGone: false,
    startDate: '2026-03-01T09:00:00',
    endDate: '2026-03-02T09:00:00',
    parentId: '7',
  },
} as const satisfies FindView & ItemView;
const SCANT: FindView & ItemView = {
  ...FULL,
  event: 'created',
  text: '',
  cursor: null,
  task: { ...FULL.task, description: '', isCompleted: false, startDate: null, endDate: null, parentId: null },
};

const ITEM = 'item';
export const CURSOR = 'cursor';
const OF_ITEM: readonly string[] = [ITEM];
const OF_CHANGE = Object.keys(FULL).flatMap((name) => {
  if (name === 'task') return Object.keys(FULL.task).map((member) => `task.${member}`);
  return name === ITEM || name === CURSOR ? [] : [name];
});

const RECORD = 'record';
const IN_RECORD = /^record[.[]/;

/** What a template is about: a change, an item, both and the item's record, or a change whose item is searched for. */
const NAMES = {
  change: OF_CHANGE,
  item: OF_ITEM,
  find: [...OF_CHANGE, CURSOR],
  write: [...OF_CHANGE, ...OF_ITEM, RECORD],
} as const;
export type About = keyof typeof NAMES;

const ESCAPES: Readonly<Record<Place, (value: unknown) => string>> = {
  json: (value) => JSON.stringify(plain(value)).slice(1, -1),
  path: (value) => encodeURIComponent(plain(value)),
  // A header is one line of printable ASCII.
  header: (value) => plain(value).replaceAll(/[^\x20-\x7e]/gu, encodeURIComponent),
  text: plain,
};

const engineOf = perKey((place: Place) => engineFor(ESCAPES[place]));

/** Throws if the text is not a template, or if rendering it fails or needs too much. */
export function compileTemplate<View extends object = TemplateView>(text: string, place: Place): Template<View> {
  const engine = engineOf(place);
  const parsed = engine.parse(text);
  return (view) => engine.renderSync(parsed, view);
}

/** The variables that a template uses. Throws if the text is not a template. */
export function variablesOf(text: string, place: Place): readonly string[] {
  const engine = engineOf(place);
  return engine.globalFullVariablesSync(engine.parse(text));
}

/** A template of a target as a setting. */
export function template(place: Place, about: About = 'change') {
  return z.string().superRefine((text, context) => {
    const message = problemOf(text, place, NAMES[about]);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });
}

/** What is wrong with the body of a call about an item whose id is not a number. */
export function textItemProblem(body: string): string | undefined {
  return problemOf(body, 'json', NAMES.write, 'item-12');
}

function problemOf(text: string, place: Place, names: readonly string[], item: string = FULL.item): string | undefined {
  try {
    const isKnown = (name: string) => names.includes(name) || (names.includes(RECORD) && IN_RECORD.test(name));
    const unknown = variablesOf(text, place).find((name) => !isKnown(name));
    if (unknown !== undefined) return `unknown variable ${quote(unknown)}${didYouMean(unknown, names) || known(names)}`;
    const render = compileTemplate(text, place);
    const record = sampleRecord(text, place);
    const results = [FULL, SCANT].map((view) => render({ ...view, item, record }));
    return place === 'json' ? jsonProblem(results) : undefined;
  } catch (error) {
    return notATemplate(error);
  }
}

/** A record with the members that a template uses: nothing else is known of it. */
function sampleRecord(text: string, place: Place): unknown {
  const engine = engineOf(place);
  const used = engine.globalVariableSegmentsSync(engine.parse(text)).map((path) => path.map(String));
  return sampleOf(used.flatMap(([name, ...path]) => (name === RECORD ? [path] : [])));
}

function sampleOf(paths: readonly (readonly string[])[]): unknown {
  const names = [...new Set(paths.flatMap((path) => path.slice(0, 1)))];
  if (names.length === 0) return '1';
  const within = (name: string) => paths.flatMap(([member, ...rest]) => (member === name ? [rest] : []));
  return Object.fromEntries(names.map((name) => [name, sampleOf(within(name))]));
}

export function notATemplate(error: unknown): string {
  return `not a valid template: ${messageOf(error)}`;
}

function known(names: readonly string[]): string {
  return ` (known: ${names.join(', ')})`;
}

function jsonProblem(results: readonly string[]): string | undefined {
  for (const [index, result] of results.entries()) {
    try {
      JSON.parse(result);
    } catch (error) {
      const when = index === 0 ? '' : ' for a task without dates and description';
      return `does not yield JSON${when}: ${messageOf(error)}; write texts as "{{ title }}", and values that may be missing as {{ task.endDate | json }}`;
    }
  }
  return undefined;
}

/** Liquid is loaded when it is used: most settings have no template. */
function engineFor(outputEscape: (value: unknown) => string): Liquids.Liquid {
  const { Liquid, toValue, filters } = createRequire(import.meta.url)('liquidjs') as typeof Liquids; // safe: the types of the same package
  const engine = new Liquid({
    strictVariables: true,
    strictFilters: true,
    templates: {}, // no template reads a file
    // Liquid gives null, empty and blank in a template as objects of its own.
    outputEscape: (value) => outputEscape(toValue(value)),
    renderLimit: 1_000,
    memoryLimit: 10_000_000,
    timezoneOffset: 0, // every process writes the same, whatever the time zone of its machine is
  });
  engine.registerFilter('json', { raw: true, handler: (value: unknown) => wireJson(toValue(value) ?? null) });
  for (const [name, filter] of Object.entries(filters)) {
    if (!name.startsWith('date') || typeof filter !== 'function') continue;
    engine.registerFilter(name, function (value, ...given) {
      return filter.call(this, inUtc(toValue(value)), ...given);
    });
  }
  engine.registerFilter('with', (record, name, value) => withMember(record, name, toValue(value)));
  return engine;
}

/** A time without an offset, as the service writes it, is read as UTC. */
function inUtc(value: unknown): unknown {
  const isLocal = typeof value === 'string' && /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?$/.test(value);
  return isLocal ? `${value.replace(' ', 'T')}Z` : value;
}

/** For systems that take a whole record: the record with another value of one member. */
function withMember(record: unknown, name: unknown, value: unknown): unknown {
  if (value === undefined) throw new TypeError('with needs a name and a value, such as with: "done", true');
  return { ...(typeof record === 'object' && record), [String(name)]: value };
}

/** A list or an object as JSON; an object that has a text of its own, such as a long integer, as that text. */
function plain(value: unknown): string {
  const given = value ?? '';
  const isJson = Array.isArray(given) || given.toString === Object.prototype.toString;
  // Half of a surrogate pair is not text, and could not be encoded.
  const text = isJson ? wireJson(given) : String(given);
  return text.replaceAll(/\p{Cs}/gu, '\ufffd');
}
