/**
 * YAML text as plain values, with the line and column of every key and value.
 *
 * Anchors, aliases and merge keys (`<<`) work. Refused: several documents in one file, duplicate keys, unknown tags,
 * keys that are not plain text, `__proto__` as a key, an anchor that contains itself, and aliases that expand without
 * limit.
 */
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type Scalar,
  visit,
  type YAMLMap,
} from 'yaml';
import type { PathStep, Position, Problem } from './problems.ts';

export interface SettingsDocument {
  /** Undefined if the text is not YAML. */
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /** The position of the value at `path`, or of its key; if it does not exist, of the closest parent. */
  locate(path: readonly PathStep[], part?: 'key' | 'value'): Position;
}

/** Reads settings text; never throws. */
export function readDocument(text: string): SettingsDocument {
  const lines = new LineCounter();
  // Merge keys are YAML 1.1, but they are the usual way to share a budget between accounts.
  const document = parseDocument(text, { lineCounter: lines, merge: true, prettyErrors: false, logLevel: 'error' });
  const positionOf = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const locate = (path: readonly PathStep[], part: 'key' | 'value' = 'value') =>
    positionOf(offsetOf(document, path, part));
  const explained = [...document.errors, ...document.warnings].map((error) => ({
    path: [],
    message: explainSyntax(error.code, error.message),
    position: positionOf(error.pos[0]),
  }));
  const syntax = [...new Map(explained.map((one) => [JSON.stringify(one), one])).values()];
  const fatal = document.errors.some((error) => error.code !== 'DUPLICATE_KEY');
  if (fatal) return { value: undefined, problems: syntax, locate };
  const structure = structureProblems(document, positionOf);
  if (structure.some((problem) => problem.fatal)) {
    return { value: undefined, problems: [...syntax, ...structure], locate };
  }
  try {
    return { value: document.toJS(), problems: [...syntax, ...structure], locate };
  } catch (error) {
    const message = error instanceof Error ? withoutSource(error.message) : 'not valid YAML';
    return {
      value: undefined,
      problems: [...syntax, ...structure, { path: [], message, position: locate([]) }],
      locate,
    };
  }
}

function explainSyntax(code: string, message: string): string {
  switch (code) {
    case 'TAB_AS_INDENT':
      return 'a tab is used as indentation; YAML allows spaces only';
    case 'BLOCK_AS_IMPLICIT_KEY':
    case 'MULTILINE_IMPLICIT_KEY': // often both, at one position
      return 'the next line is indented further than this one, or the text has a colon and is not quoted: let the keys of one map start in the same column, or quote the text';
    case 'BAD_INDENT':
      if (message.startsWith('All mapping items'))
        return 'wrong indentation: the keys of one map have to start in the same column';
      break;
    case 'DUPLICATE_KEY':
      return 'this key occurs twice in the same map; keep one';
    case 'MULTIPLE_DOCS':
      return 'a second document starts here (---); settings are one document';
    case 'TAG_RESOLVE_FAILED':
      return 'a tag (a word that starts with !) is not known here; quote the value if it is text';
    case 'BAD_SCALAR_START':
      return `not valid YAML: ${withoutSource(message)}; quote the value if it is text`;
  }
  return `not valid YAML: ${withoutSource(message)}`;
}

/** The parser's messages quote the text after a colon, and the text may be a secret. */
function withoutSource(message: string): string {
  return message.split(/[:\n]/, 1)[0] ?? message;
}

interface StructureProblem extends Problem {
  /** The document cannot be turned into plain values. */
  readonly fatal: boolean;
}

function structureProblems(document: Document, positionOf: (offset: number) => Position): StructureProblem[] {
  const problems: StructureProblem[] = [];
  const report = (node: unknown, path: readonly PathStep[], message: string, fatal: boolean) =>
    problems.push({ path, message, position: positionOf(isNode(node) ? (node.range?.[0] ?? 0) : 0), fatal });
  visit(document, {
    Pair: (_, pair, ancestors) => {
      const { key } = pair;
      // `__proto__` would be an ordinary key here, but code that copies it into an object would set the prototype.
      if (isScalar(key) && key.value === '__proto__') {
        report(key, pathOf([...ancestors, pair]), 'this key is not allowed', false);
      } else if (isCollection(key) || isAlias(key)) {
        report(key, pathOf(ancestors), 'a key must be plain text', true);
      } else if (!isScalar(key) || key.value === null || key.value === '') {
        report(isScalar(key) ? key : pair.value, pathOf(ancestors), 'a key is missing before the colon', true);
      }
    },
    Alias: (_, alias, ancestors) => {
      const anchor = alias.resolve(document);
      const path = pathOf([...ancestors, alias]);
      const absent = 'no anchor of this name is defined above; quote the value if it is text';
      if (anchor === undefined) report(alias, path, absent, true);
      else if (ancestors.includes(anchor)) report(alias, path, 'the anchor contains itself', true);
    },
  });
  return problems;
}

function pathOf(nodes: readonly unknown[]): PathStep[] {
  const path: PathStep[] = [];
  nodes.forEach((ancestor, depth) => {
    if (isPair(ancestor) && isScalar(ancestor.key)) path.push(nameOf(ancestor.key));
    else if (isSeq(ancestor)) {
      const index = ancestor.items.indexOf(nodes[depth + 1]);
      if (index >= 0) path.push(index);
    }
  });
  return path;
}

/** The offset of the value at `path` or of its key; if it does not exist, of the closest parent. */
function offsetOf(document: Document, path: readonly PathStep[], part: 'key' | 'value'): number {
  let node = resolved(document, document.contents);
  let offset = node?.range?.[0] ?? 0;
  for (const [depth, step] of path.entries()) {
    const child = childOf(document, node, step);
    if (child === undefined) return offset;
    node = resolved(document, child.value);
    const isBlock = isCollection(node) && node.flow !== true;
    const wantsKey = depth < path.length - 1 || part === 'key' || isBlock;
    // For an alias, this is the position of its use, not of the anchor.
    const shown = wantsKey ? (child.key ?? child.value) : (child.value ?? child.key);
    offset = shown?.range?.[0] ?? offset;
  }
  return offset;
}

interface Child {
  readonly key: Node | undefined;
  readonly value: Node | undefined;
}

function childOf(document: Document, parent: Node | undefined, step: PathStep): Child | undefined {
  if (isSeq(parent)) {
    const item = parent.items[Number(step)];
    return isNode(item) ? { key: undefined, value: item } : undefined;
  }
  if (!isMap(parent)) return undefined;
  return pairIn(parent, String(step)) ?? mergedPairIn(document, parent, String(step));
}

/** The last one of this name, because the last one is used. */
function pairIn(map: YAMLMap, name: string): Child | undefined {
  const pair = map.items.findLast(({ key }) => isScalar(key) && nameOf(key) === name);
  if (pair === undefined || !isScalar(pair.key)) return undefined;
  return { key: pair.key, value: isNode(pair.value) ? pair.value : undefined };
}

function mergedPairIn(document: Document, map: YAMLMap, name: string): Child | undefined {
  const merge = pairIn(map, '<<')?.value;
  const source = resolved(document, merge);
  const sources = isSeq(source) ? source.items : [source];
  for (const item of sources) {
    const inner = resolved(document, item);
    const found = isMap(inner) ? pairIn(inner, name) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function resolved(document: Document, node: unknown): Node | undefined {
  if (isAlias(node)) return node.resolve(document);
  return isNode(node) ? node : undefined;
}

/** A key as text; the parser returns the merge key as a symbol. */
function nameOf({ value }: Scalar): string {
  return typeof value === 'symbol' ? (value.description ?? '') : String(value);
}
