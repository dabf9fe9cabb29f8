/** Items and their ids in the records that a system shows. Pure. */
import { LongInteger } from '../../../client/call/json.ts';
import type { ItemState } from '../../../contract/target.ts';
import type { HttpItems } from '../../../settings/target-http.ts';
import type { ItemNaming } from '../items/item-naming.ts';
import { markerAtEnd } from '../items/marker.ts';
import { stateWord } from '../items/wanted-state.ts';
import { valueAt } from './json-pointer.ts';

export interface HttpItem extends ItemState {
  /** The item as the system shows it. */
  readonly record: unknown;
}

export type RecordReader = ReturnType<typeof recordReader>;

export function recordReader({ state, read }: HttpItems, { isItemId }: Pick<ItemNaming, 'isItemId'>) {
  const { deleted } = read;

  /**
   * Some systems leave a member without a value out: it counts as null where the settings say what null means. An answer that shows
   * neither the member nor what would hold it nor the id may be about something else.
   */
  function isLeftOut(record: unknown, itemId: string): boolean {
    const isNamed = [...(state.completed ?? []), ...(state.open ?? [])].includes(null);
    const holder = valueAt(record, state.at.replace(/\/[^/]*$/, ''));
    return isNamed && typeof holder === 'object' && (holder !== record || showsId(record, itemId));
  }

  return {
    isDeleted(record: unknown): boolean {
      const value = deleted && valueAt(record, deleted.at);
      if (value === undefined) return false;
      return deleted?.except === undefined ? isOneOf(value, deleted?.values) : !isOneOf(value, deleted.except);
    },

    /** An item by its record; undefined if the record does not show the state. */
    itemOf(record: unknown, itemId: string): HttpItem | undefined {
      const shown = valueAt(record, state.at);
      const value = shown === undefined && isLeftOut(record, itemId) ? null : shown;
      if (value === undefined || (typeof value === 'object' && value !== null && !(value instanceof LongInteger)))
        return undefined;
      const isCompleted = state.open === undefined ? isOneOf(value, state.completed) : !isOneOf(value, state.open);
      const isNamed = value !== null && typeof value !== 'boolean';
      return { itemId, isCompleted, status: isNamed ? String(value) : stateWord(isCompleted), record };
    },

    idAt(record: unknown, pointer: string): string | undefined {
      const id = valueAt(record, pointer);
      const text = id instanceof LongInteger || Number.isSafeInteger(id) ? String(id) : id;
      return typeof text === 'string' && isItemId(text) ? text : undefined;
    },
  };
}

function showsId(record: unknown, itemId: string): boolean {
  return Object.values(record ?? {}).some((value) => String(value) === itemId);
}

/** Many systems write numbers and flags as texts. */
function isOneOf(value: unknown, values: readonly unknown[] = []): boolean {
  return values.some((one) => String(one) === String(value));
}

/** Whether the marker is anywhere in a record, or in a part of it. */
export function holdsMarker(value: unknown, marker: string): boolean {
  return (JSON.stringify(value) ?? '').includes(marker);
}

/** Whether a text ends with the marker or lists it, as tags are listed, or anything else holds it. */
export function carries(value: unknown, marker: string): boolean {
  if (typeof value !== 'string') return holdsMarker(value, marker);
  return markerAtEnd(value) === marker || value.split(/[;,]/).some((part) => part.trim() === marker);
}
