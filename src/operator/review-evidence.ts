/** What a person compares to decide about a row in review: the row beside the records that it may be, or that differ from it. */
import type { Difference, Facts } from '../base/reasons/reason.ts';
import type { Keys, ReviewItem } from '../engine/ledger/views/review-items.ts';

/** The keys of a record, as people call them. */
const KEY_WORDS = { name: 'name', email: 'e-mail', phone: 'phone', org: 'organization' };

export interface Evidence {
  /** What the records are. */
  readonly what: 'order' | 'customer';
  /** The values that are compared, and what people call them. */
  readonly fields: readonly (readonly [name: string, word: string])[];
  /** Those of the row. */
  readonly own: Keys;
  /** Those of the records by their ids; null: only the id is known. */
  readonly records: Readonly<Record<string, Keys | null>>;
}

export function evidenceOf({ facts, keys, customers }: Pick<ReviewItem, 'facts' | 'keys' | 'customers'>): Evidence {
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
    };
  }
  const all = [keys, ...Object.values(records)];
  const fields = Object.entries(KEY_WORDS).filter(([key]) => all.some((of) => of?.[key] !== undefined));
  return { what, fields, own: keys, records };
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
