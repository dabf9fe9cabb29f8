/**
 * The cards of a pipeline as targets receive them: a card's status is the name of its column. The contract shows no fields of
 * pipelines, columns and cards, so they are found under the names that services use. Pure.
 */
import { autoDialect, idOf, isJsonArray, isJsonObject } from '../../client/call/dialect.ts';
import type { Json, JsonObject } from '../../client/call/json.ts';
import type { TaskState } from '../../contract/target.ts';
import { commonFields, firstText, firstUnder } from './task-state.ts';

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
const TITLES = ['title', 'name', 'card_name', 'cardName', 'taskName', 'contact_name'];
const MAX_DEPTH = 4;

/** `isDone` decides by a column's name whether its cards are completed. */
export function cardsOf(content: unknown, pipelineId: string, isDone: (column: string) => boolean): ReadCards {
  const found = membersNamed(content, COLUMNS);
  if (found === undefined) return { status: 'unreadable', why: `has no columns; ${membersOf(content)}` };
  const columns = found.list.filter(isJsonObject);
  const placed = cardsInColumns(columns) ?? cardsBeside(found.owner, columns);
  if (placed === undefined && columns.length > 0) {
    return { status: 'unreadable', why: `has columns but no cards; for the first column, ${membersOf(columns[0])}` };
  }
  const cards: TaskState[] = [];
  for (const { card, column } of placed ?? []) {
    const id = idUnder(card, CARD_IDS);
    if (id === undefined) return { status: 'unreadable', why: `has a card without an id; ${membersOf(card)}` };
    cards.push({
      kind: 'card',
      id,
      ...commonFields(card, TITLES),
      status: column,
      isCompleted: isDone(column),
      isGone: false,
      parentId: pipelineId,
    });
  }
  return { status: 'read', cards };
}

interface Placed {
  readonly card: JsonObject;
  /** Its name or, without one, its id. */
  readonly column: string;
}

function cardsInColumns(columns: readonly JsonObject[]): readonly Placed[] | undefined {
  const lists = columns.map((column) => ({ column, cards: arrayUnder(column, CARDS) }));
  if (!lists.some(({ cards }) => cards !== undefined)) return undefined;
  return lists.flatMap(({ column, cards = [] }) =>
    cards.filter(isJsonObject).map((card) => ({ card, column: nameOf(column) })),
  );
}

/** Cards next to the columns that name their column. */
function cardsBeside(pipeline: JsonObject, columns: readonly JsonObject[]): readonly Placed[] | undefined {
  const cards = arrayUnder(pipeline, CARDS);
  if (cards === undefined) return undefined;
  const names = new Map(columns.map((column) => [idUnder(column, COLUMN_IDS), nameOf(column)]));
  return cards.filter(isJsonObject).map((card) => {
    const columnId = idUnder(card, COLUMN_OF_CARD);
    return { card, column: names.get(columnId) ?? columnId ?? '' };
  });
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

function nameOf(column: JsonObject): string {
  return firstText(column, NAMES) ?? idUnder(column, COLUMN_IDS) ?? '';
}

/** An id in the spelling used everywhere, from the first of these names that has one. */
function idUnder(object: JsonObject, names: readonly string[]): string | undefined {
  return firstUnder(object, names, (id) => idOf({ id }, 'pipelines', autoDialect));
}

function membersOf(value: unknown): string {
  if (!isJsonObject(value)) return isJsonArray(value) ? 'it is a list' : 'it is not an object';
  return `its members are ${Object.keys(value).slice(0, 12).join(', ') || 'none'}`;
}
