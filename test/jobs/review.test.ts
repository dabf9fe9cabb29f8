/** What people decide about contacts in review, and what the next runs make of it, against the embedded service. */
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { addRows } from '../../src/engine/ledger/inputs.ts';
import { endRun } from '../../src/engine/ledger/run-status.ts';
import { type NewRun, type Run, runningRuns, startRun } from '../../src/engine/ledger/runs.ts';
import { planRows } from '../../src/engine/ledger/transitions.ts';
import { inTransaction } from '../../src/storage/transaction.ts';
import { type Around, command, databaseUrl, interruptedAt } from '../cli/command.ts';
import { openContactsHarness } from '../support/harness/contacts.ts';
import { ended } from '../support/harness/ended.ts';
import type { Reply } from '../support/http-server.ts';
import { wordedRows } from '../support/worded-rows.ts';

const QUICK = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 400ms, settle: 400ms }';
const AWAY: Reply = { status: 503 };
const ann = { first_name: 'Ann', last_name: 'Lee', email: 'ann@example.com' };
const ben = { first_name: 'Ben', last_name: 'Orr', email: 'ben@example.com' };
const cho = { first_name: 'Cho', last_name: 'Kim', email: 'cho@example.com' };
/** Two customers with the e-mail of a contact, and other names: the contact may be either. */
const rivals = ({ email }: { readonly email: string }) => ['One', 'Two'].map((full_name) => ({ full_name, email }));

const filtered = (countries: string) => `type: contacts, options: { where: { country: [${countries}] } }`;
const SYNCS = { contacts: 'type: contacts', german: filtered('DE'), french: filtered('FR'), both: filtered('DE, FR') };

const CONTACT_RUN: NewRun = {
  sync: 'contacts',
  type: 'contacts',
  account: 'test',
  resource: 'customers',
  lane: 'batch',
  dryRun: false,
  options: {},
  phase: 'import-customers',
};

const harness = await openContactsHarness({ account: QUICK, hasFront: true, syncs: SYNCS });
beforeEach(() => harness.reset());
afterAll(() => harness.close());

function lockstepWith(more: Pick<Around, 'signals'>, ...args: readonly string[]) {
  const env = { ...harness.env, DATABASE_URL: databaseUrl(harness.database.connection) };
  return command([...args, '--config', 'lockstep.yaml'], { cwd: harness.dataDir, env, ...more });
}

const lockstep = (...args: readonly string[]) => lockstepWith({}, ...args);

const review = (...args: readonly string[]) => lockstep('review', ...args);

async function decide(...args: readonly string[]): Promise<void> {
  const { code, stderr } = await review('decide', ...args);
  expect([code, stderr]).toEqual([0, '']);
}

/** Runs the sync and expects exactly these counts and this many writes. */
async function syncTo(counts: Record<string, number>, writes: number, sync?: keyof typeof SYNCS): Promise<Run> {
  const before = harness.writesSeen();
  const run = await harness.runSync({ ...(sync && { sync }) });
  expect([run.status, run.error]).toEqual(['done', undefined]);
  expect(await harness.tally(run)).toEqual(counts);
  expect(harness.writesSeen() - before).toBe(writes);
  return run;
}

const customer = async (id: string) => (await harness.customers()).find((one) => String(one.id) === id);
const ids = async () => (await review('--json')).json.items.map(({ id }: { id: string }) => id);
const reasons = async (run: Pick<Run, 'id'>) =>
  (await wordedRows(harness.database.pool, run)).map(({ sourceId, reason }) => `${sourceId} ${reason}`);
const states = async () =>
  (await review('--decided', '--json')).json.decisions.map(({ id, state }: Record<string, string>) => `${id} ${state}`);

test('three decisions are applied by the next run, which leaves nothing for a person', async () => {
  await harness.addContacts([ann, ben, cho]);
  await harness.addCustomers([...rivals(ann), ...rivals(ben), ...rivals(cho)]);
  await syncTo({ in: 3, review: 3 }, 0);
  const { stdout } = await review();
  expect(stdout).toMatch(/^AMBIGUOUS_MATCH: 3 rows\nThe contact matches several customers/);
  expect(stdout).toMatch(/ {2}contact-1 {2}Ann Lee <ann@example.com>\n.*customer 1 or 2/);
  expect(stdout).toMatch(/ +contact +customer 1 +customer 2\n +name +ann lee +one +two\n +e-mail +ann@example.com/);
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

/** From now on, handles imports in another way; counts them. */
function onImports(handle: (pass: () => Promise<Reply>) => Promise<Reply | undefined>): { seen: number } {
  const imports = { seen: 0 };
  harness.front.set(async (request, pass) => {
    if (!request.path.endsWith('/import')) return pass();
    imports.seen++;
    return handle(pass);
  });
  return imports;
}

const lose = async (pass: () => Promise<Reply>): Promise<Reply> => {
  await pass();
  throw new Error('the answer is lost');
};

async function decideToCreate(): Promise<void> {
  await harness.addContacts([ann]);
  await harness.addCustomers(rivals(ann));
  await syncTo({ in: 1, review: 1 }, 0);
  await decide('contact-1', '--create');
}

/** Runs the sync until an import was answered in this way, and cancels it before it reads the customers back. */
async function cancelAfter(answer: (pass: () => Promise<Reply>) => Promise<Reply>): Promise<void> {
  let hasSent = false;
  let isAnswered = false;
  harness.front.set(async (request, pass) => {
    if (!request.path.endsWith('/import')) return hasSent ? undefined : pass();
    hasSent = true;
    return answer(pass).finally(() => {
      isAnswered = true;
    });
  });
  const run = await harness.beginSync();
  await expect.poll(() => isAnswered).toBe(true);
  await endRun(harness.database.pool, run.id, 'cancelled');
  harness.front.set();
}

test('a decided creation whose answer is lost is created once', async () => {
  await decideToCreate();
  const imports = onImports(lose);
  await syncTo({ in: 1, created: 1 }, 1);
  expect(imports.seen).toBe(1);
  harness.front.set();
  await syncTo({ in: 1, unchanged: 1 }, 0);
  expect(await harness.customers()).toHaveLength(3);
});

test('a decided creation is created once although its process is killed while it sends', async () => {
  await decideToCreate();
  const child = harness.startProgram('test/support/sync-program');
  const exited = once(child, 'exit');
  const imports = onImports(async (pass) => {
    await pass();
    child.kill('SIGKILL');
    return undefined;
  });
  await exited;
  expect(imports.seen).toBe(1);
  harness.front.set();
  const [unfinished] = await runningRuns(harness.database.pool);
  await (await harness.workspace.work()).attend(unfinished as Run);
  const run = await ended(harness.database, (unfinished as Run).id);
  expect([run.status, await harness.tally(run)]).toEqual(['done', { in: 1, created: 1 }]);
  await syncTo({ in: 1, unchanged: 1 }, 0);
  expect(await harness.customers()).toHaveLength(3);
});

test('a decided creation that its run never sent is created by the next run', async () => {
  await decideToCreate();
  const { pool } = harness.database;
  const { run } = await startRun(pool, { ...CONTACT_RUN, scope: 'test' });
  await inTransaction(pool, async (db) => {
    await addRows(db, run.id, [{ n: 1, sourceId: '1', label: 'Ann', fields: {} }]);
    await planRows(db, run.id, {
      sql: `select 1 as n, 'import' as action, null as record_id, null::jsonb as fields, null::jsonb as was`,
    });
  });
  await pool.query('update ledger.decisions set applied_at = now(), applied_by = $1', [run.id]);
  await endRun(pool, run.id, 'failed', { code: 'SERVICE_AWAY', message: 'it was away' });
  await syncTo({ in: 1, created: 1 }, 1);
  expect(await harness.customers()).toHaveLength(3);
});

test('a decided creation that was sent is not sent again: the next run finds it, or asks again', async () => {
  await decideToCreate();
  await cancelAfter(lose);
  expect(await reasons(await syncTo({ in: 1, existing: 1 }, 0))).toEqual(['1 MATCHED']);
  await harness.reset();
  await decideToCreate();
  await cancelAfter(async () => {
    throw new Error('never arrived');
  });
  expect(await reasons(await syncTo({ in: 1, review: 1 }, 0))).toEqual(['1 AMBIGUOUS_MATCH']);
  expect(await ids()).toEqual(['contact-1']);
});

test('a dry run shows what decisions would do, and applies none', async () => {
  await decideToCreate();
  const dry = await harness.runSync({ dryRun: true });
  expect(await harness.tally(dry)).toEqual({ in: 1, created: 1 });
  expect(await states()).toEqual(['contact-1 waits for the next run']);
  await syncTo({ in: 1, created: 1 }, 1);
});

test('a gone customer is created again or replaced, as a person decides', async () => {
  await harness.addContacts([ann, ben, cho]);
  await syncTo({ in: 3, created: 3 }, 3);
  const gone = (await harness.customers()).filter(({ full_name }) => full_name !== 'Cho Kim');
  for (const { id } of gone) await harness.remove('customer', Number(id));
  await harness.addCustomers([{ full_name: 'Benny', email: 'benny@home.example' }]);
  await syncTo({ in: 3, review: 2, unchanged: 1 }, 0);
  const benny = (await harness.customers()).find(({ full_name }) => full_name === 'Benny');
  await decide('contact-1', '--create');
  await decide('contact-2', '--use', String(benny?.id));
  await syncTo({ in: 3, created: 1, existing: 1, unchanged: 1 }, 1);
  await syncTo({ in: 3, unchanged: 3 }, 0);
  expect(await harness.customers()).toHaveLength(3);
});

test('a customer that is another person now is updated when a person confirms it', async () => {
  await harness.addContacts([ann, ben, cho]);
  await syncTo({ in: 3, created: 3 }, 3);
  await harness.editContact(1, { first_name: 'Zoe', last_name: 'Ray', email: 'zoe@example.com' });
  expect(await reasons(await syncTo({ in: 3, unchanged: 2, review: 1 }, 0))).toEqual(['1 CONTACT_REPLACED']);
  const [item] = (await review('--json')).json.items;
  const [id = ''] = Object.keys(item.customers);
  expect((await review('decide', 'contact-1', '--create')).stderr).toMatch(
    /CONTACT_REPLACED: choose --use \d+, --ignore or --later/,
  );
  const { stdout } = await review('decide', 'contact-1', '--use', id);
  expect(stdout).toContain(`stays linked with customer ${id}, and an update that was held back is sent. The next run`);
  await syncTo({ in: 3, unchanged: 2, updated: 1 }, 1);
  await syncTo({ in: 3, unchanged: 3 }, 0);
  expect(await customer(id)).toMatchObject({ email: 'zoe@example.com' });
});

describe('a file of decisions', () => {
  const csv = () => path.join(harness.dataDir, 'review.csv');
  /** Exports, fills in choice and record by id, and imports. */
  async function fillIn(filled: Readonly<Record<string, string>>, ...args: readonly string[]) {
    expect((await review('export', '--out', 'review.csv', '--force')).stderr).toBe('');
    const lines = (await readFile(csv(), 'utf8')).split('\r\n');
    const given = lines.map((line) => {
      const choice = filled[line.split(',')[0] ?? ''];
      return choice === undefined ? line : line.replace(/,,,(,[0-9a-f]{8})$/, `,${choice},$1`);
    });
    await writeFile(csv(), given.join('\r\n'));
    return review('import', 'review.csv', ...args);
  }

  beforeEach(async () => {
    await harness.addContacts([ann, ben, cho]);
    await harness.addCustomers([...rivals(ann), ...rivals(ben), ...rivals(cho)]);
    await syncTo({ in: 3, review: 3 }, 0);
  });

  test('is applied as a whole by the next run', async () => {
    const dry = await fillIn({ 'contact-1': 'use,1', 'contact-2': 'ignore,' }, '--dry-run');
    expect(dry.stdout).toBe(
      'Dry run: nothing was decided. 2 decisions: 1 use, 0 create, 1 ignore, 0 later.\n1 row without a choice.\n',
    );
    expect(await ids()).toHaveLength(3);
    expect((await fillIn({ 'contact-1': 'use,1', 'contact-2': 'ignore,', 'contact-3': 'create,' })).code).toBe(0);
    await syncTo({ in: 3, existing: 2, created: 1 }, 1);
  });

  test('can be imported again, before and after a run has applied it, with more choices', async () => {
    await fillIn({ 'contact-1': 'use,1', 'contact-2': 'ignore,' });
    const again = await review('import', 'review.csv', '--json');
    expect([again.code, again.json]).toMatchObject([0, { decided: 0, before: 2, undecided: 1 }]);
    await syncTo({ in: 3, existing: 2, review: 1 }, 0);
    await writeFile(csv(), (await readFile(csv(), 'utf8')).replace(/,,,(,[0-9a-f]{8})/, ',create,,$1'));
    const more = await review('import', 'review.csv');
    expect(more.stdout).toBe(
      '1 decision: 0 use, 1 create, 0 ignore, 0 later.\n2 rows were decided in the same way before.\n',
    );
    await syncTo({ in: 3, unchanged: 1, existing: 1, created: 1 }, 1);
    await writeFile(csv(), (await readFile(csv(), 'utf8')).replace(',ignore,', ',create,'));
    expect((await review('import', 'review.csv')).stderr).toMatch(/1 row is wrong.* decided about contact-2: ignore/s);
  });

  test('with a bad row decides nothing, and names each with line and column', async () => {
    const { code, stderr } = await fillIn({ 'contact-1': 'use,', 'contact-2': 'ignor,', 'contact-3': 'create,' });
    expect(code).toBe(2);
    expect(stderr).toContain('2 rows are wrong, so nothing was decided.');
    expect(stderr).toContain('Line 2, column record: the choice is use, and no record is given.');
    expect(stderr).toContain('Line 3, column choice: "ignor" is not a choice; did you mean "ignore"?');
    expect(await ids()).toHaveLength(3);
    const twice = await fillIn({ 'contact-1': 'use,1', 'contact-2': 'use,1' });
    expect(twice.stderr).toContain('Line 3, column record: Customer 1 was already chosen for contact 1,');
  });

  test('decides nothing if it is stopped by Ctrl-C while it waits for decisions of others', async () => {
    await fillIn({ 'contact-2': 'ignore,' }, '--dry-run');
    const stopped = await interruptedAt(harness.database, 'ledger.decisions', (signals) =>
      lockstepWith({ signals }, 'review', 'import', 'review.csv'),
    );
    expect([stopped.code, stopped.stdout]).toEqual([3, '']);
    expect(stopped.stderr).toMatch(/^Stopping\. .*\n.*Stopped by a signal before the work was done/);
    expect(await states()).toEqual([]);
  });

  test('that is damaged is refused with its name and line', async () => {
    await writeFile(csv(), 'id,choice,record,version\ncontact-1,use\n');
    const { code, stderr } = await review('import', 'review.csv');
    expect(code).toBe(2);
    expect(stderr).toMatch(/^lockstep: .*review\.csv: 1 row is wrong, so nothing was decided\.\n {2}Line 2, /);
  });

  test('with a record that the service does not have decides nothing', async () => {
    const { code, stderr } = await fillIn({ 'contact-1': 'use,1', 'contact-2': 'use,99' });
    expect(code).toBe(2);
    expect(stderr).toMatch(/1 row is wrong, .*\n {2}Line 3, column record: .*has no customer 99\.\n$/);
    expect(await states()).toEqual([]);
  });

  test('with records that the service cannot be asked for is taken, and says so', async () => {
    harness.front.set(async () => AWAY);
    const { code, stdout } = await fillIn({ 'contact-1': 'use,1', 'contact-2': 'use,99' });
    expect([code, stdout]).toEqual([0, expect.stringContaining('could not be asked for 2 chosen records: ')]);
  });

  test('is refused for rows whose evidence has changed since the export', async () => {
    await review('export', '--out', 'review.csv', '--force');
    const text = await readFile(csv(), 'utf8');
    await writeFile(csv(), text.replace(/,,,(,[0-9a-f]{8})/, ',create,,$1'));
    await harness.addCustomers([{ full_name: 'Three', email: ann.email }]);
    await syncTo({ in: 3, review: 3 }, 0);
    const { stderr } = await review('import', 'review.csv');
    expect(stderr).toContain('Line 2, column version: the evidence has changed since the export. Export it again.');
  });
});

test('wrong ids and choices are refused with a suggestion', async () => {
  await harness.addContacts([ann, ben]);
  await harness.addCustomers([...rivals(ann), ...rivals(ben)]);
  await syncTo({ in: 2, review: 2 }, 0);
  const refused = async (...args: readonly string[]) => {
    const { code, stderr } = await review(...args);
    expect(code).toBe(2);
    return stderr;
  };
  expect(await refused('decide', 'contcat-1', '--ignore')).toContain(
    'No row "contcat-1" waits for a decision; did you mean "contact-1"?',
  );
  expect(await refused('decide', 'contact-1')).toContain('exactly one of --use RECORD, --create, --ignore and --later');
  expect(await refused('decide', 'contact-1', '--create', '--ignore')).toContain('exactly one of');
  expect(await refused('decide', 'contact-1', 'contact-2', '--use', '1')).toContain('was already chosen for contact 1');
  expect(await refused('undo', 'contact-1')).toContain('There is no decision about "contact-1" to undo. List all');
  expect(await refused('decide', 'contact-3', '--ignore')).toContain(
    'No row "contact-3" waits for a decision. List all with: ',
  );
  expect(await ids()).toEqual(['contact-1', 'contact-2']);
});

test('a second decision about an item is refused, and says who decided what before', async () => {
  await harness.addContacts([ann, ben]);
  await harness.addCustomers([...rivals(ann), ...rivals(ben)]);
  await syncTo({ in: 2, review: 2 }, 0);
  await review('export', '--out', 'review.csv');
  await decide('contact-1', '--use', '2');
  const again = await review('decide', 'contact-1', '--ignore');
  expect([again.code, again.stderr]).toEqual([
    2,
    expect.stringMatching(
      /has decided about contact-1: use 2, \d{4}-.*, waits for the next run\. To decide it again, undo that: lockstep review undo contact-1 /,
    ),
  ]);
  const file = path.join(harness.dataDir, 'review.csv');
  await writeFile(file, (await readFile(file, 'utf8')).replace(/,,,(,[0-9a-f]{8})/, ',ignore,,$1'));
  expect((await review('import', 'review.csv')).stderr).toMatch(/Line 2, column id: .* decided about contact-1: use 2/);
  const run = await syncTo({ in: 2, existing: 1, review: 1 }, 0);
  const applied = await review('decide', 'contact-1', '--ignore');
  expect(applied.stderr).toMatch(new RegExp(`use 2, .*, applied by ${run.id}\\. See: lockstep review --decided`));
});

test('a customer that is linked with another contact cannot be chosen', async () => {
  await harness.addContacts([ann]);
  await syncTo({ in: 1, created: 1 }, 1);
  const [linked] = await harness.customers();
  await harness.addContacts([ben]);
  await harness.addCustomers(rivals(ben));
  await syncTo({ in: 2, unchanged: 1, review: 1 }, 0);
  const { code, stderr } = await review('decide', 'contact-2', '--use', String(linked?.id));
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining(`Customer ${linked?.id} belongs to contact 1, and a customer`),
  ]);
  expect(await ids()).toEqual(['contact-2']);
});
