/**
 * Finding customers, checked against a slow and simple reference: many small worlds of rows and customers with
 * overlapping e-mails, phones and names, resolved together in one run.
 */
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { resolveCustomers } from '../../../../src/engine/ledger/matching/order-customers.ts';
import { inTransaction } from '../../../../src/storage/transaction.ts';
import { runs } from '../../../support/property-runs.ts';
import { aRun, freshLedger, putRows, rowsOf } from '../fresh-ledger.ts';
import { inWorld, type Keys, putRecords, some } from './contact-worlds.ts';
import { type Columns, fateOf } from './load-worlds.ts';

const database = await freshLedger();
afterAll(() => database.close());

interface Customer extends Keys {
  readonly id: string;
}

interface Row extends Keys {
  /** Given by the file, as the id of one of its world's customers; 9 is the id of no customer. */
  readonly given: number | undefined;
}

const keys = { email: some('e', 'f'), phone: some('1', '2'), name: some('a', 'b'), org: some('o', 'p') };
const row: fc.Arbitrary<Row> = fc.record({
  ...keys,
  given: fc.option(fc.constantFrom(0, 1, 9), { nil: undefined, freq: 1 }),
});
const world = fc.record({
  rows: fc.array(row, { minLength: 1, maxLength: 4 }),
  customers: fc.array(fc.record(keys), { maxLength: 5 }),
});
const worlds = fc.array(world, { minLength: 20, maxLength: 30 });

type Found =
  | { readonly status: 'found'; readonly id: string }
  | { readonly status: 'ambiguous' }
  | { readonly status: 'missing' };

test.each([true, false])(
  'each row has the customer that it must mean, or none; missing ones are kept: %s',
  async (keepMissing) => {
    await fc.assert(
      fc.asyncProperty(worlds, async (drawn) => {
        const run = await aRun(database, { type: 'orders' });
        const whole = drawn.map(({ rows, customers }, w) => ({
          rows: rows.map((one) => ({ ...inWorld(w, one), ...(one.given !== undefined && noKeys) })),
          customers: customers.map((one, i) => ({ ...inWorld(w, one), id: idOf(w, i) })),
        }));
        await putRows(
          database,
          run,
          whole.flatMap(({ rows }, w) => rows.map((one, i) => columnsOf(one, w, i))),
        );
        await putRecords(
          database,
          run,
          whole.flatMap(({ customers }) => customers.map(({ id, ...customer }) => ({ ...customer, record_id: id }))),
        );
        const resolve = () =>
          inTransaction(database.pool, (db) => resolveCustomers(db, run, { keepMissing, isWhole: true }));
        const missing = await resolve();
        const after = await rowsOf(database, run);
        expect(missing).toBe(after.filter((one) => one.state === 'staged' && one.client_id === null).length);
        const fates = new Map(after.map((one) => [one.source_id, one]));
        whole.forEach(({ rows, customers }, w) => {
          rows.forEach((one, i) => {
            const became = fates.get(`${w}.${i}`) ?? {};
            expect(sayOf(became)).toEqual(expectedOf(one, w, customers, keepMissing));
            neverTheWrongOne(one, became, customers);
          });
        });
        expect(await resolve()).toBe(missing);
        expect(await rowsOf(database, run)).toEqual(after);
      }),
      runs(10),
    );
  },
);

function expectedOf(row: Row, w: number, customers: readonly Customer[], keepMissing: boolean): string {
  const unknown = 'settled rejected CUSTOMER_UNKNOWN';
  if (row.given !== undefined) {
    const id = idOf(w, row.given);
    return customers.some((one) => one.id === id) ? `is ${id}` : unknown;
  }
  if (row.email === null && row.phone === null && row.name === null) return unknown;
  const found = find(row, customers);
  switch (found.status) {
    case 'found':
      return `is ${found.id}`;
    case 'ambiguous':
      return 'settled review AMBIGUOUS_CUSTOMER';
    case 'missing':
      return keepMissing ? 'staged' : unknown;
    default:
      return found satisfies never;
  }
}

/**
 * The strongest kind of evidence decides; among several people it is the one that agrees in all the row says. A phone that names
 * other people than the e-mail makes the row ambiguous.
 */
function find(row: Keys, customers: readonly Customer[]): Found {
  for (const evidence of [hasEmail, hasPhone, hasNameAndOrganization, hasName]) {
    const candidates = customers.filter((one) => evidence(row, one));
    const closest = candidates.length > 1 ? candidates.filter((one) => agreesInAll(row, one)) : candidates;
    const [only] = closest;
    const isDisputed = only?.phone !== row.phone && customers.some((one) => hasPhone(row, one));
    if (only && closest.length === 1) return isDisputed ? { status: 'ambiguous' } : { status: 'found', id: only.id };
    if (candidates.length > 0) return { status: 'ambiguous' };
  }
  return { status: 'missing' };
}

const hasEmail = (row: Keys, one: Keys) => row.email !== null && row.email === one.email;
const hasPhone = (row: Keys, one: Keys) =>
  row.phone !== null && row.phone === one.phone && (row.email === null || one.email === null);
const isNameOnly = (row: Keys) => row.name !== null && row.email === null && row.phone === null;
const hasNameAndOrganization = (row: Keys, one: Keys) =>
  isNameOnly(row) && row.name === one.name && row.org === one.org;
const hasName = (row: Keys, one: Keys) =>
  isNameOnly(row) && row.name === one.name && (row.org === null || one.org === null);
const agreesInAll = (row: Keys, one: Keys) =>
  (['email', 'phone', 'name', 'org'] as const).every((key) => row[key] === null || row[key] === one[key]);

/** For all rules: a stronger key of the row never contradicts its customer, and never points only to another one. */
function neverTheWrongOne(row: Row, { client_id }: Columns, customers: readonly Customer[]): void {
  const chosen = customers.find(({ id }) => id === client_id);
  if (!chosen || row.given !== undefined) return;
  if (row.email !== null && chosen.email !== null) expect(chosen.email).toBe(row.email);
  else if (row.phone !== null && chosen.phone !== null) expect(chosen.phone).toBe(row.phone);
  else expect(chosen.name).toBe(row.name);
  const isOwnersMail = customers.some(({ email }) => row.email !== null && email === row.email);
  if (isOwnersMail) expect(chosen.email).toBe(row.email);
}

function sayOf(row: Columns): string {
  return row.state === 'staged' && row.client_id !== null ? `is ${row.client_id}` : fateOf(row);
}

/** A row that gives an id has no names: staging drops them. */
const noKeys = { email: null, phone: null, name: null, org: null };

function columnsOf({ given, ...named }: Row, w: number, i: number) {
  const client_id = given === undefined ? null : idOf(w, given);
  const customer = given === undefined ? {} : null;
  return { ...named, source_id: `${w}.${i}`, n: w * 10 + i, state: 'staged', action: null, client_id, customer };
}

/** As numbers in another order than as text. */
function idOf(w: number, i: number): string {
  return `${[9, 10, 11, 100, 8, 7, 6, 5, 4, 3][i]}${w + 100}`;
}
