/** Keys that identify a record besides its id: normalised texts by name. The record is in the contract's names. Pure. */
import type { Kind } from '../../contract/kinds.ts';
import { isJsonObject } from '../call/dialect.ts';
import { type Json, type JsonObject, textOf } from '../call/json.ts';

/** Such as `email` and `name`; missing values are left out. */
export type RecordKeys = Readonly<Record<string, string>>;

export function recordKeys(kind: Kind, record: Json): RecordKeys {
  if (!isJsonObject(record)) return {};
  switch (kind) {
    case 'contacts':
    case 'customers':
      return said({
        email: textIn(record, 'email'),
        phone: (textIn(record, 'phone_number') || textIn(record, 'phone')).replace(/\D/g, ''),
        name: nameIn(record),
      });
    case 'orders': {
      const owner = textIn(record, 'client_id');
      const label = textIn(record, 'order_id');
      if (label !== '') return { order: `${owner}/${label}` };
      return said({ content: [owner, textIn(record, 'description'), textIn(record, 'amount')].join('/') });
    }
    case 'tasks':
      return said({ title: textIn(record, 'taskName') });
    default:
      return {};
  }
}

/** Whether two records may be the same: they are equal in at least one key, or one of them has no keys. */
export function mayBeSame(one: RecordKeys, other: RecordKeys): boolean {
  const names = Object.keys(one);
  return names.length === 0 || names.some((name) => spelled(other[name]) === spelled(one[name]));
}

/** A service may show the order 0015 as the number 15 in one answer, and as a text in another. */
function spelled(key: string | undefined): string | undefined {
  return key?.replace(/\/0+(?=\d+$)/, '/');
}

function nameIn(record: JsonObject): string {
  return (
    textIn(record, 'full_name') ||
    [textIn(record, 'first_name'), textIn(record, 'last_name')].filter((part) => part !== '').join(' ')
  );
}

function textIn(record: JsonObject, name: string): string {
  return textOf(record[name]).normalize('NFKC').replace(/\s+/g, ' ').toLowerCase();
}

function said(keys: RecordKeys): RecordKeys {
  return Object.fromEntries(Object.entries(keys).filter(([, value]) => value !== ''));
}
