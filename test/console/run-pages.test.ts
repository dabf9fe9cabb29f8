import { expect, test } from 'vitest';
import { thisWorker } from '../../src/base/process-identity.ts';
import { noteAttended } from '../../src/engine/ledger/attended-runs.ts';
import { keepAction } from '../../src/engine/ledger/console/console-actions.ts';
import { addRows } from '../../src/engine/ledger/inputs.ts';
import { endRun } from '../../src/engine/ledger/run-status.ts';
import { addFailure, addNote, markFailing, recordLeftOut } from '../../src/engine/ledger/runs.ts';
import { liftSuspension, suspendAccount } from '../../src/engine/ledger/scopes/suspensions.ts';
import { beginLoad } from '../../src/syncs/orders/begin-load.ts';
import { aRun, WORKER } from '../engine/ledger/fresh-ledger.ts';
import { aSpec } from '../engine/ledger/matching/load-worlds.ts';
import { openConsole } from './open-console.ts';
import { openOutboxConsole, TEXT } from './outbox-console.ts';
import { pageAt, postForm } from './requests.ts';

const { database, web, deliver, call, htmlAt } = await openOutboxConsole();

test('an ended run that mirrors tasks leads to the deliveries that workers retry, with what was known when it ended', async () => {
  const { pool } = database;
  const { id } = await aRun(database, { type: 'tasks' });
  const facts = { target: 'hook', said: 'at "2026-05-04T03:02:01Z"', attempts: 1, due: '2026-11-25T20:45:39Z' };
  await pool.query(`insert into ledger.inputs (run_id, n, source_id) values ($1, 1, 'task:1')`, [id]);
  await pool.query(
    `insert into ledger.verdicts (run_id, n, verdict, reason, facts) values ($1, 1, 'review', 'RETRYING', $2)`,
    [id, facts],
  );
  await endRun(pool, id, 'done');
  const html = await htmlAt(`/runs/${id}`);
  expect(html).toMatch(
    /attempts when the run ended: 1; the next one was planned for <time datetime="2026-11-25T20:45:39.000Z"/,
  );
  expect(html).not.toContain('datetime="2026-05-04');
  expect(await htmlAt(`/runs/${id}/rows`)).toContain('planned for <time datetime="2026-11-25T20:45:39.000Z"');
  expect(html).toContain('href="/deliveries?verdict=waiting"');
  const days = await (await fetch(`${web.url}/deliveries?from=2026-11-20&to=2026-11-21`)).text();
  expect(days).toContain('lockstep deliveries --since 2026-11-20 --until 2026-11-22');
  expect(html).toContain('(<a href="/deliveries?target=hook">or here</a>)'); // beside the command of the remedy
  expect(html).not.toMatch(/\/confirm\?action=retry/);
});

test('the page of a run does not repeat under its notes what its notice says', async () => {
  const { pool } = database;
  const run = await aRun(database);
  await addFailure(pool, run.id, 'the key was refused');
  await addFailure(pool, run.id, 'no answer');
  await suspendAccount(pool, run.scope, 'the key was refused');
  const html = await htmlAt(`/runs/${run.id}`);
  expect(html.match(/the key was refused/gi)).toHaveLength(1);
  expect(html).toContain('An attempt failed: no answer.');
  await liftSuspension(pool, run.scope);
});

test('a sentence from the ledger has commands that can be pasted, and no options of the command line', async () => {
  const { pool } = database;
  const { id } = await aRun(database);
  await addNote(pool, id, 'fix it, then run: `lockstep deliveries enable hook`');
  await addNote(pool, id, 'choose it for order_id (`--map order_id=Column`)');
  const own = await openConsole({ database, text: TEXT, hint: (command) => `lockstep ${command} --config here.yaml` });
  const html = await pageAt(own, `/runs/${id}`);
  await own.close();
  expect(html).toContain('<code>lockstep deliveries enable hook --config here.yaml</code> (<a href="/targets/hook">');
  expect(html).toContain('Choose it for order_id.');
});

test('a file of a folder that waits for the approval of its load leads to that load, not to the review', async () => {
  const { pool } = database;
  const { id } = await aRun(database, { type: 'orders', sync: 'files' });
  await pool.query(`insert into ledger.inputs (run_id, n, source_id) values ($1, 1, 'orders.csv')`, [id]);
  await pool.query(
    `insert into ledger.verdicts (run_id, n, verdict, reason, facts) values ($1, 1, 'review', 'LOAD_AWAITS_APPROVAL', $2)`,
    [id, { load: 'run-1', said: 'it writes 60 orders' }],
  );
  await endRun(pool, id, 'done');
  const home = await htmlAt('/');
  expect(home).toContain(`href="/runs/${id}"`);
  expect(home).not.toContain('/review?sync=files');
  expect(await htmlAt(`/runs/${id}`)).toContain('<code>lockstep runs resume run-1</code> (<a href="/runs/run-1">');
});

test('the page of a run that watches a folder counts files, and shows neither phases nor calls of its loads', async () => {
  const { id } = await aRun(database, { type: 'orders', sync: 'files', options: { folder: '/in' } });
  await endRun(database.pool, id, 'done');
  const page = await htmlAt(`/runs/${id}`);
  expect(page).toContain('Watching the folder');
  expect(page).toContain('0 files');
  expect(page).not.toMatch(/Reading customers and orders|rows read|of the budget/);
});

test('sending a load after all says that it asks again, not that rows failed', async () => {
  const { id } = await aRun(database, { type: 'orders', sync: 'orders' });
  await endRun(database.pool, id, 'cancelled', { code: 'NOT_APPROVED', message: 'Not approved.' });
  const page = await htmlAt(`/confirm?action=retry&run=${id}`);
  expect(page).toContain('<h1>Send it after all?</h1>');
  expect(page).toContain('planned again, and asks again before anything is sent');
  expect(page).not.toContain('rows that failed');
});

test('a load that a person has cancelled offers to send its rest', async () => {
  const { id } = await aRun(database, { type: 'orders', sync: 'orders' });
  await addRows(database.pool, id, [{ n: 2, label: 'A' }]);
  await endRun(database.pool, id, 'cancelled', { code: 'CANCELLED', message: 'Cancelled.' });
  const page = await htmlAt(`/runs/${id}`);
  expect(page).toContain('Send the rest');
  expect(page).not.toContain('Retry what failed');
});

test('starts within a minute are shown with their seconds', async () => {
  const { pool } = database;
  const text = TEXT.replace('type: tasks,', 'type: tasks, schedule: { every: 5s },');
  const own = await openConsole({ database, text });
  const html = await pageAt(own, '/syncs');
  await own.close();
  expect(html).toMatch(/Next starts.*<time [^>]*data-exact/s);
  await pool.query('truncate ledger.schedules');
});

test('the filter of runs names the states that the list shows, and says that a name has to be whole', async () => {
  const html = await htmlAt('/runs');
  expect(html).toMatch(/placeholder="its whole name".*>paused or awaiting approval<.*>cancelled or not approved</s);
});

test('a run that settles rows says what it waits for, and how long', async () => {
  const { id } = await aRun(database, { account: 'acme' });
  await database.pool.query(`update ledger.runs set phase = 'settle-customers' where id = $1`, [id]);
  await addRows(database.pool, id, [{ n: 1, sourceId: '1', label: 'Ann' }]);
  await noteAttended(database.pool, [id], WORKER);
  expect(await htmlAt(`/runs/${id}`)).toContain(
    '1 to settle: waiting until the service shows what it applied, at most 2 min after the last call',
  );
  await endRun(database.pool, id, 'done');
});

test('activity leads to the run, or the row, that an action was about', async () => {
  const run = 'run-261129-2059-6bb397';
  for (const about of [run, `${run}/3`, 'run-nightly'])
    await keepAction(database.pool, { who: 'ann', via: 'page', action: 'decide-use', about, refused: undefined });
  const links = [...(await htmlAt('/activity')).matchAll(/<td><a href="([^"]+)">/g)].map(([, href]) => href);
  expect(links).toEqual([`/runs/${run}/rows/3`, `/runs/${run}`]);
});

test('a last page that is full leads to no empty one', async () => {
  const act = (times: number) =>
    database.pool.query(
      `insert into ledger.console_actions (who, via, action, about)
       select 'ann', 'page', 'run', 'nightly' from generate_series(1, $1::int)`,
      [times],
    );
  await act(100);
  expect(await htmlAt('/activity')).not.toContain('rel="next"');
  await act(1);
  expect(await htmlAt('/activity')).toContain('rel="next"');
});

test('a second person who resumes a run reads that it is running already, and this is kept', async () => {
  const { id } = await aRun(database);
  await endRun(database.pool, id, 'failed', { code: 'SERVICE_AWAY', message: 'away' });
  for (const refused of [undefined, 'RUNNING_ALREADY'])
    expect((await call(`/runs/${id}/resume`, {})).json.refused).toBe(refused);
  expect(await htmlAt('/activity')).toContain('RUNNING_ALREADY');
});

test('a resumed run that has ended since is not said to continue', async () => {
  const { id } = await aRun(database);
  await endRun(database.pool, id, 'failed', { code: 'SERVICE_AWAY', message: 'away' });
  expect(await htmlAt(`/runs/${id}`)).toMatch(/>Resume<(?!.*Retry)/s);
  expect((await call(`/runs/${id}/resume`, {})).json.said).toBe(`Run ${id} was resumed.`);
});

test('a load whose file is being read can only be stopped; if that process has ended, the file is loaded again', async () => {
  const { pool } = database;
  const { run } = await beginLoad(pool, aSpec());
  expect(await htmlAt(`/runs/${run.id}`)).toMatch(/reading the file(?!.*>Resume<).*Cancel the run/s);
  const gone = JSON.stringify({ ...thisWorker('gone'), pid: 2 ** 22 + 1 });
  await pool.query('update ledger.loads set receiver = $1 where run_id = $2', [gone, run.id]);
  await expect.poll(() => htmlAt(`/runs/${run.id}`)).toMatch(/Cancel the run.*Load the file again/s);
  expect(await htmlAt(`/runs/${run.id}`)).not.toContain('>Resume<');
});

test('a run says until when it is audited, in the zone of the viewer', async () => {
  const { id } = await aRun(database, { account: 'acme' });
  await database.pool.query(
    `insert into ledger.audit_debts (run_id, n, source_id, scope, resource, settle_ms)
     values ($1, 0, '0', 'acme', 'customers', 3600000)`,
    [id],
  );
  await endRun(database.pool, id, 'done');
  expect(await htmlAt(`/runs/${id}`)).toMatch(/auditing until <time datetime/);
});

test('a run that mirrors tasks names the target that does not take its deliveries, and no other', async () => {
  const mirror = { sync: 'mirror', type: 'tasks', account: 'acme', resource: 'mirror', phase: 'deliver-status' };
  const { id } = await aRun(database, mirror);
  expect(await htmlAt(`/runs/${id}`)).not.toContain('It waits for target');
  await deliver([null]);
  const html = await htmlAt(`/runs/${id}`);
  expect(html).toMatch(/It waits for target .*hook<\/a>:.*1 delivery failed and will be retried/);
  expect(html).not.toContain('/targets/spare');
});

test('a run says that it waits because its account is suspended', async () => {
  const { id } = await aRun(database, { sync: 'nightly', account: 'acme', phase: 'scan-contacts' });
  await noteAttended(database.pool, [id], thisWorker('test'));
  expect(await htmlAt(`/runs/${id}`)).not.toContain('It waits until account');
  await suspendAccount(database.pool, 'acme', 'the key is refused: `lockstep accounts resume acme`');
  for (const path of [`/runs/${id}`, '/accounts/acme', '/'])
    expect(await htmlAt(path)).toContain('<code>lockstep accounts resume acme</code>');
  expect(await htmlAt(`/runs/${id}`)).toMatch(/It waits until account .*acme<\/a> resumes:.*the key is refused/);
  expect(await htmlAt('/runs')).toContain('waiting: account acme is suspended');
});

test('a run whose jobs fail says that it is retried, and does not say that the service is the cause', async () => {
  const { id } = await aRun(database, {
    sync: 'retried',
    account: 'acme',
    resource: 'retried',
    phase: 'scan-contacts',
  });
  await noteAttended(database.pool, [id], thisWorker('test'));
  await addFailure(database.pool, id, 'contacts.getall: Redis at localhost:6379 is unavailable');
  await markFailing(database.pool, id, true);
  const html = await htmlAt(`/runs/${id}`);
  expect(html).toMatch(/failing and retried since <time.*Redis at localhost:6379/s);
  expect(html).not.toMatch(/for the service|service has/);
  expect(await htmlAt('/runs')).toContain('running, retrying after a failure');
  await markFailing(database.pool, id, false);
  expect((await call(`/runs/${id}`)).json.phases[0].waits).toMatchObject([{ for: 'retry' }]);
});

test('a run of contacts says how many contacts its filter leaves out, and when its rows can be decided', async () => {
  const { pool } = database;
  const end = async (dryRun: boolean, status: 'done' | 'cancelled') => {
    const { id } = await aRun(database, { type: 'contacts', dryRun });
    await addRows(pool, id, [{ n: 1, sourceId: '1', label: 'Ann', verdict: 'review', reason: 'NO_KEY' }]);
    await recordLeftOut(pool, id, { contacts: 2, linked: 0 });
    await endRun(pool, id, status);
    return htmlAt(`/runs/${id}`);
  };
  const dry = await end(true, 'done');
  expect(dry).toContain('The filter (where) leaves out 2 contacts.');
  expect(dry).toContain('A dry run only shows them: they can be decided once a run that writes is done.');
  expect(await end(false, 'cancelled')).toContain('They can be decided once the sync has run again.');
  expect(await end(false, 'done')).not.toContain('can be decided once');
});

test('a page says what it means to acknowledge a run before it is done', async () => {
  const { id } = await aRun(database, { type: 'orders', sync: 'orders' });
  await endRun(database.pool, id, 'failed', { code: 'KEY_REFUSED', message: 'The key is refused.' });
  expect(await htmlAt(`/runs/${id}`)).toContain(`href="/confirm?action=acknowledge&amp;run=${id}"`);
  expect(await htmlAt(`/confirm?action=acknowledge&run=${id}`)).toMatch(
    /Home and alerts leave its problems out.*action="\/confirm\/acknowledge".*lockstep runs acknowledge/s,
  );
});

test('the page of an audit says where its findings are, and counts no rows', async () => {
  const audit = { sync: 'audit:acme:orders', type: 'audit', account: 'acme', resource: 'audit:orders' };
  const { id } = await aRun(database, { ...audit, phase: 'audit-list' });
  await endRun(database.pool, id, 'done');
  const html = await htmlAt(`/runs/${id}`);
  expect(html).toContain('An audit has no rows of its own');
  expect(html).not.toMatch(/0 rows|Look at the rows/);
});

test('a load that is cancelled while its file is read is not offered for a retry', async () => {
  const { run } = await beginLoad(database.pool, aSpec());
  expect(await htmlAt(`/confirm?action=cancel&run=${run.id}`)).toContain('To load the file later, load it again.');
  await postForm(web, '/confirm/cancel', { run: run.id });
  const html = await htmlAt(`/runs/${run.id}`);
  expect(html).toContain('before the whole file was read: nothing was sent. To load the file, load it again.');
  expect(html).not.toMatch(/Send the rest|runs retry/);
});
