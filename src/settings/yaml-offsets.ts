/** Finds the place of a path in a YAML document, through aliases and merge keys. */
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  type Scalar,
  type YAMLMap,
} from 'yaml';
import type { PathStep } from './problems.ts';

/** The offset of the value at `path` or of its key; for what is not there, of the closest thing around it. */
export function offsetOf(document: Document, path: readonly PathStep[], part: 'key' | 'value'): number {
  let node = resolved(document, document.contents);
  let offset = node?.range?.[0] ?? 0;
  for (const [depth, step] of path.entries()) {
    const child = childOf(document, node, step);
    if (child === undefined) return offset;
    node = resolved(document, child.value);
    const isBlock = isCollection(node) && node.flow !== true;
    const wantsKey = depth < path.length - 1 || part === 'key' || isBlock;
    // Of an alias the place where it is used is shown, not the anchor's.
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

/** The last one of the name, should there be two: it is the one that counts. */
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

/** A key as text; the parser gives the merge key as a symbol. */
export function nameOf({ value }: Scalar): string {
  return typeof value === 'symbol' ? (value.description ?? '') : String(value);
}
