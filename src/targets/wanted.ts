/** The state that an item should be in: what its task says or, for a card, what the settings say of its column. Pure. */
import type { ItemState, TaskState } from './target.ts';

export type Wanted =
  | { readonly status: 'completed' }
  | { readonly status: 'open' }
  /** A status of the outside system, by its name. */
  | { readonly status: 'named'; readonly name: string };

/** `columns`: what a card is by the name of its column; a column that is not there is left to `isCompleted`. */
export function wantedState(task: TaskState, columns: Readonly<Record<string, string>>): Wanted {
  const name = task.kind === 'card' ? lookUp(columns, task.status) : undefined;
  if (name === undefined) return { status: task.isCompleted ? 'completed' : 'open' };
  return name === 'completed' || name === 'open' ? { status: name } : { status: 'named', name };
}

export function isInState(item: ItemState, wanted: Wanted): boolean {
  switch (wanted.status) {
    case 'completed':
      return item.isCompleted;
    case 'open':
      return !item.isCompleted;
    case 'named':
      return isSameName(item.status, wanted.name);
    default:
      return wanted satisfies never;
  }
}

/** For people: "completed", "open", or the name in quotes. */
export function describeWanted(wanted: Wanted): string {
  return wanted.status === 'named' ? `"${wanted.name}"` : wanted.status;
}

/** People write the names of columns and statuses as they please. */
export function isSameName(one: string, other: string): boolean {
  return fold(one) === fold(other);
}

function lookUp(columns: Readonly<Record<string, string>>, column: string): string | undefined {
  return Object.entries(columns).find(([name]) => isSameName(name, column))?.[1];
}

function fold(name: string): string {
  return name.trim().toLowerCase();
}
