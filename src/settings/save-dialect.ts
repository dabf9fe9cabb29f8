/**
 * Writes findings about an account into the settings file and changes nothing else: comments, order, spacing and quotes
 * stay as they are. (The `yaml` package can write a changed document, but it moves comments and reformats lists; so it
 * is only used to find positions, and the text itself is edited.)
 *
 * The new text is parsed before it is written: it must be valid and, except for the changes, have the same meaning.
 */
import { randomBytes } from 'node:crypto';
import { access, constants, open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isMap, isScalar, type Pair, parseDocument, stringify, type YAMLMap } from 'yaml';
import { type LockstepError, messageOf, wrongUse } from '../base/errors.ts';
import { readDocument } from './document.ts';
import { defaultSettingsFile } from './load.ts';
import { quote } from './message-parts.ts';
import { parseSettings } from './parse.ts';

export interface Change {
  /** The path within the account, such as `['dialect', 'firstTaskPage']`. */
  readonly path: readonly string[];
  readonly value: unknown;
}

export interface Saved {
  /** Absolute. */
  readonly file: string;
  /** The changes that were needed. */
  readonly changed: readonly Change[];
}

/**
 * Saves the changes of one account atomically: the file is either the old one or the new one. Throws
 * SETTINGS_NOT_SAVED, exit code 2, if the user has no settings file, the file does not have the account or is not
 * writable, or the change cannot be made without changing something else.
 */
export async function saveAccount(file: string, account: string, changes: readonly Change[]): Promise<Saved> {
  if (path.resolve(file) === defaultSettingsFile()) {
    throw notSaved(file, 'it comes with Lockstep; copy it to config/lockstep.yaml, or name your own with --config');
  }
  const target = await realpath(file).catch((error: unknown) => {
    throw notSaved(file, `there is no such file (${messageOf(error)})`, error);
  });
  const before = await readFile(target, 'utf8').catch((error: unknown) => {
    throw notSaved(file, `it cannot be read (${messageOf(error)})`, error);
  });
  const edited = editAccount(before, account, changes);
  if (edited.status === 'impossible') throw notSaved(file, edited.why);
  if (edited.changed.length === 0) return { file: target, changed: [] };
  const parsed = parseSettings({ text: edited.text, file: target, env: {} });
  if (parsed.status === 'invalid') {
    throw notSaved(file, `the change would make it invalid: ${parsed.problems[0]?.message ?? 'unknown'}`);
  }
  await replaceFile(target, edited.text).catch((error: unknown) => {
    throw notSaved(file, `it cannot be written (${messageOf(error)}): give this user the right to write it`, error);
  });
  return { file: target, changed: edited.changed };
}

type Edited =
  | { readonly status: 'edited'; readonly text: string; readonly changed: readonly Change[] }
  | { readonly status: 'impossible'; readonly why: string };

/** Returns the text with the changes. Pure. */
export function editAccount(before: string, account: string, changes: readonly Change[]): Edited {
  const own = parseDocument(before, { merge: true }).getIn(['accounts', account], true);
  if (!isMap(own)) {
    return { status: 'impossible', why: `account ${quote(account)} is not written in the file as its own map` };
  }
  let text = before;
  const changed: Change[] = [];
  for (const change of changes) {
    const at = ['accounts', account, ...change.path];
    const old = readDocument(text).value;
    if (isDeepStrictEqual(valueAt(old, at), change.value)) continue;
    const edit = editOf(text, at, change.value);
    const next = edit === undefined ? text : text.slice(0, edit.from) + edit.text + text.slice(edit.to);
    if (!isDeepStrictEqual(readDocument(next).value, withValue(old, at, change.value))) {
      const said = `${at.join('.')}: ${stringify(change.value, FLOW).trimEnd()}`;
      return { status: 'impossible', why: `add it by hand: ${said}` };
    }
    text = next;
    changed.push(change);
  }
  return { status: 'edited', text, changed };
}

interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

const FLOW = { collectionStyle: 'flow', lineWidth: 0 } as const;

/**
 * The smallest edit that puts a value at a path; undefined if the path goes through an alias, or there is nothing to
 * add it to.
 */
function editOf(text: string, at: readonly string[], value: unknown): Edit | undefined {
  const document = parseDocument(text, { merge: true });
  let map: unknown = document.contents;
  for (const [depth, name] of at.entries()) {
    if (!isMap(map)) return undefined;
    const rest = at.slice(depth + 1).reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
    const pair = map.items.find(({ key }) => isScalar(key) && key.value === name);
    if (pair === undefined) return insertion(text, map, { name, rest, next: at[depth + 1] });
    if (isMap(pair.value) && depth < at.length - 1) map = pair.value;
    else return replacement(pair, rest);
  }
  return undefined;
}

function replacement(pair: Pair, rest: unknown): Edit | undefined {
  const from = rangeOf(pair.value)?.[0];
  const to = endOf(pair);
  if (from === undefined || to === undefined) return undefined;
  return { from, to, text: from === to ? ` ${flow(rest)}` : flow(rest) };
}

/**
 * Adds a member after the last member of a map, in the style of the map. `next` is the next step of the path, if there
 * is one.
 */
function insertion(
  text: string,
  map: YAMLMap,
  { name, rest, next }: { name: string; rest: unknown; next: string | undefined },
): Edit | undefined {
  const last = map.items.at(-1);
  const [from, to] = rangeOf(map) ?? [0, 0];
  const inLine = `${name}: ${flow(rest)}`;
  if (last === undefined) return { from, to, text: `{ ${inLine} }` };
  const end = endOf(last);
  if (end === undefined) return undefined;
  if (map.flow === true) return { from: end, to: end, text: `, ${inLine}` };
  const first = rangeOf(map.items[0]?.key)?.[0] ?? 0;
  const indent = ' '.repeat(first - (text.lastIndexOf('\n', first - 1) + 1));
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const member = next === undefined ? inLine : `${name}:${newline}${indent}  ${next}: ${flow(membersOf(rest)?.[next])}`;
  const at = lineAfter(text, end, indent.length);
  if (at === undefined) return { from: text.length, to: text.length, text: `${newline}${indent}${member}` };
  return { from: at, to: at, text: `${indent}${member}${newline}` };
}

/** Where the next line begins. Comments indented deeper than `indent` belong to the text before them. */
function lineAfter(text: string, end: number, indent: number): number | undefined {
  let lineEnd = text.indexOf('\n', Math.max(0, end - 1));
  if (lineEnd < 0) return undefined;
  for (;;) {
    const comment = /^( *)#.*\n?/.exec(text.slice(lineEnd + 1));
    if (comment === null || (comment[1]?.length ?? 0) <= indent || !comment[0].endsWith('\n')) return lineEnd + 1;
    lineEnd += comment[0].length;
  }
}

/** Where the text of a member ends. The range of a block map extends to what follows it, so the last leaf is used. */
function endOf({ key, value }: Pair): number | undefined {
  if (isMap(value) && value.flow !== true) {
    const last = value.items.at(-1);
    if (last !== undefined) return endOf(last);
  }
  return rangeOf(value)?.[1] ?? rangeOf(key)?.[1];
}

function rangeOf(node: unknown): readonly [from: number, to: number] | undefined {
  const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : undefined;
  if (!Array.isArray(range)) return undefined;
  return typeof range[0] === 'number' && typeof range[1] === 'number' ? [range[0], range[1]] : undefined;
}

function flow(value: unknown): string {
  return stringify(value, FLOW).trimEnd();
}

function valueAt(value: unknown, at: readonly string[]): unknown {
  return at.reduce<unknown>((inner, name) => membersOf(inner)?.[name], value);
}

/** A copy with a value at a path; values on the path that are not maps become maps. */
function withValue(value: unknown, [name, ...rest]: readonly string[], leaf: unknown): unknown {
  if (name === undefined) return leaf;
  const members = membersOf(value) ?? {};
  return { ...members, [name]: withValue(members[name], rest, leaf) };
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  const isMembers = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isMembers ? (value as Readonly<Record<string, unknown>>) : undefined; // as: any object's members by name
}

async function replaceFile(file: string, text: string): Promise<void> {
  await access(file, constants.W_OK);
  const { mode } = await stat(file);
  const temporary = `${file}.${randomBytes(4).toString('hex')}.tmp`;
  try {
    const handle = await open(temporary, 'wx', mode);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

function notSaved(file: string, why: string, cause?: unknown): LockstepError {
  return wrongUse(`Nothing was written to ${file}: ${why}`, 'SETTINGS_NOT_SAVED', cause);
}
