/** Cases of settling contacts in which the assignment matters. General rules: settle-contacts-property.test.ts. */
import { afterAll, expect, test } from 'vitest';
import { settleContacts } from '../../../../src/engine/ledger/matching/settle-contacts.ts';
import type { Run } from '../../../../src/engine/ledger/runs.ts';
import { inTransaction } from '../../../../src/storage/transaction.ts';
import { aRun, freshLedger, putRows, rowsOf } from '../fresh-ledger.ts';
import { putRecords } from './contact-worlds.ts';
import type { Columns } from './load-worlds.ts';

const PASS = 1;
const SETTLE_MS = 60_000;
const NOW = Date.now();
const [JUST_NOW, LONG_AGO] = [new Date(NOW - 1_000), new Date(NOW - 600_000)];

const database = await freshLedger();
afterAll(() => database.close());

interface Scene {
  readonly name: string;
  /** Sent once and acknowledged long ago where they do not say otherwise. */
  readonly contacts: readonly Columns[];
  readonly customers: readonly Columns[];
  readonly become: readonly string[];
  /** Default true. */
  readonly isWhole?: boolean;
}

const mail = { email: 'lee@example.com' };
const unknown = { state: 'unknown' };

const scenes: readonly Scene[] = [
  {
    name: 'a customer that says whose it is goes to that contact, whatever its keys say',
    contacts: [{ ...mail, name: 'ann' }, { name: 'ben' }],
    customers: [{ record_id: '7', contact_id: '2', ...mail, name: 'ann' }],
    become: ['review NOT_IN_LIST', 'created 7'],
  },
  {
    name: 'a customer that says it is another contact’s is no evidence for a contact of the same e-mail',
    contacts: [{ ...mail, ...unknown }],
    customers: [{ record_id: '7', contact_id: '99', ...mail }],
    become: ['ready'],
  },
  {
    name: 'of two contacts that one customer may be, the one whose call was acknowledged has it',
    contacts: [
      { ...mail, name: 'ann', ...unknown },
      { ...mail, name: 'ben' },
    ],
    customers: [{ record_id: '7', ...mail, name: 'lee' }],
    become: ['ready', 'created LINK_UNCERTAIN'],
  },
  {
    name: 'contacts of one mailbox whose customers have other names are there, but their contacts are unknown',
    contacts: [
      { ...mail, name: 'ann' },
      { ...mail, name: 'ben' },
    ],
    customers: [
      { record_id: '7', ...mail, name: 'a. lee' },
      { record_id: '8', ...mail, name: 'b. lee' },
    ],
    become: ['created LINK_UNCERTAIN', 'created LINK_UNCERTAIN'],
  },
  {
    name: 'a contact of the customer’s own name has it before one that shares the mailbox only',
    contacts: [
      { ...mail, name: 'ann' },
      { ...mail, name: 'ben' },
    ],
    customers: [
      { record_id: '7', ...mail, name: 'ben' },
      { record_id: '8', ...mail, name: 'a. lee' },
    ],
    become: ['created 8', 'created 7'],
  },
  {
    name: 'twins are given one customer each, the first to the first',
    contacts: [
      { ...mail, name: 'ann' },
      { ...mail, name: 'ann' },
    ],
    customers: [
      { record_id: '10', ...mail, name: 'ann' },
      { record_id: '9', ...mail, name: 'ann' },
    ],
    become: ['created 9', 'created 10'],
  },
  {
    name: 'a customer too many is reported with both ids',
    contacts: [{ ...mail, name: 'ann' }],
    customers: [
      { record_id: '9', ...mail, name: 'ann' },
      { record_id: '10', ...mail, name: 'ann' },
    ],
    become: ['review DUPLICATE 9 and 10'],
  },
  {
    name: 'what the baseline saw, or this read did not, is no contact’s new customer',
    contacts: [{ ...mail, ...unknown }],
    customers: [
      { record_id: '7', ...mail, first_pass: 0 },
      { record_id: '8', ...mail, last_pass: 0 },
    ],
    become: ['ready'],
  },
  {
    name: 'before the settle time is over nothing is sent again',
    contacts: [
      { ...mail, ...unknown, since: JUST_NOW },
      { name: 'ben', since: JUST_NOW },
    ],
    customers: [],
    become: ['unknown', 'acked'],
  },
  {
    name: 'what may be committed at the end of the settle time and shown a settle time later is not sent again before',
    contacts: [{ ...mail, ...unknown, since: new Date(NOW - 2 * SETTLE_MS + 1_000) }],
    customers: [],
    become: ['unknown'],
  },
  {
    name: 'a list that may not be whole has nothing sent again',
    contacts: [{ ...mail, ...unknown }, { email: 'ann@example.com' }],
    customers: [{ record_id: '7', email: 'ann@example.com' }],
    become: ['review NOT_IN_LIST', 'created 7'],
    isWhole: false,
  },
  {
    name: 'an update with an unknown outcome is sent again at once',
    contacts: [{ ...mail, ...unknown, action: 'update', since: JUST_NOW }],
    customers: [],
    become: ['ready'],
  },
];

test.each(scenes)('$name', async ({ contacts, customers, become, isWhole = true }) => {
  const run = await aRun(database);
  const sent = { state: 'acked', action: 'import', sends: 1, since: LONG_AGO };
  await putRows(
    database,
    run,
    contacts.map((contact, i) => ({ ...sent, ...contact, source_id: String(i + 1) })),
  );
  const seen = { email: null, name: null, contact_id: null, first_pass: PASS, last_pass: PASS };
  await putRecords(
    database,
    run,
    customers.map((customer) => ({ ...seen, ...customer, record_id: String(customer.record_id) })),
  );
  await settle(run, isWhole);
  expect((await rowsOf(database, run)).map(fateOf)).toEqual(become);
  const links = await database.pool.query('select record_id from ledger.links where run_id = $1', [run.id]);
  const named = become.filter((fate) => /\d/.test(fate));
  expect(links.rowCount).toBe(named.length);
});

test.each([
  ['acked', 'rejected REFUSED_BY_SERVICE'],
  ['lost', 'ready'], // perhaps created after its import was refused
] as const)('a contact whose attempt is %s beside a refused import: %s', async (outcome, fate) => {
  const run = await aRun(database);
  const refused = { state: 'unknown', reason: 'IMPORT_REFUSED', facts: { http: 404, answer: 'no' } };
  const sent = { state: 'acked', action: 'import', sends: 1, since: LONG_AGO };
  await putRows(database, run, [
    { ...sent, source_id: '1', ...mail },
    { ...sent, ...refused, source_id: '2', email: 'ann@example.com' },
  ]);
  await database.pool.query('update ledger.attempts set outcome = $2 where run_id = $1 and n = 0', [run.id, outcome]);
  await putRecords(database, run, [{ record_id: '7', ...mail, first_pass: PASS, last_pass: PASS }]);
  await settle(run, true);
  expect((await rowsOf(database, run)).map(fateOf)).toEqual(['created 7', fate]);
});

function settle(run: Run, isWhole: boolean) {
  return inTransaction(database.pool, (db) =>
    settleContacts(db, run, {
      matchBy: ['email', 'phone'],
      pass: PASS,
      readAt: new Date(NOW),
      isWhole,
      isLookedUp: true,
      settleMs: SETTLE_MS,
    }),
  );
}

function fateOf({ state, verdict, reason, record_id, facts }: Columns): string {
  if (state !== 'settled') return String(state);
  const ids = reason === 'DUPLICATE' ? (facts as { ids: readonly string[] }).ids.join(' and ') : undefined;
  return [verdict, reason, ids ?? (verdict === 'created' ? record_id : null)].filter(Boolean).join(' ');
}
