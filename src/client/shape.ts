/**
 * The shape of a list as a service answered it: where it stands, and which member carries the id. What is found by
 * looking may be found elsewhere after a change of the service, so the shape is remembered and compared. Pure.
 */
import { type Dialect, idFieldOf, isJsonObject, type Json, type Kind, type LongIds } from './dialect.ts';
import { MAX_LIST_DEPTH } from './list-choice.ts';

/** Of what the settings name there is nothing to compare. */
export interface ListShape {
  /** Dotted; `$` for the answer itself. */
  readonly path?: string;
  readonly idField?: string;
  /** How ids are written that no float carries; absent where there is none. */
  readonly longIds?: LongIds;
}

/** The shape of a list of at least one record; `path` leads to it. */
export function shapeOf(path: readonly string[], first: Json | undefined, kind: Kind, dialect: Dialect): ListShape {
  const idField = idFieldOf(first, kind, dialect);
  return {
    ...(dialect.listPath[kind] === 'auto' && { path: path.length === 0 ? '$' : path.join('.') }),
    ...(dialect.idField[kind] === 'auto' && idField !== undefined && { idField }),
  };
}

/** The way through objects to a list in an answer; undefined where it stands deeper than a list may. */
export function pathTo(list: readonly Json[], body: unknown, depth = MAX_LIST_DEPTH): readonly string[] | undefined {
  if (body === list) return [];
  if (!isJsonObject(body) || depth === 0) return undefined;
  for (const [name, member] of Object.entries(body)) {
    const path = pathTo(list, member, depth - 1);
    if (path !== undefined) return [name, ...path];
  }
  return undefined;
}

/** In what two shapes differ; what only one of them tells is no difference. */
export function driftOf(known: ListShape, seen: ListShape): readonly string[] {
  const members = [
    ['path', 'the list stands at'],
    ['idField', 'the id is in'],
  ] as const;
  return members.flatMap(([member, words]) => {
    const [before, now] = [known[member], seen[member]];
    const isSame = before === undefined || now === undefined || before === now;
    return isSame ? [] : [`${words} "${now}", formerly "${before}"`];
  });
}
