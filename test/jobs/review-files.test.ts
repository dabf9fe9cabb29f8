import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { interruptedAt } from '../cli/command.ts';
import { AWAY, ann, ben, cho, openReview, rivals } from './contact-review.ts';

const { harness, lockstepWith, review, decide, syncTo, ids, states } = await openReview();

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

  test('without rows decides nothing, as an export that found none', async () => {
    await review('export', '--reason', 'NONE', '--out', 'review.csv', '--force');
    const { code, json } = await review('import', 'review.csv', '--json');
    expect([code, json]).toMatchObject([0, { rows: 0, decided: 0, undecided: 0 }]);
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
