/** How a load begins: the same file joins its load, and a partly received file is received again. */
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { thisWorker } from '../../../src/base/process-identity.ts';
import { pauseRun } from '../../../src/engine/ledger/run-status.ts';
import { type Run, readRun, runsWhere } from '../../../src/engine/ledger/runs.ts';
import { cancelRun } from '../../../src/operator/run-actions.ts';
import { reportRun } from '../../../src/operator/run-report.ts';
import { beginLoad, beginPlannedLoad, readLoad, releaseLoad } from '../../../src/syncs/orders/begin-load.ts';
import { receiveLoad } from '../../../src/syncs/orders/receive-load.ts';
import { noteReceiving, stageRows } from '../../../src/syncs/orders/staging.ts';
import { fileOf } from '../../csv/files.ts';
import { freshLedger, rowsOf } from '../../engine/ledger/fresh-ledger.ts';
import { aLoad, aSpec, beginNew, end, rowsWith } from '../../engine/ledger/matching/load-worlds.ts';
import { settingsOf } from '../../settings/problems-in.ts';
import { anError } from '../../support/matchers.ts';

const database = await freshLedger();
afterAll(() => database.close());

const aRow = rowsWith([{ order_id: 'A', client_id: '7', amount: '1' }]);

/** Makes the receiver look like one on another machine. */
async function receivedElsewhere(run: Run, silentForS: number): Promise<void> {
  await database.pool.query(
    `update ledger.loads set receiver = $2, received_at = clock_timestamp() - $3 * interval '1 s' where run_id = $1`,
    [run.id, JSON.stringify({ ...thisWorker('other'), host: 'elsewhere' }), silentForS],
  );
}

test('a load waits until it is released, and keeps what its results take', async () => {
  const spec = aSpec();
  const run = await beginNew(database, spec);
  expect([run.status, run.phase, run.type, run.title]).toEqual(['paused', 'load-orders', 'orders', 'orders.csv']);
  expect((await readLoad(database.pool, run.id))?.isReceived).toBe(false);
  await releaseLoad(database.pool, run.id, [17]);
  expect((await readRun(database.pool, run.id)).status).toBe('running');
  const { loadId, fileName, sha256, bytes, header, form } = spec;
  expect(await readLoad(database.pool, run.id)).toEqual({
    ...{ loadId, fileName, sha256, bytes, header, form },
    isReceived: true,
    sample: [17],
  });
});

test('a run that is not a load is not read as one', async () => {
  const run = await beginNew(database, aSpec());
  await database.pool.query('delete from ledger.loads where run_id = $1', [run.id]);
  expect(await readLoad(database.pool, run.id)).toBeUndefined();
  const planned = beginPlannedLoad(database.pool, run, { id: run.id, by: 'ann' });
  await expect(planned).rejects.toMatchObject({ code: 'RUN_IS_NO_LOAD', exitCode: 2 });
});

const joined = [
  { how: 'running', status: 'unfinished', stop: async () => {} },
  {
    how: 'paused',
    status: 'unfinished',
    stop: (run: Run) => pauseRun(database.pool, run.id, { code: 'X', message: 'x' }),
  },
  { how: 'failed', status: 'unfinished', stop: (run: Run) => end(database, run, 'failed') },
  { how: 'done', status: 'finished', stop: (run: Run) => end(database, run, 'done') },
] as const;

test.each(joined)('the same file joins its load that is $how: it is $status', async ({ status, stop }) => {
  const spec = aSpec();
  const run = await aLoad(database, aRow, spec);
  await stop(run);
  const again = await beginLoad(database.pool, spec);
  expect([again.status, again.run.id]).toEqual([status, run.id]);
  expect(await rowsOf(database, run)).toHaveLength(1);
});

test('a load that is cancelled while its file is read keeps its run, without rows, and the file can be loaded again', async () => {
  const { pool } = database;
  const file = await fileOf(
    `order_id,client_id,amount\n${Array.from({ length: 30_000 }, (_, n) => `A-${n},1,1`).join('\n')}`,
  );
  let cancelled: Promise<void> | undefined;
  const cancelAll = async () => {
    const reading = (await runsWhere(pool, `status = 'paused'`)).at(-1);
    await cancelRun(pool, reading as Run, 'ben@office'); // safe: it is being read
  };
  const { account, scope, options } = aSpec();
  const load = {
    account: { name: account, scope, service: 'http://127.0.0.1:9' },
    source: file,
    choices: {},
    options,
    dryRun: false,
    spoolDir: path.dirname(file),
    signal: new AbortController().signal,
  };
  const { begun, rows } = await receiveLoad(pool, {
    ...load,
    onProgress: () => {
      cancelled ??= cancelAll();
    },
  });
  await cancelled;
  const run = await readRun(pool, begun.run.id);
  const { counts, durationMs } = await reportRun(pool, run, settingsOf('accounts: { a: {} }'));
  expect([begun.status, rows, run.status, counts.in]).toEqual(['new', 0, 'cancelled', 0]);
  expect(await rowsOf(database, run)).toEqual([]);
  expect(run.error).toContain('before the whole file was read: nothing was sent');
  expect(durationMs).toBeGreaterThan(0);
  expect((await receiveLoad(pool, load)).rows).toBe(30_000);
});

test('lines that are staged at the moment at which their load is cancelled are not added to it', async () => {
  const { pool } = database;
  const run = await beginNew(database);
  const person = await pool.connect();
  await person.query('begin');
  await cancelRun(person, run, 'ann@office'); // joins the transaction
  const staging = stageRows(pool, run, aRow, 'LS-test').catch((error: unknown) => error);
  const isWaiting = async () =>
    (await pool.query(`select from pg_stat_activity where wait_event_type = 'Lock' and query like '%loads%'`)).rowCount;
  await expect.poll(isWaiting).toBe(1);
  await person.query('commit');
  person.release();
  expect(await staging).toMatchObject({ code: 'LOAD_TAKEN_OVER' });
  expect(await rowsOf(database, run)).toEqual([]);
});

test('corrected lines whose load is cancelled while they are read can be loaded again at once', async () => {
  const run = await aLoad(database, aRow);
  const correction = () => aSpec({ corrects: run.id, form: { delimiter: ',', corrects: run.id } });
  const first = await beginNew(database, correction());
  await expect(beginLoad(database.pool, correction())).rejects.toMatchObject({ code: 'LINES_CORRECTED' });
  await cancelRun(database.pool, first, 'ann@office');
  expect((await beginLoad(database.pool, correction())).status).toBe('new');
});

test('a file whose load was cancelled is loaded again, and so is the same file for another account', async () => {
  const spec = aSpec();
  const run = await aLoad(database, aRow, spec);
  await end(database, run, 'cancelled');
  const again = await beginLoad(database.pool, spec);
  expect([again.status, again.run.id === run.id]).toEqual(['new', false]);
  expect((await readRun(database.pool, run.id)).status).toBe('cancelled');
  expect((await beginLoad(database.pool, aSpec({ account: 'other' }))).status).toBe('new');
});

test('dry runs block no other run, and no run joins them', async () => {
  const spec = aSpec();
  const dry = { ...spec, dryRun: true };
  const begun = [await beginLoad(database.pool, dry), await beginLoad(database.pool, dry)];
  const real = await beginLoad(database.pool, spec);
  await releaseLoad(database.pool, real.run.id, []);
  begun.push(real, await beginLoad(database.pool, dry));
  expect(begun.map(({ status }) => status)).toEqual(['new', 'new', 'new', 'new']);
  expect(new Set(begun.map(({ run }) => run.id)).size).toBe(4);
});

test('a file that another process is receiving is not received twice', async () => {
  const spec = aSpec();
  const run = await beginNew(database, spec);
  await receivedElsewhere(run, 30);
  await expect(beginLoad(database.pool, spec)).rejects.toMatchObject(anError('LOAD_BEING_RECEIVED', run.id, 3));
  await database.pool.query(`update ledger.runs set created_at = created_at - interval '7 s' where id = $1`, [run.id]);
  const report = await reportRun(
    database.pool,
    await readRun(database.pool, run.id),
    settingsOf('accounts: { a: {} }'),
  );
  expect([report.state, Math.floor(report.durationMs / 1_000)]).toEqual(['receiving', 7]);
});

test('of several processes that begin one file at once, one receives it', async () => {
  const spec = aSpec();
  const begun = await Promise.allSettled(Array.from({ length: 8 }, () => beginLoad(database.pool, spec)));
  const received = begun.filter(({ status }) => status === 'fulfilled');
  const refused = begun.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
  expect(received).toHaveLength(1);
  expect(new Set(refused)).toEqual(new Set(['LOAD_BEING_RECEIVED']));
});

const abandoned: readonly { readonly why: string; readonly leave: (run: Run) => Promise<unknown> }[] = [
  { why: 'a receiver that is silent for a minute', leave: (run) => receivedElsewhere(run, 61) },
  {
    why: 'a receiver whose process is no more',
    leave: (run) =>
      database.pool.query(`update ledger.loads set receiver = receiver || '{"started":"long ago"}' where run_id = $1`, [
        run.id,
      ]),
  },
  { why: 'a receiver that has failed', leave: (run) => end(database, run, 'failed') },
];

test.each(abandoned)('what $why has left unfinished is dropped and begun again', async ({ leave }) => {
  const spec = aSpec();
  const half = await beginNew(database, spec);
  await stageRows(database.pool, half, aRow, 'LS-test');
  await leave(half);
  const again = await beginLoad(database.pool, spec);
  expect(again.status).toBe('new');
  expect([await readLoad(database.pool, half.id), await rowsOf(database, half)]).toEqual([undefined, []]);
  await expect(stageRows(database.pool, half, aRow, 'LS-test')).rejects.toMatchObject({ code: 'LOAD_TAKEN_OVER' });
  await expect(releaseLoad(database.pool, half.id, [])).rejects.toMatchObject({ code: 'LOAD_TAKEN_OVER' });
  await releaseLoad(database.pool, again.run.id, []);
});

test('a receiver that says how far it is keeps its load, however long it takes', async () => {
  const spec = aSpec();
  const run = await beginNew(database, spec);
  await receivedElsewhere(run, 61);
  await noteReceiving(database.pool, run.id, 1);
  await expect(beginLoad(database.pool, spec)).rejects.toMatchObject({ code: 'LOAD_BEING_RECEIVED' });
});

const closed: readonly { readonly how: string; readonly close: (run: Run) => Promise<unknown> }[] = [
  { how: 'released', close: (run) => releaseLoad(database.pool, run.id, []) },
  { how: 'cancelled', close: (run) => end(database, run, 'cancelled') },
];

test.each(closed)('a load that was $how takes no more rows, and is not released again', async ({ close }) => {
  const run = await beginNew(database);
  await close(run);
  await expect(stageRows(database.pool, run, aRow, 'LS-test')).rejects.toMatchObject({
    code: 'LOAD_TAKEN_OVER',
    exitCode: 3,
  });
  expect(await rowsOf(database, run)).toEqual([]);
  const { status } = await readRun(database.pool, run.id);
  if (status === 'running') {
    await expect(releaseLoad(database.pool, run.id, [])).rejects.toMatchObject({ code: 'LOAD_TAKEN_OVER' });
  }
  expect((await readRun(database.pool, run.id)).status).toBe(status);
});
