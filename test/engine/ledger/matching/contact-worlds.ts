/** Customers put straight into a run's match index, and a slow reference for which of them agree. */
import fc from 'fast-check';
import type { Run } from '../../../../src/engine/ledger/runs.ts';
import type { MatchKey } from '../../../../src/settings/schema-sync.ts';
import type { FreshDatabase } from '../../../support/database.ts';

export interface Keys {
  readonly email: string | null;
  readonly phone: string | null;
  readonly name: string | null;
  readonly org: string | null;
}

export async function putRecords(
  { pool }: FreshDatabase,
  run: Run,
  records: readonly (Readonly<Record<string, unknown>> & { readonly record_id: string })[],
): Promise<void> {
  const whole = records.map((record) => ({
    run_id: run.id,
    kind: 'label' in record ? 'order' : 'customer',
    fields: {},
    first_pass: 0,
    last_pass: 0,
    is_listed: true,
    ...record,
  }));
  const columns = Object.keys(whole[0] ?? { run_id: '' }).join(', '); // the others keep their defaults
  await pool.query(
    `insert into ledger.records (${columns})
     select ${columns} from jsonb_populate_recordset(null::ledger.records, $1)`,
    [JSON.stringify(whole)],
  );
}

export async function recordsOf({ pool }: FreshDatabase, run: Run): Promise<readonly Record<string, unknown>[]> {
  const found = await pool.query('select * from ledger.records where run_id = $1 order by record_id', [run.id]);
  return found.rows;
}

type Keyed = Readonly<Record<string, unknown>>;

/** Equal in all keys that identify people. */
export function isSamePerson(contact: Keyed, customer: Keyed): boolean {
  const isKeyed = contact.email !== null || contact.phone !== null || contact.name !== null;
  return isKeyed && ['email', 'phone', 'name', 'org'].every((key) => contact[key] === customer[key]);
}

/** A key agrees where both have it; a weaker one counts only where a stronger one is missing on one side. */
export function agreesAtSomeLevel(contact: Keyed, customer: Keyed, matchBy: readonly MatchKey[]): boolean {
  const same = (key: string) => contact[key] === customer[key];
  const both = (key: string) => contact[key] !== null && same(key);
  const keys = matchBy.filter((key) => key !== 'name');
  const deciding = keys.find((key) => contact[key] !== null && customer[key] !== null);
  if (deciding) return both(deciding);
  return both('name') && same('org') && keys.every((key) => contact[key] === null);
}

/** A key of one of these values, or none. */
export const some = <T>(...values: readonly T[]) => fc.constantFrom(null, ...values);

/** The same shapes in another world share nothing with each other. */
export function inWorld<T extends Keys>(w: number, keyed: T): T {
  const own = (key: string | null) => (key === null ? null : `${key}${w}`);
  return { ...keyed, email: own(keyed.email), phone: own(keyed.phone), name: own(keyed.name), org: own(keyed.org) };
}
