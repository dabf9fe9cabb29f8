/** Finds the list of records in an answer, and the member with the ids. */
import { arraysIn, listIn } from '../../client/call/decode.ts';
import { autoDialect, type Dialect, idFieldOf, idOf, isJsonObject } from '../../client/call/dialect.ts';
import type { Json, JsonObject } from '../../client/call/json.ts';
import type { Kind } from '../../contract/kinds.ts';

export interface FoundList {
  readonly path: readonly string[];
  /** In the contract's names. */
  readonly records: readonly JsonObject[];
  /** As they were answered. */
  readonly raw: readonly JsonObject[];
  /** As the client reads them; a record without an id is left out. */
  readonly ids: readonly string[];
  /** The member with the id; undefined if the list is empty. */
  readonly idName: string | undefined;
}

/** The list at the path in the settings, or the detected list; undefined if there is none or if several could be it. `isPage`: see `AskedFor`. */
export function findList(body: Json, kind: Kind, dialect: Dialect, isPage = false): FoundList | undefined {
  for (const way of [dialect, autoDialect]) {
    const found = listIn(body, way, kind, { isPage });
    if (found === undefined) continue;
    const records = found.list.filter(isJsonObject);
    const ids = records.map((record) => idOf(record, kind, way)).filter((id) => id !== undefined);
    const [first] = records;
    return {
      path: found.path,
      records,
      raw: found.raw.filter(isJsonObject),
      ids,
      idName: idFieldOf(first, kind, way),
    };
  }
  return undefined;
}

/** As in the settings: `$` or a dotted path. */
export function pathText(path: readonly string[]): string {
  return path.length === 0 ? '$' : path.join('.');
}

/** Arrays that could be the list, because they contain objects. */
export function listPaths(body: Json | undefined): readonly string[] {
  return arraysIn(body)
    .filter(({ list }) => isJsonObject(list[0]))
    .map(({ path }) => pathText(path));
}

/** Where an object of records is whose keys are numbers or ids; undefined if there is none. */
export function pathOfKeyed(body: Json): string | undefined {
  const found = arraysIn(body, () => true).find(({ keys }) => keys !== undefined);
  return found && pathText(found.path);
}

/** For records without an id under a usual name: a member that is named like an id and differs in every record. */
export function likelyIdName(body: Json | undefined): string | undefined {
  const lists = arraysIn(body).filter(({ list }) => isJsonObject(list[0]));
  const records = lists.length === 1 ? (lists[0]?.list.filter(isJsonObject) ?? []) : [];
  const [first] = records;
  if (first === undefined) return undefined;
  return Object.keys(first).find((name) => {
    const values = records.map((record) => record[name]);
    const areIds = values.every((value) => typeof value === 'number' || (typeof value === 'string' && value !== ''));
    return /(^|_)(id|key|no|number|uuid|guid)$|Id$|ID$/.test(name) && areIds && new Set(values).size === values.length;
  });
}
