import { expect, test } from 'vitest';
import { localTime, quoteIdentifier, taskTable } from '../../../src/mirror/targets/postgres/postgres-table.ts';
import { SEEN_AT, secretRef } from '../../support/item-vendor.ts';
import { anOutcome } from '../../support/matchers.ts';
import { deliver, NAME, openWarehouse, TABLE } from './warehouse.ts';

const warehouse = openWarehouse();

test('writes a task as a row with all its data', async () => {
  const task = { isCompleted: true, startDate: '2026-03-01T09:30:00', endDate: '2026-03-02T17:00:00', parentId: '7' };
  const outcome = await deliver(warehouse.open(), { kind: 'subtask', ...task });
  expect(outcome).toEqual({ status: 'delivered', detail: `${TABLE}: state 2` });
  const [row] = await warehouse.rows();
  expect(row).toEqual({
    account: 'demo',
    kind: 'subtask',
    task_id: '12',
    sequence: 2,
    status: 'completed',
    title: 'Call the printer',
    description: expect.stringContaining('invoice'),
    is_completed: true,
    is_gone: false,
    start_date: '2026-03-01 09:30:00',
    end_date: '2026-03-02 17:00:00',
    parent_id: '7',
    seen_at: SEEN_AT,
    delivered_at: expect.any(Date),
  });
});

test('a newer state replaces the row of this task and no other row', async () => {
  const target = warehouse.open();
  await deliver(target);
  await deliver(target, { id: '13' });
  await deliver(target, { kind: 'card' });
  await deliver(target, {}, { account: 'other' });
  await deliver(target, { isCompleted: true, isGone: true, title: 'Call again' }, { sequence: 3, event: 'gone' });
  const found = (await warehouse.rows()).map(({ account, kind, task_id, sequence, is_gone }) => [
    account,
    kind,
    task_id,
    sequence,
    is_gone,
  ]);
  expect(found).toEqual([
    ['demo', 'card', '12', 2, false],
    ['demo', 'task', '12', 3, true],
    ['demo', 'task', '13', 2, false],
    ['other', 'task', '12', 2, false],
  ]);
});

test.each([2, 5])('a state with sequence %i after 5 changes nothing', async (sequence) => {
  const target = warehouse.open();
  await deliver(target, { isCompleted: true }, { sequence: 5 });
  const [before] = await warehouse.rows();
  const outcome = await deliver(target, { isCompleted: false }, { sequence });
  expect(outcome).toMatchObject({
    status: 'already',
    detail: expect.stringContaining(`already has state 5, and this is state ${sequence}`),
  });
  expect(await warehouse.rows()).toEqual([before]);
});

test('of states delivered at once, the newest stays', async () => {
  const target = warehouse.open({ concurrency: 8 });
  const sequences = [4, 9, 1, 7, 2, 8, 3, 6, 5];
  await Promise.all(sequences.map((sequence) => deliver(target, { title: `state ${sequence}` }, { sequence })));
  expect(await warehouse.rows()).toMatchObject([{ sequence: 9, title: 'state 9' }]);
});

test('the table is created by many deliveries, and by two processes, at the same time', async () => {
  const targets = [warehouse.open(), warehouse.open()];
  const ids = Array.from({ length: 20 }, (_, id) => String(id));
  const outcomes = await Promise.all(
    targets.flatMap((target, i) => ids.map((id) => deliver(target, { id: `${i}-${id}` }))),
  );
  expect(outcomes.filter(({ status }) => status !== 'delivered')).toEqual([]);
  expect(await warehouse.rows()).toHaveLength(40);
});

test('without createTable a missing table is reported with a statement that creates it and works', async () => {
  const target = warehouse.open({ createTable: false });
  const outcome = await deliver(target);
  expect(outcome).toMatchObject(anOutcome('refused', 'TABLE_MISSING', 'createTable: true'));
  expect(outcome.detail?.length).toBeLessThanOrEqual(500); // longer ones are cut off in the ledger
  await warehouse.database.pool.query(outcome.detail?.split('run: ')[1] ?? '');
  expect(await deliver(target)).toMatchObject({ status: 'delivered' });
});

test('does not create a schema, and tells a person to create it', async () => {
  const outcome = await deliver(warehouse.open({ table: 'Ops data.tasks' }));
  expect(outcome).toMatchObject(anOutcome('refused', 'TABLE_MISSING', 'create schema "Ops data"'));
});

test('uses the name of the table exactly: quotes, case and spaces', async () => {
  await warehouse.database.pool.query('create schema "Ops ""x"""');
  await deliver(warehouse.open({ table: 'Ops "x".T"; drop table t; --' }));
  expect(await warehouse.rows('"Ops ""x"""."T""; drop table t; --"')).toHaveLength(1);
});

test.each([{ history: false }, { history: true }])(
  'works with an existing table, %j, after the SQL in its dead letters has been run',
  async ({ history }) => {
    await warehouse.database.pool.query(
      `create table ${TABLE} (account text not null, task_id text, team text default 'ops')`,
    );
    const target = warehouse.open({ history, createTable: false });
    for (const reason of ['COLUMN_MISSING', 'KEY_MISSING']) {
      const outcome = await deliver(target);
      expect(outcome).toMatchObject({ status: 'refused', reason });
      expect(outcome.detail?.length).toBeLessThanOrEqual(500); // longer ones are cut off in the ledger
      await warehouse.database.pool.query(outcome.detail?.split('run: ')[1] ?? '');
    }
    expect(await deliver(target)).toMatchObject({ status: 'delivered' });
    expect(await warehouse.rows()).toMatchObject([{ task_id: '12', team: 'ops' }]);
  },
);

test('with a history, each version is one row that stays, whatever arrives again or late', async () => {
  const target = warehouse.open({ history: true });
  await deliver(target, { title: 'one' }, { sequence: 1, event: 'created' });
  await deliver(target, { title: 'three', isCompleted: true }, { sequence: 3 });
  await deliver(target, { title: 'two' }, { sequence: 2, event: 'changed' });
  const again = await deliver(target, { title: 'other' }, { sequence: 2, event: 'changed' });
  expect(again).toEqual({ status: 'already', detail: `${TABLE} already has state 2, and this is state 2` });
  const found = await warehouse.database.pool.query(
    `select sequence, event, title, is_completed from ${TABLE} order by sequence`,
  );
  expect(found.rows).toEqual([
    { sequence: 1, event: 'created', title: 'one', is_completed: false },
    { sequence: 2, event: 'changed', title: 'two', is_completed: false },
    { sequence: 3, event: 'completed', title: 'three', is_completed: true },
  ]);
});

test('a history is not written into a table of states, which has one row per task', async () => {
  await deliver(warehouse.open());
  await warehouse.database.pool.query(`alter table ${TABLE} add column event text`);
  await warehouse.database.pool.query(`create unique index on ${TABLE} (account, kind, task_id, sequence)`);
  expect(await deliver(warehouse.open({ history: true }), {}, { sequence: 3 })).toMatchObject(
    anOutcome('refused', 'KEY_MISSING', 'name another table'),
  );
});

test.each([false, true])(
  'a row that a trigger of the table discards is a dead letter (history: %s)',
  async (history) => {
    await warehouse.database.pool.query(
      `${taskTable(NAME, { history }).create};
     create function discard() returns trigger language plpgsql as 'begin return null; end';
     create trigger discard before insert on ${TABLE} for each row execute function discard()`,
    );
    const outcome = await deliver(warehouse.open({ history }));
    await warehouse.database.pool.query('drop function discard cascade');
    const detail = expect.stringContaining('a trigger');
    expect(outcome).toMatchObject({ status: 'refused', reason: 'REJECTED', detail });
    expect(await warehouse.rows()).toEqual([]);
  },
);

test('a table’s check that the task violates makes a dead letter with the reason', async () => {
  await warehouse.database.pool.query(
    `${taskTable(NAME).create}; alter table ${TABLE} add constraint short check (length(title) < 9)`,
  );
  expect(await deliver(warehouse.open())).toMatchObject(anOutcome('refused', 'REJECTED', '"short"'));
  expect(await deliver(warehouse.open(), { title: 'Call' })).toMatchObject({ status: 'delivered' });
});

test('a target that was never used can be closed, twice', async () => {
  const target = warehouse.open({ url: secretRef('postgres://me@127.0.0.1:1/db') });
  await target.close();
  await target.close();
});

test('replaces characters that Postgres cannot keep, and reports an invalid date', async () => {
  const outcome = await deliver(warehouse.open(), {
    title: 'a\0b\ud800',
    startDate: 'next monday',
    endDate: '2026-02-30T10:00:00',
  });
  expect(outcome).toMatchObject({
    status: 'delivered',
    detail: expect.stringContaining('"next monday" and "2026-02-30T10:00:00"'),
  });
  expect(await warehouse.rows()).toMatchObject([{ title: 'a\ufffdb\ufffd', start_date: null, end_date: null }]);
});

test.each([
  ['2026-03-01T09:30:00', '2026-03-01 09:30:00'],
  ['2026-03-01 09:30', '2026-03-01 09:30'],
  ['2026-03-01', '2026-03-01 00:00:00'],
  ['2026-03-01T09:30:00.125', '2026-03-01 09:30:00.125'],
  ['2026-03-01T00:30:00+02:00', '2026-02-28 22:30:00.000'],
  ['2026-03-01T09:30:00Z', '2026-03-01 09:30:00.000'],
  ['2026-02-29T09:30:00', null],
  ['2026-13-01T09:30:00', null],
  ['2026-03-01T25:30:00', null],
  ['0000-01-01T00:00:00', null],
  ['01.03.2026', null],
  ['', null],
  [undefined, null],
])('the date %j is %j in the table', (text, expected) => {
  expect(localTime(text)).toBe(expected);
});

test.each([
  ['plain', '"plain"'],
  ['Name with "quotes"', '"Name with ""quotes"""'],
  ['"', '""""'],
  ["'; drop table x; --", `"'; drop table x; --"`],
])('the identifier %s is quoted as %s', (name, quoted) => {
  expect(quoteIdentifier(name)).toBe(quoted);
});
