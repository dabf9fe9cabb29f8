import { execFileSync } from 'node:child_process';
import { lstat, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { sentenceFor } from '../../src/base/reasons/reasons.ts';
import { command } from './command.ts';
import { openLedgerRuns } from './ledger-runs.ts';

const { folder, env, runWith, runs } = await openLedgerRuns();

test('exports all rows to a file or to stdout, without cells a spreadsheet would execute', async () => {
  const id = await runWith(['1 review NO_KEY =HYPERLINK("x")', '2 created - Zoé, or Zoe'], 'done');
  const { code, cwd } = await runs('export', id, '--out', 'all.csv');
  expect(code).toBe(0);
  const [titles, ...rows] = (await readFile(path.join(cwd, 'all.csv'), 'utf8')).split('\r\n');
  expect(titles).toBe('source_id,label,verdict,reason,detail,record_id,action,sends');
  const says = sentenceFor('NO_KEY', {});
  expect(rows).toEqual([`1,"'=HYPERLINK(""x"")",review,NO_KEY,"${says}",,,0`, `2,"Zoé, or Zoe",created,'-,,,,0`, '']);
  const created = await runs('export', id, '--verdict', 'created', '--out', '-', '--json');
  expect(created.stdout.split('\r\n').slice(0, -1)).toEqual([titles, rows[1]]);
  expect(created.json).toEqual({ run: id, verdict: 'created', rows: 1, file: null });
});

test('an export is readable by its owner only, replaces a link without following it, and can write into a pipe', async () => {
  const id = await runWith(['1 created - a;=1+1'], 'done');
  const dir = await folder();
  const [link, victim, pipe] = ['link.csv', 'victim', 'pipe'].map((name) => path.join(dir, name)) as [
    string,
    string,
    string,
  ]; // three
  await writeFile(victim, 'as it was');
  await symlink(victim, link);
  expect((await runs('export', id, '--out', link, '--force')).code).toBe(0);
  expect([await readFile(victim, 'utf8'), (await lstat(link)).mode & 0o777]).toEqual(['as it was', 0o600]);
  expect(await readFile(link, 'utf8')).toContain("a;'=1+1");
  const long = path.join(dir, `${'x'.repeat(251)}.csv`);
  expect((await runs('export', id, '--out', long)).code).toBe(0);
  execFileSync('mkfifo', [pipe]);
  const [read, exported] = await Promise.all([readFile(pipe, 'utf8'), runs('export', id, '--out', pipe)]);
  expect([exported.code, read]).toEqual([0, await readFile(long, 'utf8')]);
  expect((await lstat(pipe)).isFIFO()).toBe(true);
});

test('reports a file that cannot be written', async () => {
  const id = await runWith(['1 created -'], 'done');
  const { code, json } = await runs('export', id, '--out', 'nowhere/x.csv', '--json');
  expect([code, json.error.code]).toEqual([2, 'EXPORT_NOT_WRITABLE']);
});

test.each([
  ['runs export', ['runs', 'export', 'RUN', '--out']],
  ['ledger export', ['ledger', 'export', '--out']],
  ['review export', ['review', 'export', '--out']],
  ['orders template', ['orders', 'template']],
  ['orders load --template', ['orders', 'load', '--template']],
])('%s replaces a file only with --force', async (_, args) => {
  const id = await runWith(['1 created -'], 'done');
  const cwd = await folder({ withSettings: true });
  const around = { cwd, env };
  const file = path.join(cwd, 'kept.csv');
  await writeFile(file, 'as it was');
  const told = [...args.map((arg) => (arg === 'RUN' ? id : arg)), 'kept.csv'];
  const refused = await command([...told, '--json'], around);
  expect([refused.code, refused.json.error]).toMatchObject([
    2,
    { code: 'FILE_EXISTS', message: 'kept.csv exists already. Name another file, or add --force to replace it' },
  ]);
  expect(await readFile(file, 'utf8')).toBe('as it was');
  expect((await command([...told, '--force'], around)).code).toBe(0);
  expect(await readFile(file, 'utf8')).not.toBe('as it was');
});
