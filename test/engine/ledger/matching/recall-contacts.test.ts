import { afterAll, expect, test } from 'vitest';
import { keepCustomers } from '../../../../src/engine/ledger/match-index.ts';
import { CONTACT_LINK } from '../../../../src/engine/ledger/matching/contact-links.ts';
import { recallContacts, type Sightings } from '../../../../src/engine/ledger/matching/recall-contacts.ts';
import { inTransaction } from '../../../../src/storage/transaction.ts';
import { aRun, freshLedger } from '../fresh-ledger.ts';

const database = await freshLedger();
afterAll(() => database.close());

/** More than a function can take as arguments. */
const MANY = 200_000;

test('more contacts than a page get rows, each once, and their customers are stored', async () => {
  const run = await aRun(database);
  const several = 2_500;
  await database.pool.query(
    `insert into ledger.links (scope, kind, source_id, record_id, run_id, contact, known)
     select $1, $2, i, 'k' || i, $3, d, d from generate_series(1, $4::int) i, (select '{"email": "office@shared.example", "phone": "1"}'::jsonb) s (d)`,
    [run.scope, CONTACT_LINK, run.id, several],
  );
  const never = () => false;
  const sightings = { unchanged: several, lastN: 7, linked: several, lost: 0, isInList: () => true, isLost: never };
  const unchanged = await inTransaction(database.pool, async (db) => {
    const free = { name: undefined, org: undefined, contactId: undefined, fields: {}, phone: '1' };
    await keepCustomers(db, run.id, 0, [{ ...free, recordId: 'free', email: 'office@shared.example' }]);
    return recallContacts(db, run, { ...sightings, hasContact: () => true });
  });
  const stored = await database.pool.query(
    `select count(*)::int as rows, min(n)::int as first, max(n)::int as last,
       (select count(*)::int from ledger.records where run_id = $1) as customers from ledger.inputs where run_id = $1`,
    [run.id],
  );
  expect(stored.rows).toEqual([{ rows: several, first: 8, last: several + 7, customers: several + 1 }]);
  expect(unchanged).toBe(0);
});

test('any number of links may share a key with a customer that has none', async () => {
  const run = await aRun(database);
  await database.pool.query(
    `insert into ledger.links (scope, kind, source_id, record_id, run_id, contact)
     select $1, $2, i, i, $3, '{"email": "info@shared.example"}' from generate_series(1, $4::int) i`,
    [run.scope, CONTACT_LINK, run.id, MANY],
  );
  const sightings: Sightings = {
    unchanged: MANY,
    lastN: 0,
    linked: MANY,
    lost: 0,
    isInList: () => true,
    hasContact: () => false,
    isLost: () => false,
  };
  const unchanged = await inTransaction(database.pool, async (db) => {
    const free = { phone: undefined, name: undefined, org: undefined, contactId: undefined, fields: {} };
    await keepCustomers(db, run.id, 0, [{ ...free, recordId: 'free', email: 'info@shared.example' }]);
    return recallContacts(db, run, sightings);
  });
  expect(unchanged).toBe(MANY);
});
