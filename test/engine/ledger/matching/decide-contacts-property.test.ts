/**
 * Property test of deciding: many small worlds of contacts and customers, each with its own e-mails, phones and names,
 * decided together one night and, with the results of that night, again the next night.
 */
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { CONTACT_LINK } from '../../../../src/engine/ledger/matching/contact-links.ts';
import { decideContacts } from '../../../../src/engine/ledger/matching/decide-contacts.ts';
import type { Run } from '../../../../src/engine/ledger/runs.ts';
import type { MatchKey } from '../../../../src/settings/schema-sync.ts';
import { inTransaction } from '../../../../src/storage/transaction.ts';
import { runs } from '../../../support/property-runs.ts';
import { aRun, freshLedger, putRows, rowsOf } from '../fresh-ledger.ts';
import { agreesAtSomeLevel, inWorld, isSamePerson, type Keys, putRecords, recordsOf, some } from './contact-worlds.ts';
import type { Columns } from './load-worlds.ts';

const database = await freshLedger();
afterAll(() => database.close());

interface Customer extends Keys {
  /** Which contact of its world it says it came from; 9 is none of them. */
  readonly from: number | undefined;
  /** The contact that is linked with it since an earlier night, unless that one is linked with another. */
  readonly linked: number | undefined;
}

const keys = { email: some('e', 'f'), phone: some('1'), name: some('a', 'b'), org: some('o') };
const contact: fc.Arbitrary<Keys> = fc.record(keys);
const customer: fc.Arbitrary<Customer> = fc.record({
  ...keys,
  from: fc.option(fc.constantFrom(0, 1, 9), { nil: undefined, freq: 2 }),
  linked: fc.option(fc.constantFrom(0, 1), { nil: undefined, freq: 2 }),
});
const world = fc.record({
  contacts: fc.array(contact, { minLength: 1, maxLength: 4 }),
  customers: fc.array(customer, { maxLength: 4 }),
});
const shapes = fc.record({
  worlds: fc.array(world, { minLength: 20, maxLength: 30 }),
  matchBy: fc.constantFrom<MatchKey[]>(['email', 'phone'], ['phone', 'email'], ['email'], ['name']),
  carryContactId: fc.boolean(),
});

interface Night {
  readonly rows: readonly Columns[];
  readonly records: readonly Columns[];
}

const NO_KEYS = { email: null, phone: null, name: null, org: null };
const UNLINKED = { ...NO_KEYS, from: undefined, linked: undefined };
/**
 * The first contact has the second one's customer by phone, until its e-mail names the other customer. The second contact
 * must not become a new customer then.
 */
const TAKEN_BY_ANOTHER = {
  contacts: [
    { ...NO_KEYS, email: 'f', phone: '1' },
    { ...NO_KEYS, email: 'e' },
  ],
  customers: [
    { ...UNLINKED, email: 'f' },
    { ...UNLINKED, email: 'e', phone: '1' },
  ],
};

/** The name speaks for one of the two customers of the e-mail, the phone for the other one. */
const BY_NAME_OR_PHONE = {
  contacts: [{ email: 'f', phone: '1', name: 'b', org: null }],
  customers: [
    { ...UNLINKED, email: 'f', phone: '1' },
    { ...UNLINKED, email: 'f', name: 'b' },
  ],
};

test('contacts keep their customers, no match is guessed, and the next night finds nothing to write', async () => {
  await fc.assert(
    fc.asyncProperty(shapes, async ({ worlds, matchBy, carryContactId }) => {
      const customers = worlds.flatMap(({ customers }, w) => customers.map((one, i) => customerOf(w, i, one)));
      const contacts = worlds.flatMap(({ contacts, customers }, w) =>
        contacts.map((one, i) => contactOf(w, i, one, customers)),
      );
      const night = await decide(contacts, customers, matchBy);
      expect(night.rows).toHaveLength(contacts.length);
      eachHasItsOwn(night);
      for (const row of night.rows) onItsMerits(row, night, matchBy);

      const made = night.rows.filter((row) => row.state === 'ready').map((row) => madeOf(row, carryContactId));
      const links = new Map([...night.records, ...made].map((record) => [record.taken_by, record.record_id]));
      const next = await decide(
        contacts.map((row) => ({ ...row, record_id: links.get(row.source_id) ?? null })),
        [...night.records, ...made].map(({ is_disputed, run_id, ...record }) => record),
        matchBy,
      );
      expect(next.rows.filter((row) => row.state === 'ready')).toEqual([]);
      expect(next.rows.filter(inReview).map(whoAndWhy)).toEqual(night.rows.filter(inReview).map(whoAndWhy));
    }),
    {
      ...runs(6),
      examples: [
        [{ worlds: [TAKEN_BY_ANOTHER], matchBy: ['phone', 'email'], carryContactId: false }],
        [{ worlds: [BY_NAME_OR_PHONE], matchBy: ['email'], carryContactId: false }],
      ],
    },
  );
});

/** Decides a run of these contacts; those with a `record_id` are linked, and nothing about them has changed. */
async function decide(
  contacts: readonly Columns[],
  customers: readonly Columns[],
  matchBy: readonly MatchKey[],
): Promise<Night> {
  const run = await aRun(database);
  const inputs = contacts.map(({ record_id: _, ...row }) => ({ ...row, source_id: String(row.source_id) }));
  await putRows(
    database,
    run,
    inputs.map((row) => ({ ...row, state: 'staged', action: null, hash: HASH })),
  );
  await putRecords(
    database,
    run,
    customers.map((record) => ({ ...record, record_id: String(record.record_id), taken_by: null })),
  );
  await link(run, contacts);
  await inTransaction(database.pool, (db) => decideContacts(db, run, { ...HOW, matchBy }));
  const rows = new Map((await rowsOf(database, run)).map((row) => [row.source_id, row]));
  const unchanged = { state: 'settled', verdict: 'unchanged', reason: null };
  return {
    rows: contacts.map((contact) => rows.get(contact.source_id) ?? { ...contact, ...unchanged }),
    records: await recordsOf(database, run),
  };
}

/** Of every contact, and of the contact that each link was made for. */
const HASH = 'h';
const HOW = { action: 'import', onChange: 'update', mappedFields: [], isWhole: true, unchanged: 0 } as const;

async function link(run: Run, rows: readonly Columns[]): Promise<void> {
  const linked = rows.filter((row) => row.record_id !== null);
  await database.pool.query(
    `insert into ledger.links (scope, kind, source_id, record_id, hash, run_id)
     select $1, $2, source_id, record_id, $6, $3 from unnest($4::text[], $5::text[]) as t(source_id, record_id)`,
    [run.account, CONTACT_LINK, run.id, linked.map((row) => row.source_id), linked.map((row) => row.record_id), HASH],
  );
}

function eachHasItsOwn({ rows, records }: Night): void {
  const had = rows.filter((row) => row.record_id !== null);
  const taken = records.filter((record) => record.taken_by !== null);
  const pairs = (columns: readonly Columns[], of: string, by: string) =>
    columns.map((one) => [one[of], one[by]].join()).toSorted();
  expect(pairs(taken, 'taken_by', 'record_id')).toEqual(pairs(had, 'source_id', 'record_id'));
  expect(new Set(had.map((row) => row.record_id)).size).toBe(had.length);
}

function onItsMerits(row: Columns, { rows, records }: Night, matchBy: readonly MatchKey[]): void {
  const isThere = (id: unknown) => rows.some((other) => other.source_id === id);
  const isCandidate = (k: Columns) =>
    k.contact_id === row.source_id ||
    ((k.contact_id === null || !isThere(k.contact_id)) && (isSamePerson(row, k) || agreesAtSomeLevel(row, k, matchBy)));
  const free = records.filter((k) => k.taken_by === null && isCandidate(k));
  const isKeyed = row.email !== null || row.phone !== null || row.name !== null;
  switch (row.state === 'settled' ? (row.reason ?? row.verdict) : row.state) {
    case 'unchanged':
      return;
    case 'MATCHED':
      expect(records.filter((k) => k.record_id === row.record_id).every(isCandidate)).toBe(true);
      expect(free.filter((k) => isNamedBesides(k, row, records))).toEqual([]);
      return;
    case 'DUPLICATE':
      expect(free.some((k) => k.contact_id === row.source_id || isSamePerson(row, k))).toBe(true);
      return;
    case 'AMBIGUOUS_MATCH':
      expect(free.length).toBeGreaterThan(0);
      return;
    case 'NO_KEY':
      expect([isKeyed, free]).toEqual([false, []]);
      return;
    default:
      expect([row.state, row.action, isKeyed, free]).toEqual(['ready', 'import', true, []]);
  }
}

/** A phone or an e-mail names candidate `k`, and not the customer that the row was matched with. */
function isNamedBesides(k: Columns, row: Columns, records: readonly Columns[]): boolean {
  const matched = records.find(({ record_id }) => record_id === row.record_id);
  const by = (row.facts as { by?: unknown }).by;
  if (by === 'contact id' || isSamePerson(row, k)) return false;
  return (['email', 'phone'] as const).some(
    (key) => row[key] !== null && k[key] === row[key] && matched?.[key] !== row[key],
  );
}

const inReview = (row: Columns) => row.verdict === 'review';
const whoAndWhy = (row: Columns) => [row.source_id, row.reason];

/** The customer that a night makes of a contact and links with it. */
function madeOf(row: Columns, carryContactId: boolean): Columns {
  const { source_id, email, phone, name, org } = row;
  const contact_id = carryContactId ? source_id : null;
  return { email, phone, name, org, record_id: `new ${source_id}`, contact_id, taken_by: source_id };
}

function contactOf(w: number, i: number, contact: Keys, customers: readonly Customer[]): Columns {
  const linked = customers.findIndex((customer) => customer.linked === i);
  const record_id = linked < 0 ? null : recordId(w, linked);
  return { ...inWorld(w, contact), source_id: `${w}.${i}`, n: w * 10 + i, record_id };
}

function customerOf(w: number, i: number, { from, linked, ...customer }: Customer): Columns {
  const contact_id = from === undefined ? null : `${w}.${from}`;
  return { ...inWorld(w, customer), record_id: recordId(w, i), contact_id };
}

/** As numbers in another order than as text. */
function recordId(w: number, i: number): string {
  return `${[9, 10, 11, 100][i]}${w + 100}`;
}
