/** `lockstep ledger`: sizes, deleting old data, and exports. */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { pruneLedger } from '../../src/engine/ledger/retention/prune.ts';
import { endRun } from '../../src/engine/ledger/run-status.ts';
import { aRun, asLoad, freshLedger, putRows } from '../engine/ledger/fresh-ledger.ts';
import { command, commandsWith, scratchFolders } from './command.ts';

const folder = scratchFolders();
const SETTINGS = 'accounts: { a: {} }\nretention: { rows: 90d, runs: 400d }\n';

const database = await freshLedger();
for (const days of [500, 100, 1]) {
  const run = await aRun(database, { sync: 'nightly', account: 'a', resource: 'customers' });
  await putRows(database, run, [
    { source_id: '1', label: 'Ann', verdict: 'created', record_id: '7' },
    { source_id: '2', label: 'Ben', verdict: 'rejected', reason: 'REFUSED' },
  ]);
  await endRun(database.pool, run.id, 'done');
  await database.pool.query(
    `update ledger.runs set created_at = created_at - $2 * interval '1 day', ended_at = ended_at - $2 * interval '1 day' where id = $1`,
    [run.id, days],
  );
}
afterAll(() => database.close());

const lockstep = commandsWith(database, SETTINGS);
const ledger = (...args: readonly string[]) => lockstep('ledger', ...args);

test('shows the rows and bytes of tables, and their sums by kind', async () => {
  const shown = await ledger('size');
  expect([shown.code, shown.stderr]).toEqual([0, '']);
  expect(shown.stdout).toMatch(/rows +inputs +6 +\d/);
  const { json } = await ledger('size', '--json');
  expect(json.tables).toContainEqual(
    expect.objectContaining({ table: 'runs', kind: 'runs', rows: 3, isEstimate: false }),
  );
  expect(json.tables.map(({ kind }: { kind: string }) => kind)).toContain('knowledge');
  expect(json.tables).toContainEqual(expect.objectContaining({ table: 'evidence', kind: 'rows' }));
  const sum = json.kinds.reduce((all: number, { bytes }: { bytes: number }) => all + bytes, 0);
  expect(sum).toBe(json.bytes);
});

test('exports, counts, deletes, and exports what is left with the sums of deleted runs', async () => {
  const before = await ledger('export', '--out', 'all.ndjson');
  expect([before.code, before.stdout]).toEqual([0, 'Wrote 9 lines to all.ndjson.\n']);
  const lines = (await readFile(path.join(before.cwd, 'all.ndjson'), 'utf8')).trimEnd().split('\n');
  const entries = lines.map((line) => JSON.parse(line));
  expect(entries.slice(0, 2)).toMatchObject([
    { kind: 'run', sync: 'nightly', status: 'done', counts: { created: 1, rejected: 1 } },
    { kind: 'row', run: entries[0].id, sourceId: '1', label: 'Ann', verdict: 'created', recordId: '7' },
  ]);

  const planned = await ledger('prune', '--dry-run', '--json');
  expect(planned.json).toEqual({ dryRun: true, rows: 4, runs: 1, deliveries: 0, inbox: 0 });
  const pruned = await ledger('prune');
  expect(pruned.stdout).toMatch(/rows +90d +4\nruns +400d +1\ndeliveries +30d +0\n/);

  const after = await ledger('export', '--out', '-');
  const left = after.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(left.map(({ kind }) => kind).join()).toBe('run,run,row,row,history,history,history');
  expect(left[0].counts).toEqual({ created: 1, rejected: 1 });
  expect(left.slice(4).map(({ what, count }) => `${what} ${count}`)).toEqual([
    'created 1',
    'rejected 1',
    'run: done 1',
  ]);
  const recent = await ledger('export', '--since', '2d', '--out', '-');
  expect(recent.stdout.match(/"kind":"run"/g)).toHaveLength(1);
  const shown = await lockstep('runs', 'show', left[0].id);
  expect(shown.stdout).toContain('2 older rows of this run were deleted, and only counted.');
});

test('refuses ages that are too short, by the line of the setting', async () => {
  const cwd = await folder();
  await writeFile(path.join(cwd, 's.yaml'), 'accounts: { a: {} }\nretention: { rows: 1h, runs: 90, inbox: never }\n');
  const checked = await command(['settings', 'check', '--config', 's.yaml'], { cwd });
  expect(checked.code).toBe(2);
  expect(checked.stderr.match(/expected forever, or a duration from 7d to 3650d, such as 90d/g)).toHaveLength(3);
});

test('refuses to retry a load whose failed rows were deleted, and names what to do instead', async () => {
  const run = await aRun(database, { type: 'orders', resource: 'orders:1' });
  await putRows(database, run, [{ source_id: '2', verdict: 'rejected', reason: 'CUSTOMER_UNKNOWN' }]);
  await asLoad(database, run);
  await endRun(database.pool, run.id, 'done');
  await pruneLedger(database.pool, { rowsMs: 0, runsMs: undefined });
  const retried = await lockstep('runs', 'retry', run.id, '--data', 'd');
  expect([retried.code, retried.stderr]).toEqual([2, expect.stringContaining('Load its file again with --again')]);
});
