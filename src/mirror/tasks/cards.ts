/**
 * The cards of a pipeline as targets receive them: a card's status is the name of its column. The contract shows no fields of
 * pipelines, columns and cards, so they are found under the names that services use. Pure.
 */
import { grouped } from '../../base/grouped.ts';
import { contractRecord } from '../../client/call/contract-record.ts';
import { autoDialect, idOf, isJsonArray, isJsonObject } from '../../client/call/dialect.ts';
import { type Json, type JsonObject, textOf } from '../../client/call/json.ts';
import type { TaskState } from '../../contract/target.ts';
import { commonFields } from './task-state.ts';

export type ReadCards =
  | { readonly status: 'read'; readonly cards: readonly TaskState[] }
  /** `why` completes the sentence "the answer …". */
  | { readonly status: 'unreadable'; readonly why: string };

const COLUMNS = ['columns', 'stages', 'lists', 'lanes', 'statuses'];
const CARDS = ['cards', 'items', 'deals', 'leads', 'tasks', 'records'];
const COLUMN_OF_CARD = ['column_id', 'columnId', 'stage_id', 'stageId', 'list_id', 'listId'];
const COLUMN_IDS = ['id', 'column_id', 'columnId', 'stage_id', 'stageId', '_id', 'uuid'];
const CARD_IDS = ['id', 'card_id', 'cardId', '_id', 'uuid'];
const NAMES = ['name', 'title', 'column_name', 'columnName', 'stage_name', 'label'];
const MAX_DEPTH = 4;

/** `isDone` decides by a column's name whether its cards are completed. */
export function cardsOf(content: unknown, pipelineId: string, isDone: (column: string) => boolean): ReadCards {
  const read = boardColumns(content);
  if (read.status === 'unreadable') return read;
  const cards = read.columns.flatMap(({ name, cards }) =>
    cards.map(
      ({ id, record }): TaskState => ({
        kind: 'card',
        id,
        ...commonFields(record, 'title'),
        status: name,
        isCompleted: isDone(name),
        isGone: false,
        parentId: pipelineId,
      }),
    ),
  );
  return { status: 'read', cards };
}

export interface Column {
  readonly id: string | undefined;
  /** Its name or, without one, its id. */
  readonly name: string;
  readonly cards: readonly { readonly id: string; readonly title: string; readonly record: JsonObject }[];
}

export type ReadColumns =
  | { readonly status: 'read'; readonly columns: readonly Column[] }
  | Extract<ReadCards, { status: 'unreadable' }>;

/** The columns of a pipeline with their cards. A column that the cards name and the pipeline does not comes last. */
export function boardColumns(content: unknown): ReadColumns {
  const found = membersNamed(content, COLUMNS);
  if (found === undefined) return { status: 'unreadable', why: `has no columns; ${membersOf(content)}` };
  const objects = found.list.filter(isJsonObject);
  const placed = cardsInColumns(objects) ?? cardsBeside(found.owner, objects);
  if (placed === undefined && objects.length > 0) {
    return { status: 'unreadable', why: `has columns but no cards; for the first column, ${membersOf(objects[0])}` };
  }
  const columns: Column[] = [];
  for (const { cards, ...column } of placed ?? []) {
    const without = cards.find((card) => idUnder(card, CARD_IDS) === undefined);
    if (without) return { status: 'unreadable', why: `has a card without an id; ${membersOf(without)}` };
    const read = cards.flatMap((card) => {
      const id = idUnder(card, CARD_IDS);
      const record = contractRecord(card, 'cards', autoDialect);
      return id === undefined ? [] : [{ id, title: textOf(record.title), record }];
    });
    columns.push({ ...column, cards: read });
  }
  return { status: 'read', columns };
}

type Placed = Pick<Column, 'id' | 'name'> & { readonly cards: readonly JsonObject[] };

function cardsInColumns(columns: readonly JsonObject[]): readonly Placed[] | undefined {
  const lists = columns.map((column) => ({ column, cards: arrayUnder(column, CARDS) }));
  if (!lists.some(({ cards }) => cards !== undefined)) return undefined;
  return lists.map(({ column, cards = [] }) => ({ ...named(column), cards: cards.filter(isJsonObject) }));
}

/** Cards next to the columns that name their column. */
function cardsBeside(pipeline: JsonObject, columns: readonly JsonObject[]): readonly Placed[] | undefined {
  const cards = arrayUnder(pipeline, CARDS)?.filter(isJsonObject);
  if (cards === undefined) return undefined;
  const byColumn = grouped(cards.map((card) => [idUnder(card, COLUMN_OF_CARD), card]));
  const known = columns.map(named);
  const others = [...byColumn.keys()].filter((id) => !known.some((column) => column.id === id));
  return [...known, ...others.map((id) => ({ id, name: id ?? '' }))].map((column) => ({
    ...column,
    cards: byColumn.get(column.id) ?? [],
  }));
}

/** The outermost array under one of these names, and the object that contains it. */
function membersNamed(
  content: unknown,
  names: readonly string[],
): { owner: JsonObject; list: readonly Json[] } | undefined {
  let level = [content];
  for (let depth = 0; depth <= MAX_DEPTH; depth++) {
    const objects = level
      .flatMap((value): readonly unknown[] => (isJsonArray(value) ? value : [value]))
      .filter(isJsonObject);
    for (const owner of objects) {
      const list = arrayUnder(owner, names);
      if (list !== undefined) return { owner, list };
    }
    level = objects.flatMap((object) => Object.values(object));
  }
  return undefined;
}

function arrayUnder(object: JsonObject, names: readonly string[]): readonly Json[] | undefined {
  return firstUnder(object, names, (value) => (isJsonArray(value) ? value : undefined));
}

function named(column: JsonObject): Pick<Column, 'id' | 'name'> {
  const id = idUnder(column, COLUMN_IDS);
  return { id, name: firstUnder(column, NAMES, (name) => textOf(name) || undefined) ?? id ?? '' };
}

/** An id in the spelling used everywhere, from the first of these names that has one. */
function idUnder(object: JsonObject, names: readonly string[]): string | undefined {
  return firstUnder(object, names, (id) => idOf({ id }, 'pipelines', autoDialect));
}

function membersOf(value: unknown): string {
  if (!isJsonObject(value)) return isJsonArray(value) ? 'it is a list' : 'it is not an object';
  return `its members are ${Object.keys(value).slice(0, 12).join(', ') || 'none'}`;
}

/** The value of the first of these members that `read` can read. */
function firstUnder<T>(
  record: JsonObject,
  names: readonly string[],
  read: (value: Json) => T | undefined,
): T | undefined {
  for (const name of names) {
    const found = Object.hasOwn(record, name) ? read(record[name] ?? null) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}
