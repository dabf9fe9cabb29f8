import type { EventEmitter } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { freshLedger } from '../engine/ledger/fresh-ledger.ts';
import { command, databaseUrl, interruptedAt, scratchFolders } from './command.ts';

const SETTINGS = `
accounts: { demo: {}, other: {} }
targets:
  issues: { type: jira, url: https://acme.atlassian.net, email: bot@example.com, token: { env: TOKEN }, project: ABC }
  hook: { type: webhook, url: https://hook.example/, secret: { env: TOKEN } }
syncs:
  mirror: { job: tasks, account: demo, targets: [issues] }
`;
const TO = ['--target', 'issues', '--account', 'demo'];

const folder = scratchFolders();
const database = await freshLedger();
beforeEach(async () => {
  await database.pool.query('truncate ledger.links');
});
afterAll(() => database.close());

async function links(...args: readonly string[]) {
  return inFolder(await folder(), args);
}

async function inFolder(cwd: string, args: readonly string[], signals?: EventEmitter) {
  await writeFile(path.join(cwd, 'settings.yaml'), SETTINGS);
  const env = { DATABASE_URL: databaseUrl(database.connection) };
  return command(['links', ...args, '--config', 'settings.yaml'], { cwd, env, ...(signals && { signals }) });
}

/** Imports a file with this content. */
async function imported(content: string | Uint8Array, ...args: readonly string[]) {
  const cwd = await folder();
  await writeFile(path.join(cwd, 'links.csv'), content);
  return inFolder(cwd, ['import', 'links.csv', ...TO, ...args]);
}

const stored = async () =>
  (await links('--json')).json.links.map(({ task, itemId }: Record<string, string>) => `${task} ${itemId}`).sort();

test('links ids and addresses, and the next import finds them', async () => {
  const csv = 'task_id,item_id\n12,ABC-1\nsubtask:3,https://acme.atlassian.net/browse/XY-2\ncard:7,JIRA: XY-3\n';
  const { code, stdout } = await imported(csv);
  expect(stdout).toContain('3 rows: 3 new, 0 already linked, 0 replaced, 0 refused.');
  expect(stdout).toContain('lockstep deliveries replay --target issues --verdict skipped');
  expect(code).toBe(0);
  expect(await stored()).toEqual(['card:7 XY-3', 'subtask:3 XY-2', 'task:12 ABC-1']);
  expect((await imported(csv, '--json')).json).toMatchObject({ rows: 3, counts: { new: 0, same: 3, refused: 0 } });
});

test('reports bad rows by line, links the good ones, and ends with 1', async () => {
  const csv =
    'Aufgabe;Vorgang;Titel\n12;ABC-1;x\n13;none;x\n;ABC-2;x\n14;ABC-3\norders:1;ABC-4;x\n15;;x\n1.2E+10;ABC-5;x\n';
  const { code, json } = await imported(csv, '--json');
  expect(code).toBe(1);
  expect(json).toMatchObject({ rows: 7, counts: { new: 1, same: 0, replaced: 0, refused: 6 } });
  expect(json.refused).toMatchObject([
    {
      line: 3,
      code: 'ITEM_INVALID',
      message: expect.stringMatching(/^Line 3: "none" is not an item .*such as ABC-12/),
    },
    { line: 4, code: 'TASK_EMPTY' },
    { line: 5, code: 'RAGGED' },
    { line: 6, code: 'TASK_INVALID' },
    { line: 7, code: 'ITEM_EMPTY' },
    { line: 8, code: 'TASK_CUT_SHORT' },
  ]);
  expect(await stored()).toEqual(['task:12 ABC-1']);
});

test('replaces a different link only with --replace', async () => {
  await imported('task,issue\n1,ABC-1\n2,ABC-2\n');
  const before = await imported('task,issue\n1,ABC-2\n');
  expect(before.code).toBe(1);
  expect(before.stdout).toMatch(/TASK_LINKED {2}Line 2: task:1 and ABC-2: .* already linked with ABC-1\. .*--replace/);
  const after = await imported('task,issue\n1,ABC-2\n', '--replace');
  expect(after.stdout).toContain('1 task outside the file lost the item to a task in the file.');
  expect(await stored()).toEqual(['task:1 ABC-2']);
});

test('a dry run prints the plan and writes nothing', async () => {
  const { stdout } = await imported('task,issue\n1,ABC-1\n', '--dry-run');
  expect(stdout).toContain('Dry run: nothing was written. 1 row: 1 new');
  expect(await stored()).toEqual([]);
});

test('an import that is stopped by Ctrl-C after the file was read writes nothing, and says so', async () => {
  const cwd = await folder();
  await writeFile(path.join(cwd, 'links.csv'), 'task_id,item_id\n12,ABC-1\n');
  const { code, stdout, stderr } = await interruptedAt(database, 'ledger.links', (signals) =>
    inFolder(cwd, ['import', 'links.csv', ...TO], signals),
  );
  expect([code, stdout]).toEqual([3, '']);
  expect(stderr).toMatch(/^Stopping\. .*\n.*The import was stopped\. Nothing was written\.\n$/);
  expect(await stored()).toEqual([]);
});

test('finds columns by header or number in any supported file format', async () => {
  const utf16 = Buffer.from('\ufeffReference;Titre;Clé\n12;é;ABC-1\n', 'utf16le');
  const { code } = await imported(utf16, '--map', 'task_id=Reference', '--map', 'item_id=3');
  expect(code).toBe(0);
  const packed = gzipSync('13\tABC-2\n14\tABC-3\n');
  expect((await imported(packed, '--no-header', '--map', 'task_id=1', '--map', 'item_id=2')).code).toBe(0);
  expect(await stored()).toEqual(['task:12 ABC-1', 'task:13 ABC-2', 'task:14 ABC-3']);
});

test.each([
  ['no header', '12,ABC-1\n', [], /no header\. Add a first line with task_id and item_id/],
  ['unknown columns', 'a,b\n1,ABC-1\n', [], /none of the columns "a", "b" looks like it/],
  ['a column that is not there', 'task,issue\n1,ABC-1\n', ['--map', 'item_id=Ticket'], /the file has no such column/],
  ['no such field', 'task,issue\n1,ABC-1\n', ['--map', 'item=issue'], /No field "item"; did you mean "item_id"\?/],
  ['two columns of one name', 'task,task\n1,ABC-1\n', [], /both called "task"/],
  ['a header alone', 'task,issue\n', [], /has a header and no rows/],
  ['nothing', '', [], /is empty/],
  ['no such target', 'task,issue\n1,ABC-1\n', ['--target', 'isues'], /No target named "isues".*"issues"/],
  ['no such account', 'task,issue\n1,ABC-1\n', ['--account', 'dmeo'], /No account named "dmeo"/],
  [
    'a target without items',
    'task,issue\n1,x\n',
    ['--target', 'hook'],
    /type webhook, which has no items .* issues has/,
  ],
])('refuses %s with a remedy and writes nothing', async (_what, csv, args, message) => {
  const { code, stderr } = await imported(csv, ...args);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
  expect(await stored()).toEqual([]);
});

test('reports a missing file and an unknown target', async () => {
  expect((await links('import', 'none.csv', ...TO)).stderr).toMatch(/There is no file .*none\.csv/);
  expect((await links('import', 'none.csv', '--target', 'issues')).stderr).toContain(
    'settings.yaml has several accounts, demo or other',
  );
});

test('reports an account whose tasks have no target yet', async () => {
  const { stdout } = await imported('task,issue\n1,ABC-1\n', '--account', 'other');
  expect(stdout).toContain('no sync of the settings mirrors tasks of other to issues');
});

test('lists links with their number, and removes one', async () => {
  await imported('task,issue\n1,ABC-1\n2,ABC-2\n');
  const { stdout } = await links('--limit', '1', '--target', 'issues', '--account', 'demo');
  expect(stdout).toMatch(/^TARGET .* BY\nissues +demo +task:1 +ABC-1 +\S+ \S+ UTC +hand\nThese are the newest of 2: /);
  expect((await links('remove', ...TO, '--task', '1', '--json')).json).toMatchObject({
    task: 'task:1',
    itemId: 'ABC-1',
  });
  expect(await stored()).toEqual(['task:2 ABC-2']);
  expect((await links('--account', 'other')).stdout).toBe('No linked tasks found.\n');
});

test.each([
  [['remove', ...TO], /Required option '--task <id>'/],
  [['remove', ...TO, '--task', 'order:1'], /"order:1" is not a task: use 12, task:12/],
  [['remove', ...TO, '--task', '99'], /task:99 of demo is not linked with an item of issues\. List all/],
  [['--target', 'isues'], /No target named "isues"/],
  [['delete'], /Unknown command "delete" after links/],
])('links %j is wrong use', async (args, message) => {
  const { code, stderr } = await links(...args);
  expect(stderr).toMatch(message);
  expect(code).toBe(2);
});

test('keeps the links of a target that was removed from the settings until they are removed', async () => {
  await database.pool.query(
    `insert into ledger.links (scope, kind, source_id, record_id, run_id) values ('gone', 'item:old', 'task:1', 'A', '')`,
  );
  expect((await links('--target', 'old', '--account', 'gone', '--json')).json.total).toBe(1);
  expect((await links('remove', '--target', 'old', '--account', 'gone', '--task', '1')).code).toBe(0);
});

test('imports a hundred thousand rows with little memory, and shows only the first refused rows', async () => {
  const rows = Array.from({ length: 100_000 }, (_, index) => `${index},${index % 100 === 0 ? 'x' : `ABC-${index}`}`);
  const heapBefore = process.memoryUsage().heapUsed;
  const { code, json } = await imported(`task,issue\n${rows.join('\n')}\n`, '--json');
  expect(code).toBe(1);
  expect(json.counts).toEqual({ new: 99_000, same: 0, replaced: 0, refused: 1_000 });
  expect(json.refused).toHaveLength(100);
  expect(process.memoryUsage().heapUsed - heapBefore).toBeLessThan(150 * 1024 * 1024);
});
