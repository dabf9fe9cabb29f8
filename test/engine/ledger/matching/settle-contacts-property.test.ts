/**
 * Settling, checked against a slow and simple reference: many small worlds of contacts that were sent and
 * customers that are there, each with its own e-mails, phones and names, settled together in one run.
 */
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { settleContacts } from '../../../../src/engine/ledger/matching/settle-contacts.ts';
import { MAX_SENDS } from '../../../../src/engine/ledger/rows.ts';
import type { MatchKey } from '../../../../src/settings/schema-sync.ts';
import { inTransaction } from '../../../../src/storage/transaction.ts';
import { runs } from '../../../support/property-runs.ts';
import { aRun, freshLedger, putRows, rowsOf } from '../fresh-ledger.ts';
import { agreesAtSomeLevel, inWorld, isSamePerson, type Keys, putRecords, recordsOf, some } from './contact-worlds.ts';

const PASS = 2;
const SETTLE_MS = 60_000;
const READ_AT = new Date('2026-01-01T12:00:00Z');

const database = await freshLedger();
afterAll(() => database.close());

interface Sent extends Keys {
  readonly state: 'acked' | 'unknown';
  readonly action: 'import' | 'create' | 'update';
  readonly sends: number;
  /** When it was sent, before the read began; absence is judged after two settle times of 60 s. */
  readonly agoS: number;
}

interface There extends Keys {
  /** Which contact of its world it says it came from; 9 is none of them. */
  readonly from: number | undefined;
  readonly first_pass: number;
  readonly last_pass: number;
}

const keys = { email: some('e', 'f'), phone: some('1', '2'), name: some('a', 'b'), org: some('o') };
const isKeyed = ({ email, phone, name }: Keys) => email !== null || phone !== null || name !== null;
const sent: fc.Arbitrary<Sent> = fc
  .record({
    ...keys,
    state: fc.constantFrom('acked', 'unknown'),
    action: fc.constantFrom('import', 'import', 'create', 'update'),
    sends: fc.integer({ min: 1, max: MAX_SENDS }),
    agoS: fc.constantFrom(1, 119, 121, 600),
  })
  .filter(isKeyed);
const there: fc.Arbitrary<There> = fc.record({
  ...keys,
  from: fc.option(fc.constantFrom(0, 1, 2, 9), { nil: undefined, freq: 2 }),
  first_pass: fc.constantFrom(0, 1, 2, 2),
  last_pass: fc.constantFrom(1, 2, 2, 2),
});
const world = fc.record({
  contacts: fc.array(sent, { minLength: 1, maxLength: 4 }),
  customers: fc.array(there, { maxLength: 4 }),
});
const shapes = fc.record({
  worlds: fc.array(world, { minLength: 20, maxLength: 30 }),
  matchBy: fc.constantFrom<MatchKey[]>(['email', 'phone'], ['phone', 'email'], ['email'], ['phone'], ['name']),
});

interface Settled {
  readonly rows: readonly Record<string, unknown>[];
  readonly records: readonly Record<string, unknown>[];
}

test('a settled contact has its own evidence, and a contact sent again has none and had its time', async () => {
  await fc.assert(
    fc.asyncProperty(shapes, async ({ worlds, matchBy }) => {
      const run = await aRun(database);
      await putRows(
        database,
        run,
        worlds.flatMap(({ contacts }, w) => contacts.map((one, i) => rowOf(w, i, one))),
      );
      await putRecords(
        database,
        run,
        worlds.flatMap(({ customers }, w) => customers.map((one, i) => recordOf(w, i, one))),
      );
      const settle = () =>
        inTransaction(database.pool, (db) =>
          settleContacts(db, run, {
            matchBy,
            pass: PASS,
            readAt: READ_AT,
            isWhole: true,
            isLookedUp: true,
            settleMs: SETTLE_MS,
          }),
        );
      const counted = await settle();
      const after: Settled = { rows: await rowsOf(database, run), records: await recordsOf(database, run) };
      expect(after.rows).toHaveLength(worlds.flatMap(({ contacts }) => contacts).length);
      expect(counted.ready).toBe(after.rows.filter((row) => row.state === 'ready').length);
      givenOnce(after);
      const wasAcked = new Set(
        worlds.flatMap(({ contacts }, w) => contacts.flatMap((one, i) => (one.state === 'acked' ? [`${w}.${i}`] : []))),
      );
      for (const row of after.rows) onItsMerits(row, after, { matchBy, wasAcked });
      await settle();
      expect({ rows: await rowsOf(database, run), records: await recordsOf(database, run) }).toEqual(after);
    }),
    runs(6),
  );
});

/** Each customer is one row's, each row has one customer, and only customers seen first by this run's reads are given. */
function givenOnce({ rows, records }: Settled): void {
  const taken = records.filter((record) => record.taken_by !== null);
  const created = rows.filter(
    (row) => row.state === 'settled' && (row.verdict === 'created' || row.reason === 'DUPLICATE'),
  );
  expect(taken.map((record) => record.taken_by).toSorted()).toEqual(created.map((row) => row.source_id).toSorted());
  for (const record of taken) expect([record.first_pass !== 0, record.last_pass]).toEqual([true, PASS]);
  const ids = rows.flatMap((row) => (row.record_id === null ? [] : [row.record_id]));
  expect(new Set(ids).size).toBe(ids.length);
}

function onItsMerits(
  row: Record<string, unknown>,
  { rows, records }: Settled,
  { matchBy, wasAcked }: { matchBy: readonly MatchKey[]; wasAcked: ReadonlySet<string> },
): void {
  const free = records.filter((k) => k.taken_by === null && k.first_pass !== 0 && k.last_pass === PASS);
  const mine = records.find((k) => k.taken_by === row.source_id);
  const isEvidence = (k: Record<string, unknown>) =>
    k.contact_id === row.source_id ||
    (k.contact_id === null && (isSamePerson(row, k) || agreesAtSomeLevel(row, k, matchBy) || isSameName(row, k)));
  const isDue = isDueRow(row);
  if (row.action === 'update') expect(row.state === 'unknown' && (isDue || Number(row.sends) < MAX_SENDS)).toBe(false);
  else if (mine) expect([row.state, isEvidence(mine)]).toEqual(['settled', true]);
  else {
    expect(free.filter(isEvidence)).toEqual([]);
    const isOther = (k: Record<string, unknown>) =>
      (k.contact_id !== null && k.contact_id !== row.source_id) ||
      (row.action === 'create' &&
        row.email !== null &&
        k.email !== null &&
        k.email !== row.email &&
        !hasSame(row, k, 'name') &&
        !hasSame(row, k, 'phone'));
    const mayBeThere = !free.every(isOther);
    const isLost = ({ source_id, action, ...other }: Record<string, unknown>) =>
      wasAcked.has(String(source_id)) && action !== 'update' && isDueRow(other) && !isTaken(String(source_id), records);
    const isListBlind = rows.some(isLost);
    expect([row.state, row.reason]).toEqual(fateOf(row, { isDue, mayBeThere, isListBlind }));
  }
}

function isDueRow({ since }: Record<string, unknown>): boolean {
  return since instanceof Date && since.getTime() + 2 * SETTLE_MS <= READ_AT.getTime();
}

function isTaken(sourceId: string, records: Settled['records']): boolean {
  return records.some((record) => record.taken_by === sourceId);
}

/** What becomes of a row that no customer agrees with. */
function fateOf(
  row: Record<string, unknown>,
  { isDue, mayBeThere, isListBlind }: { isDue: boolean; mayBeThere: boolean; isListBlind: boolean },
): [unknown, unknown] {
  if (!isDue) return [row.state === 'acked' ? 'acked' : 'unknown', null];
  if (mayBeThere) return ['settled', 'NOT_RECOGNISED'];
  if (isListBlind) return ['settled', 'NOT_IN_LIST'];
  return Number(row.sends) >= MAX_SENDS ? ['settled', 'GAVE_UP'] : ['ready', null];
}

function hasSame(row: Record<string, unknown>, k: Record<string, unknown>, key: 'name' | 'phone'): boolean {
  return row[key] !== null && row[key] === k[key];
}

function isSameName(row: Record<string, unknown>, k: Record<string, unknown>): boolean {
  return hasSame(row, k, 'name') && (row.email === null || k.email === null);
}

function rowOf(w: number, i: number, { agoS, ...contact }: Sent) {
  const since = new Date(READ_AT.getTime() - agoS * 1_000);
  return { ...inWorld(w, contact), source_id: `${w}.${i}`, n: w * 10 + i, since };
}

function recordOf(w: number, i: number, { from, ...customer }: There) {
  const record_id = `${[9, 10, 11, 100][i]}${w + 100}`; // as numbers in another order than as text
  return { ...inWorld(w, customer), record_id, contact_id: from === undefined ? null : `${w}.${from}` };
}
