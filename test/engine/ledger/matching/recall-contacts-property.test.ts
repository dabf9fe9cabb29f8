/**
 * Unchanged contacts have no rows, and most customers are not kept. Checked against the same worlds with every
 * contact a row and every customer kept: the verdicts are the same.
 */
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { keepCustomers, type SeenCustomer } from '../../../../src/engine/ledger/match-index.ts';
import { CONTACT_LINK } from '../../../../src/engine/ledger/matching/contact-links.ts';
import { decideContacts } from '../../../../src/engine/ledger/matching/decide-contacts.ts';
import { recallContacts } from '../../../../src/engine/ledger/matching/recall-contacts.ts';
import { type Run, recordProgress, type ScanProof } from '../../../../src/engine/ledger/runs.ts';
import type { MatchKey } from '../../../../src/settings/schema-sync.ts';
import { inTransaction } from '../../../../src/storage/transaction.ts';
import { ContactSightings } from '../../../../src/syncs/contacts/sightings.ts';
import { type ScannedContact, stageContacts } from '../../../../src/syncs/contacts/staging.ts';
import { runs } from '../../../support/property-runs.ts';
import { aRun, freshLedger, rowsOf } from '../fresh-ledger.ts';

const database = await freshLedger();
afterAll(() => database.close());

interface Keyed {
  readonly email: string | undefined;
  readonly phone: string | undefined;
  readonly name: string | undefined;
  readonly org: string | undefined;
}
/** A contact; `is`: what became of it since it was linked, if it was. */
interface Contact extends Keyed {
  readonly is: 'unlinked' | 'unchanged' | 'changed' | 'gone' | 'its customer is gone' | 'its customer is another';
  readonly tellsContact: boolean;
  /** What its customer is recognised by, where that is something else than the contact. */
  readonly customer: Keyed | undefined;
}
interface Customer extends Keyed {
  /** The contact of its world that it says it came from; 9 is none of them. */
  readonly from: number | undefined;
}
interface World {
  readonly contacts: readonly Contact[];
  readonly customers: readonly Customer[];
}

const some = <T>(...values: readonly T[]) => fc.constantFrom(undefined, ...values);
const keys = { email: some('e', 'f'), phone: some('1'), name: some('a', 'b'), org: some('o') };
const contact: fc.Arbitrary<Contact> = fc.record({
  ...keys,
  is: fc.constantFrom<Contact['is']>(
    'unlinked',
    'unchanged',
    'unchanged',
    'unchanged',
    'unchanged',
    'unchanged',
    'changed',
    'changed',
    'gone',
    'its customer is gone',
    'its customer is gone',
    'its customer is another',
  ),
  tellsContact: fc.boolean(),
  customer: fc.option(fc.record(keys), { nil: undefined, freq: 2 }),
});
const customer: fc.Arbitrary<Customer> = fc.record({ ...keys, from: some(0, 1, 9) });
const world: fc.Arbitrary<World> = fc.record({
  contacts: fc.array(contact, { minLength: 1, maxLength: 4 }),
  customers: fc.array(customer, { maxLength: 2 }),
});
const shapes = fc.record({
  worlds: fc.array(world, { minLength: 30, maxLength: 40 }),
  matchBy: fc.constantFrom<MatchKey[]>(['email', 'phone'], ['phone', 'email'], ['email'], ['name']),
  scan: fc.constantFrom<ScanProof>('proven', 'unproven'),
});

test('contacts are decided the same without the unchanged ones', async () => {
  await fc.assert(
    fc.asyncProperty(shapes, async ({ worlds, matchBy, scan }) => {
      const [whole, kept] = [await decide(worlds, matchBy, scan, true), await decide(worlds, matchBy, scan, false)];
      expect(kept).toEqual(whole);
    }),
    { ...runs(8), examples: [[{ worlds: [RIVALS], matchBy: ['email'], scan: 'proven' }]] },
  );
});

const NONE = { email: undefined, phone: undefined, name: undefined, org: undefined };
/** A contact that has lost its customer, a free customer that might be it, and a linked one that shares the e-mail. */
const RIVALS: World = {
  contacts: [
    { ...NONE, email: 'e', is: 'its customer is gone', tellsContact: false, customer: undefined },
    { ...NONE, name: 'a', is: 'unchanged', tellsContact: false, customer: { ...NONE, email: 'e' } },
  ],
  customers: [{ ...NONE, email: 'e', from: undefined }],
};

/** The fates of all contacts; `isWhole`: all are rows. */
async function decide(worlds: readonly World[], matchBy: readonly MatchKey[], scan: ScanProof, isWhole: boolean) {
  const run = await aRun(database);
  await recordProgress(database.pool, run.id, { scan });
  await link(run, worlds, isWhole);
  const contacts = worlds.flatMap((one, w) => one.contacts.flatMap((each, i) => scanned(w, i, each)));
  const customers = worlds.flatMap((one, w) => [
    ...one.contacts.flatMap((each, i) => linked(w, i, each)),
    ...one.customers.map((each, i) => free(w, i, each)),
  ]);
  const sightings = new ContactSightings(matchBy);
  const unchanged = await inTransaction(database.pool, async (db) => {
    await stageContacts(db, run, contacts, { sightings, pass: 1, first: 0 });
    await keepCustomers(
      db,
      run.id,
      0,
      customers.filter((one) => sightings.wants(one) || isWhole),
    );
    const left = await recallContacts(db, run, sightings);
    const how = { action: 'import', onChange: 'update', mappedFields: [], isWhole: true } as const;
    const decided = await decideContacts(db, run, { ...how, matchBy, unchanged: left });
    return decided.status === 'decided' ? left : decided.status;
  });
  const rows = new Map((await rowsOf(database, run)).map((row) => [row.source_id, row]));
  if (isWhole) expect(unchanged === 0 || unchanged === 'links disagree').toBe(true);
  const counted = await database.pool.query<{ unchanged: number }>(
    'select unchanged::int from ledger.runs where id = $1',
    [run.id],
  );
  const fates = contacts.map(({ id }) => {
    const row = rows.get(id);
    const isLeft = row === undefined || row.state === 'staged';
    return isLeft ? [id] : [id, row.state, row.verdict, row.reason, row.facts, row.record_id, row.action];
  });
  return { fates, unchanged: counted.rows[0]?.unchanged, disagree: unchanged === 'links disagree' };
}

/** Links as an earlier night left them; without what they know of their contacts, each is a row. */
async function link({ id, scope }: Run, worlds: readonly World[], isWhole: boolean): Promise<void> {
  const links = worlds.flatMap(({ contacts }, w) =>
    contacts.flatMap((one, i) => {
      if (one.is === 'unlinked') return [];
      const own = inWorld(w, one);
      const known = { ...inWorld(w, one.customer ?? one), ...(one.tellsContact && { contact: `${w}.${i}` }) };
      const was =
        one.is === 'its customer is another' ? { ...known, email: 'x@was', name: 'was', phone: '000' } : known;
      const contact = isWhole && one.is !== 'changed' ? null : own; // a changed contact is a row in any case
      const hash = one.is === 'changed' ? 'before' : 'h';
      return [{ source_id: `${w}.${i}`, record_id: `linked ${w}.${i}`, hash, known: was, contact }];
    }),
  );
  await database.pool.query(
    `insert into ledger.links (scope, kind, source_id, record_id, hash, run_id, known, contact)
     select $1, $2, source_id, record_id, hash, $3, known, contact
     from jsonb_to_recordset($4) as t (source_id text, record_id text, hash text, known jsonb, contact jsonb)`,
    [scope, CONTACT_LINK, id, JSON.stringify(links)],
  );
}

function scanned(w: number, i: number, { is, tellsContact: _, customer: __, ...keyed }: Contact): ScannedContact[] {
  if (is === 'gone') return [];
  const own = {
    id: `${w}.${i}`,
    label: `${w}.${i}`,
    hash: 'h',
    fields: {},
    failures: [],
    isSelected: true,
    isDeleted: false,
  };
  return [{ ...own, ...inWorld(w, keyed) }];
}

function linked(w: number, i: number, { is, tellsContact, customer, ...keyed }: Contact): SeenCustomer[] {
  if (is === 'unlinked' || is === 'its customer is gone') return [];
  const contactId = tellsContact ? `${w}.${i}` : undefined;
  return [{ recordId: `linked ${w}.${i}`, contactId, fields: {}, ...inWorld(w, customer ?? keyed) }];
}

function free(w: number, i: number, { from, ...keyed }: Customer): SeenCustomer {
  const contactId = from === undefined ? undefined : `${w}.${from}`;
  return { recordId: `free ${w}.${i}`, contactId, fields: {}, ...inWorld(w, keyed) };
}

/** The same shapes in another world share nothing with each other. */
function inWorld(w: number, { email, phone, name, org }: Keyed): Keyed {
  const own = (key: string | undefined) => (key === undefined ? undefined : `${key} ${w}`);
  return { email: own(email), phone: own(phone), name: own(name), org: own(org) };
}
