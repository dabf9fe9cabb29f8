/** Turns results of the store into answers, in the same way for every kind of record. */
import { absent, found, invalid, type Result } from './result.ts';
import { kinds, type StoredKind } from './store/kinds.ts';
import type { Page } from './store/lists.ts';
import type { Records } from './store/records.ts';
import type { Outcome, Write } from './store/writes.ts';

export async function created(records: Records, kind: StoredKind, write: Write): Promise<Result> {
  return resultOf(records, kind, await records.create(kind, write), write.link);
}

export async function updated(records: Records, kind: StoredKind, id: number, write: Write): Promise<Result> {
  return resultOf(records, kind, await records.update(kind, id, write), write.link);
}

export async function got(records: Records, kind: StoredKind, id: number): Promise<Result> {
  return found(kind, id, await records.get(kind, id));
}

export async function listed(records: Records, kind: StoredKind, page: Page | 'all'): Promise<Result> {
  return { status: 'list', kind, items: page === 'all' ? records.all(kind) : await records.page(kind, page) };
}

export function written(records: Records, kind: StoredKind, id: number): Result {
  return { status: 'written', kind, id, read: () => records.get(kind, id) };
}

/** `link`: the id of the parent in the request. */
function resultOf(records: Records, kind: StoredKind, outcome: Outcome, link: number | undefined): Result {
  switch (outcome.status) {
    case 'written':
      return written(records, kind, outcome.id);
    case 'absent':
      return absent(kind, outcome.id);
    case 'no-parent': {
      // The cause is the field with the id of the missing parent, so this is an invalid body and not an absent record.
      const parent = kind === 'order' ? 'customer' : 'task';
      return invalid(kinds[kind].link?.column ?? 'body', `no ${parent} ${link} in this workspace`);
    }
    default:
      return outcome satisfies never;
  }
}
