/** Cases of deciding that whole runs (contact-matching.test.ts) rarely reach. General rules: decide-contacts-property.test.ts. */
import { afterAll, expect, test } from 'vitest';
import { CONTACT_LINK } from '../../../../src/engine/ledger/matching/contact-links.ts';
import { decideContacts } from '../../../../src/engine/ledger/matching/decide-contacts.ts';
import { endRun } from '../../../../src/engine/ledger/run-status.ts';
import { type Run, recordProgress, type ScanProof } from '../../../../src/engine/ledger/runs.ts';
import { inTransaction } from '../../../../src/storage/transaction.ts';
import { aRun, freshLedger, putRows, rowsOf } from '../fresh-ledger.ts';
import { putRecords } from './contact-worlds.ts';
import type { Columns } from './load-worlds.ts';

const database = await freshLedger();
afterAll(() => database.close());

interface Scene {
  readonly name: string;
  readonly scan?: ScanProof;
  /** Contacts as they were scanned; with a `record_id`, linked and unchanged. */
  readonly contacts: readonly Columns[];
  readonly customers: readonly Columns[];
  /** Links of contacts that this scan did not see: contact, customer. */
  readonly links?: readonly (readonly [string, string])[];
  readonly become: readonly string[];
}

const mail = { email: 'lee@example.com' };
const [ann, ben] = [
  { ...mail, name: 'ann' },
  { ...mail, name: 'ben' },
];

const scenes: readonly Scene[] = [
  ...(['proven', 'weak'] as const).map(
    (scan): Scene => ({
      name: `the customer of a contact that is gone may be another’s, after a ${scan} scan`,
      scan,
      contacts: [ann],
      customers: [{ record_id: '7', ...ann }],
      links: [['99', '7']],
      become: ['existing 7 by e-mail'],
    }),
  ),
  {
    name: 'an unproven scan tells of no contact that it is gone, so its customer stays its own',
    scan: 'unproven',
    contacts: [ann],
    customers: [{ record_id: '7', ...ann }],
    links: [['99', '7']],
    become: ['ready'],
  },
  {
    name: 'a customer that says it is another contact’s is no candidate, though they share a mailbox',
    contacts: [{ ...ann, record_id: '7' }, ben],
    customers: [
      { record_id: '7', ...ann },
      { record_id: '8', email: mail.email, contact_id: '1' },
    ],
    become: ['review DUPLICATE 7 and 8', 'ready'],
  },
  {
    name: 'a customer that several contacts want is no contact’s duplicate',
    contacts: [{ ...ann, record_id: '7' }, ann],
    customers: [
      { record_id: '7', ...ann },
      { record_id: '8', ...ann },
    ],
    become: ['unchanged 7', 'review AMBIGUOUS_MATCH'],
  },
  {
    name: 'a name that decides between customers with one mailbox is part of the evidence',
    contacts: [ann],
    customers: [
      { record_id: '7', ...ann },
      { record_id: '8', ...ben },
    ],
    become: ['existing 7 by e-mail and name'],
  },
  {
    name: 'a customer equal in everything is found although the sync matches by less',
    contacts: [{ phone: '5550100' }],
    customers: [{ record_id: '7', phone: '5550100' }],
    become: ['existing 7 by phone'],
  },
  {
    name: 'a customer that has nothing either is not the one of a contact that has nothing',
    contacts: [{}],
    customers: [{ record_id: '7' }],
    become: ['review NO_KEY'],
  },
];

test.each(scenes)('$name', async ({ scan = 'proven', contacts, customers, links = [], become }) => {
  const run = await aRun(database);
  await recordProgress(database.pool, run.id, { scan });
  const contactIds = contacts.map((_, i) => String(i + 1));
  const rows = contacts.map(({ record_id: _, ...contact }, i) => ({ ...contact, source_id: String(i + 1) }));
  await putRows(
    database,
    run,
    rows.map((row) => ({ ...row, state: 'staged', action: null, hash: HASH })),
  );
  await putRecords(
    database,
    run,
    customers.map((one) => ({
      email: null,
      phone: null,
      name: null,
      contact_id: null,
      ...one,
      record_id: String(one.record_id),
    })),
  );
  const linked = contacts.flatMap(({ record_id }, i) =>
    record_id === undefined ? [] : [[String(i + 1), String(record_id)] as const],
  );
  await link(run, [...linked, ...links]);
  await decide(run);
  const fates = new Map((await rowsOf(database, run)).map((row) => [row.source_id, fateOf(row)]));
  const unchanged = new Map(linked.map(([contact, customer]) => [contact, `unchanged ${customer}`]));
  expect(contactIds.map((id) => fates.get(id) ?? unchanged.get(id))).toEqual(become);
});

test.each<readonly [string, Columns, string]>([
  ['its e-mail', { email: 'lee@example.com', name: 'ann' }, 'review NOT_IN_LIST'],
  ['its phone', { phone: '123456', name: 'ann' }, 'review NOT_IN_LIST'],
  ['another e-mail', { email: 'ben@example.com' }, 'ready'],
])('a contact with %s is not sent if a load may have created its customer', async (_key, contact, becomes) => {
  const load = await aRun(database, { type: 'customers' });
  const sent = { verdict: 'review', reason: 'NOT_IN_LIST' };
  await putRows(database, load, [
    { source_id: 'email lee@example.com', email: 'lee@example.com', ...sent },
    { source_id: 'phone 123456', phone: '123456', ...sent },
  ]);
  await endRun(database.pool, load.id, 'done');
  const run = await aRun(database, { account: load.account });
  await putRows(database, run, [{ ...contact, source_id: '1', state: 'staged', action: null, hash: HASH }]);
  await decide(run);
  const [row = {}] = await rowsOf(database, run);
  expect(fateOf(row)).toBe(becomes);
  if (becomes !== 'ready') expect(row.facts).toMatchObject({ earlier: load.id });
});

/** Of every contact, and of the contact that each link was made for. */
const HASH = 'h';

function decide(run: Run) {
  return inTransaction(database.pool, (db) =>
    decideContacts(db, run, {
      matchBy: ['email'],
      action: 'import',
      onChange: 'update',
      mappedFields: [],
      isWhole: true,
      unchanged: 0,
    }),
  );
}

async function link(run: Run, pairs: readonly (readonly [string, string])[]): Promise<void> {
  await database.pool.query(
    `insert into ledger.links (scope, kind, source_id, record_id, hash, run_id)
     select $1, $2, source_id, record_id, $6, $3 from unnest($4::text[], $5::text[]) as t(source_id, record_id)`,
    [run.account, CONTACT_LINK, run.id, pairs.map(([contact]) => contact), pairs.map(([, customer]) => customer), HASH],
  );
}

function fateOf({ state, verdict, reason, record_id, facts }: Columns): string {
  if (state !== 'settled') return String(state);
  const ids = reason === 'DUPLICATE' ? (facts as { ids: readonly string[] }).ids.join(' and ') : undefined;
  if (verdict === 'existing') return `${verdict} ${record_id} by ${(facts as { by: string }).by}`;
  return [verdict, reason, ids].filter(Boolean).join(' ');
}
