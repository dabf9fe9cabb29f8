import type pg from 'pg';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { importLinks, type LinkImport } from '../../../src/mirror/links/import-links.ts';
import { keepItemLinks } from '../../../src/mirror/links/item-links.ts';
import type { LinkRow } from '../../../src/mirror/links/read-links.ts';
import { freshLedger } from '../../engine/ledger/fresh-ledger.ts';
import { mostRows } from '../../support/statement-work.ts';

const database = await freshLedger();
beforeEach(async () => {
  await database.pool.query('truncate ledger.links, ledger.tasks');
});
afterAll(() => database.close());

/** `1 A` on each line: task 1 and item A; `!` is a line that was refused before. */
function rowsOf(...lines: readonly string[]): LinkRow[] {
  return lines.map((text, index) => {
    const line = index + 2;
    const [id = '', itemId = ''] = text.split(' ');
    if (id === '!') return { status: 'bad', line, code: 'RAGGED', facts: { line, cells: 1 } };
    return { status: 'good', line, source: `task:${id}`, itemId };
  });
}

async function importing(rows: readonly LinkRow[], more: Partial<LinkImport> = {}, pool = database.pool) {
  const batches = async function* () {
    for (let at = 0; at < rows.length; at += 1_000) yield rows.slice(at, at + 1_000);
  };
  const how = { scope: 'demo', target: 'issues', isReplacing: false, isDryRun: false, mostRefused: 100 };
  const { signal } = new AbortController();
  return importLinks(pool, { signal, ...how, rows: batches(), ...more });
}

async function links(): Promise<readonly string[]> {
  const found = await database.pool.query<{ link: string }>(
    `select concat_ws(' ', substr(source_id, 6), record_id) as link from ledger.links
     where scope = 'demo' and kind = 'item:issues' order by 1`,
  );
  return found.rows.map(({ link }) => link);
}

const NONE = { new: 0, same: 0, replaced: 0, refused: 0 };

test('links good rows, names bad ones, and the counts add up', async () => {
  const imported = await importing(rowsOf('1 A', '!', '2 B', '1 A'));
  expect(imported).toMatchObject({ rows: 4, counts: { new: 2, same: 1, replaced: 0, refused: 1 } });
  expect(imported.refused).toEqual([{ line: 3, code: 'RAGGED', facts: { line: 3, cells: 1 } }]);
  expect(await links()).toEqual(['1 A', '2 B']);
});

test('the same file again changes nothing', async () => {
  await importing(rowsOf('1 A', '2 B'));
  expect((await importing(rowsOf('1 A', '2 B'))).counts).toEqual({ ...NONE, same: 2 });
});

test('reads each row a few times if the same file is imported again right away, or replaces the links', async () => {
  const MANY = 2_000;
  const file = (shift: number) => rowsOf(...Array.from({ length: MANY }, (_, at) => `${at} A${(at + shift) % MANY}`));
  for (const shift of [0, 0, 1]) {
    const again = (pool: pg.Pool) => importing(file(shift), { isReplacing: shift > 0 }, pool).then(() => undefined);
    expect(await mostRows(database, again)).toBeLessThan(10 * MANY);
  }
});

test('leaves a different link unchanged and reports it with its line', async () => {
  await importing(rowsOf('1 A', '2 B'));
  const imported = await importing(rowsOf('1 C', '3 B', '4 D', '3 B'));
  expect(imported.counts).toEqual({ ...NONE, new: 1, refused: 3 });
  expect(imported.refused).toMatchObject([
    { line: 2, code: 'TASK_LINKED', facts: { line: 2, task: 'task:1', item: 'C', other: 'A' } },
    { line: 3, code: 'ITEM_LINKED', facts: { line: 3, task: 'task:3', item: 'B', other: 'task:2' } },
    { line: 5, code: 'ITEM_LINKED' },
  ]);
  expect(await links()).toEqual(['1 A', '2 B', '4 D']);
});

test('tasks swap their items with --replace', async () => {
  await importing(rowsOf('1 A', '2 B', '3 C'));
  const imported = await importing(rowsOf('1 B', '2 A', '3 C', '1 B'), { isReplacing: true });
  expect(imported).toMatchObject({ counts: { ...NONE, same: 2, replaced: 2 }, unlinked: 0 });
  expect(await links()).toEqual(['1 B', '2 A', '3 C']);
});

test('counts a task that loses its item to one of the file', async () => {
  await importing(rowsOf('1 A', '2 B'));
  expect(await importing(rowsOf('3 A'), { isReplacing: true })).toMatchObject({ counts: { replaced: 1 }, unlinked: 1 });
  expect(await links()).toEqual(['2 B', '3 A']);
});

test.each([false, true])('refuses all rows that contradict each other, with --replace %s', async (isReplacing) => {
  await importing(rowsOf('1 A'));
  const imported = await importing(rowsOf('1 X', '1 Y', '2 Y', '3 Z', '1 X'), { isReplacing });
  expect(imported.counts).toEqual({ ...NONE, new: 1, refused: 4 });
  expect(imported.refused.map(({ line, code, facts }) => [line, code, facts.other])).toEqual([
    [2, 'TASK_TWICE', '3'],
    [3, 'TASK_TWICE', '2'],
    [4, 'ITEM_TWICE', '3'],
    [6, 'TASK_TWICE', '3'],
  ]);
  expect(await links()).toEqual(['1 A', '3 Z']);
});

test('a dry run counts the same and writes nothing', async () => {
  await importing(rowsOf('1 A'));
  const rows = rowsOf('1 B', '2 C', '!');
  const planned = await importing(rows, { isDryRun: true, isReplacing: true });
  expect(await links()).toEqual(['1 A']);
  expect(await importing(rows, { isReplacing: true })).toEqual(planned);
});

test('links of other targets and accounts cause no conflict', async () => {
  const link = { scope: 'demo', task: { kind: 'task', id: '1' }, itemId: 'A', runId: 'run-1' } as const;
  await keepItemLinks(database.pool, 'elsewhere', [link]);
  await keepItemLinks(database.pool, 'issues', [{ ...link, scope: 'other' }]);
  expect((await importing(rowsOf('1 B', '2 A'))).counts).toEqual({ ...NONE, new: 2 });
});

test('a delivery that comes to an item afterwards keeps a person’s link', async () => {
  await importing(rowsOf('1 A'));
  const link = { scope: 'demo', task: { kind: 'task', id: '1' }, itemId: 'B', runId: 'run-1' } as const;
  await keepItemLinks(database.pool, 'issues', [link, { ...link, task: { kind: 'task', id: '2' }, itemId: 'A' }]);
  expect(await links()).toEqual(['1 A']);
});

test('a truncated file leaves nothing behind', async () => {
  const rows = async function* () {
    yield rowsOf('1 A');
    throw new Error('the file has changed');
  };
  await expect(importing([], { rows: rows() })).rejects.toThrow('the file has changed');
  expect(await links()).toEqual([]);
});

test('counts tasks that no sync has seen, once there are any', async () => {
  expect((await importing(rowsOf('1 A', '2 B'))).unseen).toBe(0);
  await database.pool.query(
    `insert into ledger.tasks (scope, sync, kind, task_id, version, state, hash) values ('demo', 's', 'task', '1', 1, '{}', '')`,
  );
  expect((await importing(rowsOf('1 A', '2 B', '!'))).unseen).toBe(1);
});
