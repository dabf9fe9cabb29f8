/** Turns what the store did into what the caller is told, alike for every kind of record. */
import { absent, invalid, type Result } from '../result.ts';
import { kinds, type StoredKind } from '../store/kinds.ts';
import type { Page } from '../store/lists.ts';
import type { Records } from '../store/records.ts';
import type { Outcome } from '../store/writes.ts';

/** `link`: the parent that the caller named. */
export function wrote(records: Records, kind: StoredKind, outcome: Outcome, link?: number): Result {
  switch (outcome.status) {
    case 'written':
      return written(records, kind, outcome.id);
    case 'absent':
      return absent(kind, outcome.id);
    case 'no-parent':
      return noParent(kind, link);
    default:
      return outcome satisfies never;
  }
}

export function written(records: Records, kind: StoredKind, id: number): Result {
  return { status: 'written', kind, id, read: () => records.get(kind, id) };
}

export async function listed(records: Records, kind: StoredKind, page: Page | 'all'): Promise<Result> {
  return { status: 'list', kind, items: page === 'all' ? records.all(kind) : await records.page(kind, page) };
}

/** The field that names the missing parent is to blame, so this is a bad body and not an absent record. */
function noParent(kind: StoredKind, id: number | undefined): Result {
  const parent = kind === 'order' ? 'customer' : 'task';
  return invalid(kinds[kind].link?.column ?? 'body', `no ${parent} ${id} in this workspace`);
}
