import { beforeEach, describe, expect, test } from 'vitest';
import type { Reply } from '../support/http-server.ts';
import { AWAY, ann, ben, cho, openReview, rivals } from './contact-review.ts';

const { harness, lockstep, review, decide, syncTo, customer, ids, reasons, states } = await openReview();

test('three decisions are applied by the next run, which leaves nothing for a person', async () => {
  await harness.addContacts([ann, ben, cho]);
  await harness.addCustomers([...rivals(ann), ...rivals(ben), ...rivals(cho)]);
  await syncTo({ in: 3, review: 3 }, 0);
  const { stdout } = await review();
  expect(stdout).toMatch(/^AMBIGUOUS_MATCH: 3 rows\nThe contact matches several customers/);
  expect(stdout).toMatch(/ {2}contact-1 {2}Ann Lee <ann@example.com>\n.*customer 1 or 2/);
  expect(stdout).toMatch(/ +contact +customer 1 +customer 2\n +name +Ann Lee +One +Two\n +e-mail +ann@example.com/);
  expect(stdout).toMatch(/review decide contact-1 .*\(--use 1, --use 2, --create, --ignore or --later\)\n/);
  expect(stdout).toMatch(/3 rows wait for a person\.\n$/);

  await decide('contact-1', '--use', '2', '--note', 'same person');
  await decide('contact-2', '--create');
  expect((await lockstep('status')).stdout).toMatch(
    /contacts, since .*: 3 in review \(2 of them decided\)\n +lockstep review /,
  );
  await decide('contact-3', '--ignore');
  expect((await review()).stdout).toBe('No row of a run that has ended waits for a decision.\n');
  expect((await lockstep('status')).stdout).toMatch(
    /contacts, since .*: 3 in review \(decided\)\n +lockstep run contacts /,
  );
  expect((await lockstep('runs', 'show')).stdout).toContain('A person has decided. To apply it: lockstep run contacts');
  const { code, json } = await lockstep('run', 'contacts', '--json');
  expect([code, json.counts]).toEqual([0, expect.objectContaining({ in: 3, existing: 2, created: 1 })]);
  const run = { id: json.run };
  expect((await reasons(run)).sort()).toEqual(['1 DECIDED_USE', '2 null', '3 DECIDED_IGNORE']);
  expect(await states()).toEqual([
    `contact-3 applied by ${run.id}`,
    `contact-2 applied by ${run.id}`,
    `contact-1 applied by ${run.id}`,
  ]);
  await syncTo({ in: 3, unchanged: 2, existing: 1 }, 0);
  await syncTo({ in: 3, unchanged: 2, existing: 1 }, 0);
  expect(await harness.customers()).toHaveLength(7);
  await harness.editContact(1, { last_name: 'Lee-Okafor' });
  await syncTo({ in: 3, unchanged: 1, updated: 1, existing: 1 }, 1);
  expect(await customer('2')).toMatchObject({ full_name: 'Ann Lee-Okafor' });
});

test('a contact stays in review when its only candidate was chosen for another contact, until it is decided too', async () => {
  await harness.addContacts([ann, { ...ben, email: ann.email }, { ...cho, email: ann.email }]);
  await harness.addCustomers([{ full_name: 'One', email: ann.email }]);
  await syncTo({ in: 3, review: 3 }, 0);
  const offered = async () => /review decide contact-2 .*\((--use .*)\)/.exec((await review()).stdout)?.[1];
  expect(await offered()).toBe('--use 1, --create, --ignore or --later');
  await decide('contact-1', '--use', '1');
  expect(await offered()).toBe('--use RECORD, --create, --ignore or --later');
  await decide('contact-3', '--ignore');
  await syncTo({ in: 3, existing: 2, review: 1 }, 0);
  await syncTo({ in: 3, unchanged: 1, existing: 1, review: 1 }, 0);
  expect((await review()).stdout).toMatch(
    /contact-2 .*\n +By e-mail it could be customer 1, which a person has linked with contact 1\.\n/,
  );
  expect(await offered()).toBe('--use RECORD, --create, --ignore or --later');
  expect((await review('undo', 'contact-3')).stdout).toMatch(
    /is undone: the next run of its sync reviews it again\.$/m,
  );
  await syncTo({ in: 3, unchanged: 1, review: 2 }, 0);
  await decide('contact-2', '--create');
  await harness.addContacts([{ first_name: 'New', email: ann.email }]); // was never in review, so nothing is unclear about it
  await syncTo({ in: 4, unchanged: 1, created: 2, review: 1 }, 2);
  await syncTo({ in: 4, unchanged: 3, review: 1 }, 0);
});

describe('of two syncs that filter the contacts of one account', () => {
  beforeEach(async () => {
    await harness.addContacts([{ ...ann, country: 'DE' }, { ...ben, country: 'FR' }, cho]);
    await harness.addCustomers([...rivals(ann), ...rivals(ben), ...rivals(cho)]);
    await syncTo({ in: 1, review: 1 }, 0, 'german');
    await syncTo({ in: 1, review: 1 }, 0, 'french');
  });

  test('each keeps its items and its decisions while the other runs', async () => {
    expect((await ids()).sort()).toEqual(['contact-1', 'contact-2']);
    await decide('contact-1', '--use', '1');
    await syncTo({ in: 1, review: 1 }, 0, 'french');
    expect(await states()).toEqual(['contact-1 waits for the next run']);
    await syncTo({ in: 1, existing: 1 }, 0, 'german');
    expect(await ids()).toEqual(['contact-2']);
  });

  test('a contact of both waits once, and no longer when either has linked it', async () => {
    const run = await syncTo({ in: 2, review: 2 }, 0, 'both');
    const { items } = (await review('--json')).json;
    expect(items.map((item: { id: string; run: string }) => [item.id, item.run])).toEqual([
      ['contact-1', run.id],
      ['contact-2', run.id],
    ]);
    await decide('contact-1', '--use', '1');
    await syncTo({ in: 1, existing: 1 }, 0, 'german');
    expect(await ids()).toEqual(['contact-2']);
    await syncTo({ in: 1, unchanged: 1 }, 0, 'german');
    expect(await ids()).toEqual(['contact-2']);
  });

  test('a decision lapses when its contact leaves the filter, and a run of all contacts shows all items', async () => {
    await decide('contact-1', '--use', '1');
    await harness.editContact(1, { country: 'IT' });
    await syncTo({}, 0, 'german');
    expect(await states()).toEqual(['contact-1 no longer needed']);
    expect(await ids()).toEqual(['contact-2']);
    await syncTo({ in: 3, review: 3 }, 0);
    expect(await ids()).toEqual(['contact-1', 'contact-2', 'contact-3']);
  });
});

test('a customer that a person chose among duplicates stays chosen, and its duplicate is not reported again', async () => {
  await harness.addContacts([ann]);
  await harness.addCustomers([1, 2].map(() => ({ full_name: 'Ann Lee', email: ann.email })));
  await syncTo({ in: 1, review: 1 }, 0);
  await decide('contact-1', '--use', '1');
  await syncTo({ in: 1, existing: 1 }, 0);
  for (const _night of [1, 2]) {
    const run = await syncTo({ in: 1, existing: 1 }, 0);
    expect(await reasons(run)).toEqual(['1 DECIDED_IGNORE']);
  }
  await harness.addCustomers([{ full_name: 'Ann Lee', email: ann.email }]);
  expect(await reasons(await syncTo({ in: 1, review: 1 }, 0))).toEqual(['1 DUPLICATE']);
});

test('an ignored contact is in review again when the contact, or one of its customers, changes', async () => {
  await harness.addContacts([ann, ben]);
  await harness.addCustomers([...rivals(ann), ...rivals(ben)]);
  await syncTo({ in: 2, review: 2 }, 0);
  await decide('contact-1', 'contact-2', '--ignore');
  await syncTo({ in: 2, existing: 2 }, 0);
  await harness.editContact(1, { first_name: 'Annie' });
  await syncTo({ in: 2, existing: 1, review: 1 }, 0);
  expect(await ids()).toEqual(['contact-1']);
  await harness.addCustomers([{ full_name: 'Three', email: ben.email }]);
  await syncTo({ in: 2, review: 2 }, 0);
  expect(await ids()).toEqual(['contact-1', 'contact-2']);
  const lapsed = 'lapsed: the evidence changed';
  expect(await states()).toEqual([`contact-2 ${lapsed}`, `contact-1 ${lapsed}`]);
});

test('a decision is not applied to evidence that its person has not seen', async () => {
  await harness.addContacts([ann, ben, cho]);
  await harness.addCustomers([...rivals(ann), ...rivals(ben), ...rivals(cho)]);
  await syncTo({ in: 3, review: 3 }, 0);
  await decide('contact-1', '--create');
  harness.front.set(async () => AWAY);
  await decide('contact-2', '--use', '99');
  harness.front.set();
  await decide('contact-3', '--use', '5');
  await harness.addCustomers([{ full_name: 'Ann Lee-Orr', email: ann.email }]);
  await harness.call('customers.update', { id: 5, full_name: 'Another Person', email: cho.email });
  const { notes } = await syncTo({ in: 3, review: 3 }, 0);
  expect(notes).toContain('contact 2 stays in review: customer 99, which was chosen for it, is not in the list');
  expect(await states()).toEqual([
    'contact-3 lapsed: the evidence changed',
    'contact-2 lapsed: the customer is not in the list',
    'contact-1 lapsed: the evidence changed',
  ]);
});

test('a customer that is gone is not offered', async () => {
  await harness.addContacts([ann, ben]);
  await syncTo({ in: 2, created: 2 }, 2);
  const anns = (await harness.customers()).find(({ full_name }) => full_name === 'Ann Lee');
  await harness.remove('customer', Number(anns?.id));
  await syncTo({ in: 2, unchanged: 1, review: 1 }, 0);
  const { stdout } = await review();
  expect(stdout).toContain(`customer ${anns?.id}`);
  expect(stdout).toMatch(/review decide contact-1 .*\(--use RECORD, --create, --ignore or --later\)\n/);
});

test('a customer that was not among the candidates can be used', async () => {
  await harness.addContacts([ann]);
  await harness.addCustomers([...rivals(ann), { full_name: 'Annie L', email: 'annie@home.example' }]);
  await syncTo({ in: 1, review: 1 }, 0);
  expect((await review('decide', 'contact-1', '--use', '3')).stdout).toContain('was not among the candidates');
  await syncTo({ in: 1, existing: 1 }, 0);
  await syncTo({ in: 1, unchanged: 1 }, 0);
});

describe('a chosen customer that the service does not have', () => {
  beforeEach(async () => {
    await harness.addContacts([ann, ben]);
    await harness.addCustomers([...rivals(ann), ...rivals(ben)]);
    await syncTo({ in: 2, review: 2 }, 0);
  });

  const UNASKED = 'The service could not be asked';

  test('is refused at once, and nothing is decided', async () => {
    const refused = await review('decide', 'contact-1', '--use', '99');
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(
      'Contact 1 (Ann Lee <ann@example.com>): the service of account "test" has no customer 99.',
    );
    expect(await states()).toEqual([]);
  });

  test.each<[string, Reply]>([
    ['is away', AWAY],
    ['has no look-up by id', { status: 404, body: { message: 'not found' } }],
  ])('is accepted while the service %s, and the person is told that a run checks it', async (_, answer) => {
    harness.front.set(async (request, pass) => (request.path.endsWith('/customers/get') ? answer : pass()));
    const { code, stdout } = await review('decide', 'contact-1', '--use', '99');
    expect([code, stdout]).toEqual([0, expect.stringContaining(UNASKED)]);
    harness.front.set();
    expect((await review('decide', 'contact-2', '--use', '3')).stdout).not.toContain(UNASKED);
  });
});

test('an undone decision is not applied, an applied one cannot be undone, and an ignored row can be reviewed again', async () => {
  await harness.addContacts([ann, ben, cho]);
  await harness.addCustomers([...rivals(ann), ...rivals(ben), ...rivals(cho)]);
  await syncTo({ in: 3, review: 3 }, 0);
  await decide('contact-1', 'contact-2', '--create');
  await decide('contact-3', '--ignore');
  expect((await review('undo', 'contact-1')).stdout).toMatch(/is undone: it is in review again\.$/m);
  expect(await ids()).toEqual(['contact-1']);
  const run = await syncTo({ in: 3, review: 1, created: 1, existing: 1 }, 1);
  const late = await review('undo', 'contact-2');
  expect([late.code, late.stderr]).toEqual([2, expect.stringContaining(`was applied by run ${run.id}`)]);
  expect((await review('undo', 'contact-3')).code).toBe(0);
  await syncTo({ in: 3, review: 2, unchanged: 1 }, 0);
});

test('later keeps a row in review, and the next decision replaces it', async () => {
  await harness.addContacts([ann]);
  await harness.addCustomers(rivals(ann));
  await syncTo({ in: 1, review: 1 }, 0);
  await decide('contact-1', '--later', '--note', 'ask Ann');
  await syncTo({ in: 1, review: 1 }, 0);
  expect((await review()).stdout).toContain('contact-1  Ann Lee <ann@example.com>  (later)');
  await decide('contact-1', '--ignore');
  await syncTo({ in: 1, existing: 1 }, 0);
});
