/**
 * The shape of a list in a service's answer: its path, and which member holds the id. A detected shape may change when the
 * service changes, so it is stored and compared. Pure.
 */
import type { Kind } from '../../contract/kinds.ts';
import { type Dialect, idFieldOf, type LongIds } from './dialect.ts';
import type { Json } from './json.ts';

/** Members that the settings name are not compared. */
export interface ListShape {
  /** Dotted; `$` for the answer itself. */
  readonly path?: string;
  readonly idField?: string;
  /** How ids that a float cannot represent are written; absent if there is none. */
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

/** How two shapes differ. A member that only one of them has is no difference. */
export function driftOf(known: ListShape, seen: ListShape): readonly string[] {
  const members = [
    ['path', 'the list is at'],
    ['idField', 'the id is in'],
  ] as const;
  return members.flatMap(([member, words]) => {
    const [before, now] = [known[member], seen[member]];
    const isSame = before === undefined || now === undefined || before === now;
    return isSame ? [] : [`${words} "${now}", formerly "${before}"`];
  });
}
