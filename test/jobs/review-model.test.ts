/**
 * Review against a model: random series of decisions, undone decisions, changed contacts and customers, and syncs. The model keeps of
 * each contact only what a person decided, whether that still holds, and what it is linked with.
 */
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { command, databaseUrl } from '../cli/command.ts';
import { type ContactsHarness, openContactsHarness } from '../support/harness/contacts.ts';
import { runs } from '../support/property-runs.ts';

const CONTACTS = [1, 2, 3] as const;
type Contact = (typeof CONTACTS)[number];
const CHOICES = ['first', 'second', 'create', 'ignore', 'later'] as const;
type Choice = (typeof CHOICES)[number];

interface Case {
  /** `undone`: was ignored, and is in review again after the next sync. */
  state: 'review' | 'ignored' | 'undone' | 'linked';
  /** Not applied yet; in a linked contact there is none. */
  decision: Choice | undefined;
  /** The contact, or one of its customers, has changed since the person decided. */
  hasChanged: boolean;
}

interface Model {
  readonly cases: Readonly<Record<Contact, Case>>;
  created: number;
  edits: number;
}

const account = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 400ms, settle: 400ms }';
const harness = await openContactsHarness({ account, syncs: { contacts: 'type: contacts' } });
afterAll(() => harness.close());

const mailOf = (contact: Contact) => `person${contact}@example.com`;
const customerOf = (contact: Contact, choice: 'first' | 'second') => contact * 2 - (choice === 'first' ? 1 : 0);

async function review(...args: readonly string[]): Promise<void> {
  const env = { ...harness.env, DATABASE_URL: databaseUrl(harness.database.connection) };
  const { code, stderr } = await command(['review', ...args, '--config', 'lockstep.yaml'], {
    cwd: harness.dataDir,
    env,
  });
  expect([code, stderr]).toEqual([0, '']);
}

type Step = fc.AsyncCommand<Model, ContactsHarness>;

function step(what: string, check: (model: Model) => boolean, run: (model: Model) => Promise<void>): Step {
  return { check, toString: () => what, run };
}

const isOpen = ({ state, decision }: Case) => state === 'review' && (decision === undefined || decision === 'later');

const decide = (contact: Contact, choice: Choice) =>
  step(
    `contact ${contact}: ${choice}`,
    ({ cases }) => isOpen(cases[contact]),
    async ({ cases }) => {
      const how =
        choice === 'first' || choice === 'second' ? ['--use', String(customerOf(contact, choice))] : [`--${choice}`];
      await review('decide', `contact-${contact}`, ...how);
      Object.assign(cases[contact], { decision: choice });
    },
  );

/** A decision that is not applied, or an ignored contact. */
const undo = (contact: Contact) =>
  step(
    `contact ${contact}: undo`,
    ({
      cases: {
        [contact]: { state, decision },
      },
    }) => state === 'ignored' || (decision !== undefined && decision !== 'later'),
    async ({ cases }) => {
      await review('undo', `contact-${contact}`);
      const state = cases[contact].state === 'ignored' ? 'undone' : 'review';
      Object.assign(cases[contact], { state, decision: undefined });
    },
  );

const editContact = (contact: Contact) =>
  step(
    `contact ${contact} is edited`,
    () => true,
    async (model) => {
      await harness.editContact(contact, { last_name: `Edited ${model.edits++}` });
      model.cases[contact].hasChanged = true;
    },
  );

/** Only while the contact is linked with none: a linked customer that changes is another matter. */
const editCustomer = (contact: Contact) =>
  step(
    `a customer of contact ${contact} is edited`,
    ({ cases }) => cases[contact].state !== 'linked',
    async (model) => {
      const id = customerOf(contact, 'first');
      await harness.call('customers.update', { id, full_name: `Another ${model.edits++}`, email: mailOf(contact) });
      model.cases[contact].hasChanged = true;
    },
  );

const sync = step(
  'a sync',
  () => true,
  async (model) => {
    const counts = { in: CONTACTS.length, review: 0, existing: 0, created: 0, updated: 0, unchanged: 0 };
    for (const contact of CONTACTS) counts[ended(model, model.cases[contact])] += 1;
    const before = harness.writesSeen();
    const run = await harness.runSync();
    expect([run.status, run.error]).toEqual(['done', undefined]);
    expect(await harness.counts(run)).toMatchObject(counts);
    expect(harness.writesSeen() - before).toBe(counts.created + counts.updated);
    expect(await harness.customers()).toHaveLength(CONTACTS.length * 2 + model.created);
  },
);

/** The verdict that the next sync has to give, and what is so after it. */
function ended(model: Model, one: Case): 'review' | 'existing' | 'created' | 'updated' | 'unchanged' {
  const { state, decision, hasChanged } = one;
  one.hasChanged = false;
  if (state === 'linked') return hasChanged ? 'updated' : 'unchanged';
  one.decision = decision === 'later' ? decision : undefined;
  if (hasChanged || state === 'undone') one.state = 'review';
  else if (decision === 'create') {
    model.created += 1;
    one.state = 'linked';
    return 'created';
  } else if (decision === 'first' || decision === 'second') {
    one.state = 'linked';
    return 'existing';
  } else if (decision === 'ignore') one.state = 'ignored';
  return one.state === 'ignored' ? 'existing' : 'review';
}

test('a decision is applied once, while its evidence holds, and nothing else is written', async () => {
  const contact = fc.constantFrom(...CONTACTS);
  const steps = [
    fc.tuple(contact, fc.constantFrom(...CHOICES)).map((chosen) => decide(...chosen)),
    fc.tuple(contact, fc.constantFrom(...CHOICES)).map((chosen) => decide(...chosen)),
    contact.map(undo),
    contact.map(editContact),
    contact.map(editCustomer),
    fc.constant(sync),
    fc.constant(sync),
  ];
  await fc.assert(
    fc.asyncProperty(fc.commands(steps, { maxCommands: 20 }), async (commands) => {
      await harness.reset();
      for (const n of CONTACTS)
        await harness.addContacts([{ first_name: 'Person', last_name: String(n), email: mailOf(n) }]);
      for (const n of CONTACTS)
        await harness.addCustomers(
          ['One', 'Two'].map((full_name) => ({ full_name: `${full_name} ${n}`, email: mailOf(n) })),
        );
      expect(await harness.tally(await harness.runSync())).toEqual({ in: CONTACTS.length, review: CONTACTS.length });
      const fresh = () => ({ state: 'review', decision: undefined, hasChanged: false }) as const;
      const cases = { 1: { ...fresh() }, 2: { ...fresh() }, 3: { ...fresh() } };
      await fc.asyncModelRun(() => ({ model: { cases, created: 0, edits: 0 }, real: harness }), [...commands, sync]);
    }),
    runs(5),
  );
});
