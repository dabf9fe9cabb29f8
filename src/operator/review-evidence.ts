/** What a person compares to decide about a row in review: the row beside the records that it may be, or that differ from it. */
import type { Difference, Facts } from '../base/reasons/reason.ts';
import type { CustomerFields } from '../contract/records.ts';
import type { Keys, ReviewItem } from '../engine/ledger/views/review-items.ts';
import { keysOf } from '../syncs/customers/keys.ts';

/** The keys of a record, as people call them, and its fields that they are made of. */
const KEYS = {
  name: ['name', 'full_name'],
  email: ['e-mail', 'email'],
  phone: ['phone', 'phone_number'],
  org: ['organization', 'organization'],
} as const satisfies Readonly<Record<string, readonly [word: string, field: keyof CustomerFields]>>;

export interface Evidence {
  /** What the records are. */
  readonly what: 'order' | 'customer';
  /** The values that are compared, and what people call them. */
  readonly fields: readonly (readonly [name: string, word: string])[];
  /** Those of the row. */
  readonly own: Keys;
  /** Those of the records by their ids; null: only the id is known. */
  readonly records: Readonly<Record<string, Keys | null>>;
  /** Whether a record has the value of the row, which it may write in another way. */
  readonly isSame: (record: string, name: string) => boolean;
}

export function evidenceOf(
  item: Pick<ReviewItem, 'facts' | 'keys' | 'customers' | 'written' | 'customersWritten'>,
): Evidence {
  const { facts, keys, customers } = item;
  const orders = ordersIn(facts);
  const what = orders ? 'order' : 'customer';
  const records = orders ? Object.fromEntries(orders.map((id) => [id, null])) : customers;
  const differences = differencesIn(facts);
  if (differences.length > 0) {
    const shown = valuesOf(differences, 'is', '(another)');
    return {
      what,
      fields: differences.map(({ field }) => [field, field]),
      own: valuesOf(differences, 'expected', '(as in the row)'),
      records: Object.fromEntries(Object.keys(records).map((id) => [id, shown])),
      isSame: () => false, // of equal values there is no difference
    };
  }
  const all = [keys, ...Object.values(records)];
  return {
    what,
    fields: Object.entries(KEYS).flatMap(([key, [word]]) =>
      all.some((of) => of?.[key] !== undefined) ? [[key, word] as const] : [],
    ),
    own: asWritten(keys, item.written),
    records: Object.fromEntries(
      Object.entries(records).map(([id, of]) => [id, of && asWritten(of, item.customersWritten[id])]),
    ),
    isSame: (record, name) => isAlike(keys[name], records[record]?.[name]),
  };
}

const isAlike = (one = '', other = '') => one.trim().toLowerCase() === other.trim().toLowerCase();

/** Keys as their source writes them, where it is known and has not changed since. */
function asWritten(keys: Keys, written: CustomerFields | null | undefined): Keys {
  if (!written) return keys;
  const known = keysOf(written);
  const shown = Object.entries(KEYS).flatMap(([key, [, field]]) => {
    const said = known[key as keyof typeof KEYS]; // safe: a key of this object
    return said !== undefined && said === keys[key] ? [[key, written[field] ?? said] as const] : [];
  });
  return { ...keys, ...Object.fromEntries(shown) };
}

/** The orders that a reason is about; undefined if it is about customers. */
function ordersIn(facts: Facts | null): readonly string[] | undefined {
  const { what, order, ids = facts?.id } = facts ?? {};
  if (order === undefined && what !== 'order') return undefined;
  return [order ?? ids ?? []].flat().map(String);
}

function differencesIn(facts: Facts | null): readonly Difference[] {
  const { differences } = facts ?? {};
  return Array.isArray(differences) ? differences : [];
}

function valuesOf(differences: readonly Difference[], of: 'is' | 'expected', untold: string): Keys {
  return Object.fromEntries(
    differences.map((one) => [one.field, one[of] === '' ? '(empty)' : String(one[of] ?? untold)]),
  );
}
