/** Deliveries, accounts and settings in a real browser. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { noteAttended } from '../../src/engine/ledger/attended-runs.ts';
import { thisWorker } from '../../src/engine/ledger/claims.ts';
import { keepAction } from '../../src/engine/ledger/console/console-actions.ts';
import { addRows } from '../../src/engine/ledger/inputs.ts';
import { endRun } from '../../src/engine/ledger/run-status.ts';
import { addNote, recordLeftOut, startRun } from '../../src/engine/ledger/runs.ts';
import { liftSuspension, suspendAccount } from '../../src/engine/ledger/scopes/suspensions.ts';
import { disableTarget, noteFailing } from '../../src/mirror/outbox/target-states.ts';
import { beginLoad } from '../../src/syncs/orders/begin-load.ts';
import { aRun, WORKER } from '../engine/ledger/fresh-ledger.ts';
import { aSpec } from '../engine/ledger/matching/load-worlds.ts';
import { CHROMIUM, launch } from '../support/chromium.ts';
import { freshDatabase } from '../support/database.ts';
import { startHttpServer } from '../support/http-server.ts';
import { expectSound, openPage } from './browser.ts';
import { openConsole, SETTINGS } from './open-console.ts';
import { apiOf, pageAt, postForm } from './requests.ts';

const HOSTILE = `<img src=x onerror="alert(1)">"><svg onload=alert(2)> \u202egpj.exe \u001b[31m ${'x'.repeat(3_000)}`;
const TEXT = `${SETTINGS.replace('budget:', 'dialect: { idField: { contacts: nr } }, budget:')}
targets:
  hook: { type: webhook, url: "https://hook.example/in", secret: { env: HOOK }, previousSecret: { env: OLD_HOOK } }
  spare: { type: webhook, url: "https://spare.example/in", secret: { env: HOOK } }
  issues: { type: github, token: { env: TOKEN }, owner: octocat, repo: hello-world }
syncs: { mirror: { type: tasks, account: acme, targets: [hook, spare] } }
`;

const database = await freshDatabase();
const web = await openConsole({ database, text: TEXT });
beforeEach(() =>
  database.pool.query(
    'truncate ledger.suspensions, ledger.deliveries, ledger.links, ledger.target_states, ledger.console_actions',
  ),
);
afterAll(async () => {
  await web.close();
  await database.close();
});

/** Deliveries of different tasks, the first the newest: dead ones with a hostile answer. */
async function deliver(verdicts: readonly ('dead' | 'delivered' | null)[]): Promise<void> {
  for (const [i, verdict] of verdicts.entries()) {
    const state = verdict === null ? 'waiting' : 'ended';
    await database.pool.query(
      `insert into ledger.deliveries (id, target, scope, sync, kind, task_id, sequence, event, task, seen_at, state, verdict,
         reason, detail, answer, failures, attempts, created_at, ended_at)
       values ($1, 'hook', 'acme', 'tasks', 'task', $1, 1, 'changed', $2, now(), $3, $4, $5, $6, $7,
         case when $4 = 'dead' then jsonb_build_array(jsonb_build_object('at', now(), 'detail', $6::text, 'answer', $7::json)) end, 3,
         now() - $8 * interval '1 minute', case when $4::text is null then null else now() end)`,
      [
        `msg_${i}`,
        { title: HOSTILE },
        state,
        verdict,
        verdict === 'dead' ? 'REFUSED' : null,
        verdict === 'dead' ? HOSTILE : null,
        verdict === 'dead' ? { httpStatus: 500, text: HOSTILE } : null,
        i,
      ],
    );
  }
}

const states = async () => {
  const found = await database.pool.query('select state from ledger.deliveries order by id');
  return found.rows.map(({ state }) => state);
};

const call = apiOf(web);

test('the API imports, finds and removes links', async () => {
  const csv = 'task_id,item_id\n1,11\nsubtask:2,12\n3,not an item\n';
  const file = { target: 'issues', account: 'acme', csv };
  expect((await call('/links/import', { ...file, dryRun: true })).json.said).toContain(
    'Nothing was written. 3 rows: 2 new',
  );
  const imported = (await call('/links/import', file)).json;
  expect(imported).toMatchObject({ refused: 'ROWS_REFUSED' });
  expect(imported.said).toContain('3 rows: 2 new, 0 already linked, 0 replaced, 1 refused');
  const first = (await call('/links?limit=1')).json;
  const rest = (await call(`/links?limit=1&after=${encodeURIComponent(first.next)}`)).json;
  expect([...first.links, ...rest.links].map(({ task }) => task).toSorted()).toEqual(['subtask:2', 'task:1']);
  expect(rest.next).toBe(null);
  expect((await call('/links?q=BTASK')).json.links).toMatchObject([
    { task: 'subtask:2', itemId: expect.stringContaining('12') },
  ]);
  const link = { target: 'issues', account: 'acme', task: 'task:1' };
  expect((await call('/links/remove', link)).status).toBe(200);
  expect(await call('/links/remove', link)).toMatchObject({ status: 404, json: { error: { code: 'LINK_UNKNOWN' } } });
});

test('the API lists deliveries by page, sends one again, and enables a target', async () => {
  await deliver(['dead', 'delivered', null]);
  await disableTarget(database.pool, 'hook', { reason: 'GONE', detail: 'it answered 410', now: undefined });
  const first = (await call('/deliveries?limit=2')).json;
  const rest = (await call(`/deliveries?limit=2&after=${first.next}`)).json;
  const ids = [...first.deliveries, ...rest.deliveries].map(({ id }: { id: string }) => id);
  expect([ids, rest.next]).toEqual([['msg_0', 'msg_1', 'msg_2'], null]);
  const [hook] = (await call('/targets')).json.targets;
  expect(hook).toMatchObject({ target: 'hook', open: 1, dead: 1, disabled: {} });
  expect(hook.lag.longestMs.map((ms: number) => ms > 0)).toEqual([...Array(23).fill(false), true]);
  expect((await call('/deliveries/msg_0/replay', {})).json.said).toContain(
    '1 delivery is due now. A worker sends it at once, or within a minute while its target is failing. Enabled: hook.',
  );
  expect((await call('/deliveries/msg_0/replay', {})).json.said).toBe(
    '1 delivery is due now. A worker sends it at once, or within a minute while its target is failing.',
  );
  expect((await call('/deliveries/msg_9/replay', {})).json.error.code).toBe('DELIVERY_UNKNOWN');
  expect((await call('/targets/hook/enable', {})).json.refused).toBe('NOT_DISABLED');
  expect((await call('/targets/other/enable', {})).json.error.code).toBe('SETTINGS_NAME_UNKNOWN');
  expect(await states()).toEqual(['waiting', 'ended', 'waiting']);
});

test('the API shows accounts with their tenant, what suspends them, and the dialect of the settings', async () => {
  await suspendAccount(database.pool, 'acme', 'the key is refused');
  expect((await call('/accounts')).json.accounts).toMatchObject([
    {
      account: 'acme',
      url: 'https://sales.example',
      allowed: 'at most 30 calls a minute',
      identity: null,
      suspended: { message: 'the key is refused' },
      dialect: { 'idField.contacts': 'nr' },
    },
  ]);
});

const htmlAt = (path: string) => pageAt(web, path);

test('a target is failing while its deliveries are retried, in the list and on its page', async () => {
  await deliver([null]);
  for (const path of ['/deliveries', '/targets/hook']) {
    const html = await htmlAt(path);
    expect([path, html]).toEqual([path, expect.stringContaining('1 delivery failed and will be retried')]);
  }
  expect(await htmlAt('/targets/hook')).not.toContain('no problem');
});

test('does not say of an account that it has no problem before it was used, and shows the command of a failure as one', async () => {
  const shown = await htmlAt('/accounts');
  expect(shown).toContain('not used yet');
  expect(shown).not.toContain('no problem');
  expect(await htmlAt('/runs/run-x')).toContain('<code>lockstep runs</code>');
  await aRun(database, { account: 'acme' });
  expect(await htmlAt('/accounts')).toContain('no problem');
});

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
    /attempts when the run ended: 1; the next one was due at <time datetime="2026-11-25T20:45:39.000Z"/,
  );
  expect(html).not.toContain('datetime="2026-05-04');
  expect(html).toContain('href="/deliveries?verdict=waiting"');
  const days = await (await fetch(`${web.url}/deliveries?from=2026-11-20&to=2026-11-21`)).text();
  expect(days).toContain('lockstep deliveries --since 2026-11-20 --until 2026-11-22');
  expect(html).toContain('(<a href="/deliveries?target=hook">or here</a>)'); // beside the command of the remedy
  expect(html).not.toMatch(/\/confirm\?action=retry/);
});

test('the page of a run does not repeat under its notes what its notice says', async () => {
  const { pool } = database;
  const run = await aRun(database);
  await addNote(pool, run.id, 'the key was refused');
  await addNote(pool, run.id, 'another note');
  await suspendAccount(pool, run.scope, 'the key was refused');
  const html = await htmlAt(`/runs/${run.id}`);
  expect(html.match(/the key was refused/gi)).toHaveLength(1);
  expect(html).toContain('Another note.');
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

test('a target with dead letters is not said to have no problem, and Activity says until when they were sent again', async () => {
  await deliver(['dead']);
  for (const path of ['/deliveries', '/targets/hook'])
    expect(await htmlAt(path)).toMatch(/>has dead letters<.* since .*: .*onerror/s);
  expect(await htmlAt('/targets/hook')).toContain('See the dead letters');
  await postForm(web, '/deliveries/replay', { target: 'hook', verdict: 'dead', until: '2030-01-01T00:00:00Z' });
  expect(await htmlAt('/activity')).toMatch(/hook dead until <time datetime="2030-01-01T00:00:00.000Z"/);
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
  expect(page).not.toMatch(/Reading customers and orders|rows read|calls a second allowed/);
});

test('sending a load after all says that it asks again, not that rows failed', async () => {
  const { id } = await aRun(database, { type: 'orders', sync: 'orders' });
  await endRun(database.pool, id, 'cancelled', { code: 'NOT_APPROVED', message: 'Not approved.' });
  const page = await htmlAt(`/confirm?action=retry&run=${id}`);
  expect(page).toContain('Send it after all: 1 run?');
  expect(page).toContain('planned again, and asks again before anything is sent');
  expect(page).not.toContain('rows that failed');
});

test('a page says what it means to acknowledge a run before it is done', async () => {
  const { id } = await aRun(database, { type: 'orders', sync: 'orders' });
  await endRun(database.pool, id, 'failed', { code: 'KEY_REFUSED', message: 'The key is refused.' });
  expect(await htmlAt(`/runs/${id}`)).toContain(`href="/confirm?action=acknowledge&amp;run=${id}"`);
  expect(await htmlAt(`/confirm?action=acknowledge&run=${id}`)).toMatch(
    /Home and alerts leave its problems out.*action="\/confirm\/acknowledge".*lockstep runs acknowledge/s,
  );
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

test('the page of a target or channel says where its secrets come from', async () => {
  expect(await htmlAt('/targets/issues')).toContain('targets.issues.token: the environment variable TOKEN; restart');
  const hook = await htmlAt('/targets/hook');
  expect(hook).toContain('targets.hook.secret: the environment variable HOOK;');
  expect(hook).toContain('targets.hook.previousSecret: the environment variable OLD_HOOK;');
});

test('the filter of runs names the states that the list shows, and says that a name has to be whole', async () => {
  const html = await htmlAt('/runs');
  expect(html).toMatch(/placeholder="its whole name".*>paused or awaiting approval<.*>cancelled or not approved</s);
});

test('a run that settles rows says what it waits for', async () => {
  const { id } = await aRun(database);
  await database.pool.query(`update ledger.runs set phase = 'settle-customers' where id = $1`, [id]);
  await addRows(database.pool, id, [{ n: 1, sourceId: '1', label: 'Ann' }]);
  await noteAttended(database.pool, [id], WORKER);
  expect(await htmlAt(`/runs/${id}`)).toContain('1 to settle: waiting until the service shows what it applied');
});

test('activity leads to the run, or the row, that an action was about', async () => {
  const run = 'run-261129-2059-6bb397';
  for (const about of [run, `${run}/3`, 'run-nightly'])
    await keepAction(database.pool, { who: 'ann', via: 'page', action: 'decide-use', about, refused: undefined });
  const links = [...(await htmlAt('/activity')).matchAll(/<td><a href="([^"]+)">/g)].map(([, href]) => href);
  expect(links).toEqual([`/runs/${run}/rows/3`, `/runs/${run}`]);
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
  const { id } = await aRun(database);
  await database.pool.query(
    `insert into ledger.audit_debts (run_id, n, source_id, scope, resource, settle_ms)
     values ($1, 0, '0', 'acme', 'customers', 3600000)`,
    [id],
  );
  await endRun(database.pool, id, 'done');
  expect(await htmlAt(`/runs/${id}`)).toMatch(/auditing until <time datetime/);
});

test('a run that mirrors tasks names the target that does not take its deliveries, and no other', async () => {
  const given = { sync: 'mirror', type: 'tasks', account: 'acme', resource: 'mirror', options: {} };
  const started = { ...given, lane: 'batch', dryRun: false, phase: 'deliver-status' } as const;
  const { id } = (await startRun(database.pool, started)).run;
  expect(await htmlAt(`/runs/${id}`)).not.toContain('It waits for target');
  await deliver([null]);
  const html = await htmlAt(`/runs/${id}`);
  expect(html).toMatch(/It waits for target .*hook<\/a>:.*1 delivery failed and will be retried/);
  expect(html).not.toContain('/targets/spare');
});

test('a run says that it waits because its account is suspended', async () => {
  const given = { sync: 'nightly', type: 'contacts', account: 'acme', resource: 'nightly', options: {} };
  const started = { ...given, lane: 'batch', dryRun: false, phase: 'scan-contacts' } as const;
  const { id } = (await startRun(database.pool, started)).run;
  await noteAttended(database.pool, [id], thisWorker('test'));
  expect(await htmlAt(`/runs/${id}`)).not.toContain('It waits until account');
  await suspendAccount(database.pool, 'acme', 'the key is refused');
  expect(await htmlAt(`/runs/${id}`)).toMatch(/It waits until account .*acme<\/a> resumes:.*the key is refused/);
  expect(await htmlAt('/runs')).toContain('waiting: account acme is suspended');
});

test('a delivery that waits for its retry is tried now; one that waits for an older one is not', async () => {
  await deliver([null, null]);
  await database.pool.query(`update ledger.deliveries set due_at = now() + interval '1 day', task_id = '1',
    sequence = case id when 'msg_1' then 1 else 2 end`);
  expect(await htmlAt('/deliveries/msg_0')).not.toContain('Try now');
  expect(await htmlAt('/deliveries/msg_1')).toContain('Try now');
  expect((await call('/deliveries/msg_1/replay', {})).json.said).toBe(
    '1 delivery is due now. A worker sends it at once, or within a minute while its target is failing.',
  );
  const due = await database.pool.query('select id from ledger.deliveries where due_at <= created_at');
  expect(due.rows).toEqual([{ id: 'msg_1' }]);
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

test('a delivery that waits for a disabled target says so, and that its button enables the target', async () => {
  await deliver([null]);
  await database.pool.query(`update ledger.deliveries set due_at = now() - interval '1 minute'`);
  expect(await htmlAt('/deliveries')).toContain('due since');
  await disableTarget(database.pool, 'hook', { reason: 'GONE', detail: 'it answered 410', now: undefined });
  const list = await htmlAt('/deliveries');
  expect(list).toContain('until its target is enabled');
  expect(list).not.toContain('due since');
  expect(await htmlAt('/deliveries/msg_0')).toContain('Enable hook and try now');
  await database.pool.query(`update ledger.deliveries set state = 'ended', verdict = 'dead', ended_at = now()`);
  expect(await htmlAt('/deliveries/msg_0')).toContain('Enable hook and send again');
});

test('a dead letter says what to do, and what each attempt was answered', async () => {
  await deliver(['dead']);
  await database.pool.query(
    `update ledger.deliveries set reason = 'REJECTED',
       failures = '[{ "at": "2026-11-20T08:00:00Z", "detail": "no answer in time" }, { "at": "2026-11-20T08:00:05Z", "detail": "refused", "answer": { "httpStatus": 400, "text": "no such field" } }]'`,
  );
  expect(await htmlAt('/deliveries/msg_0')).toMatch(
    /Fix<\/b>.*Fix what the target reports.*deliveries replay --id msg_0.*08:00:00.*no answer in time.*refused.*HTTP 400 no such field/s,
  );
});

test('a target has been failing since its first failure, on its page as on Home', async () => {
  await deliver([null]);
  await database.pool.query(
    `update ledger.deliveries set attempts = 1, created_at = '2026-11-20T08:00:00Z', due_at = '2026-11-20T08:00:05Z'`,
  );
  const said = /failing<\/span> since <time datetime="2026-11-20T08:00:/;
  expect(await htmlAt('/targets/hook')).toMatch(said);
  await noteFailing(database.pool, 'hook', { detail: 'HTTP 500', now: new Date('2026-11-21T09:00:00Z') });
  expect(await htmlAt('/targets/hook')).toMatch(said);
  expect(await htmlAt('/')).toMatch(/target hook.*2026-11-20T08:00:.*failing: HTTP 500/s);
});

test('a target shows its address, and the syncs that send to it', async () => {
  const page = await htmlAt('/targets/hook');
  expect(page).toMatch(
    /Address<\/dt><dd>https:\/\/hook\.example\/in<.*Receives from<.*href="\/runs\?sync=mirror">mirror</s,
  );
  expect(await htmlAt('/targets/issues')).not.toContain('Receives from');
});

test('all deliveries that wait are tried now, after a question; those that have ended are not', async () => {
  await deliver(['dead', null, null]);
  await database.pool.query(`update ledger.deliveries set due_at = now() + interval '1 day'`);
  const [, waiting = ''] = /id="all" href="([^"]+)"/.exec(await htmlAt('/targets/hook')) ?? [];
  expect(await htmlAt(waiting.replaceAll('&amp;', '&'))).toContain('Try all of these now');
  const question = await htmlAt('/deliveries/confirm?verdict=waiting');
  expect(question).toContain('Try them now?');
  const [, until = ''] = /name="until" value="([^"]+)"/.exec(question) ?? [];
  await postForm(web, '/deliveries/replay', { verdict: 'waiting', until });
  const due = await database.pool.query(
    `select id, due_at <= now() as "isDue", verdict from ledger.deliveries where state = 'waiting' or verdict = 'dead' order by id`,
  );
  expect(due.rows).toEqual([
    { id: 'msg_0', isDue: expect.any(Boolean), verdict: 'dead' },
    { id: 'msg_1', isDue: true, verdict: null },
    { id: 'msg_2', isDue: true, verdict: null },
  ]);
});

test('a delivery that waits, and the list of a target, say why: the target is disabled', async () => {
  await deliver(['dead', null]);
  await disableTarget(database.pool, 'hook', { reason: 'TOKEN_REFUSED', detail: 'HTTP 401', now: undefined });
  for (const path of ['/deliveries/msg_1', '/deliveries?target=hook'])
    expect(await htmlAt(path)).toMatch(/href="\/targets\/hook">hook<.*>disabled<.*HTTP 401/s);
  for (const path of ['/deliveries/msg_0', '/deliveries?verdict=waiting'])
    expect(await htmlAt(path)).not.toContain('>disabled<');
});

test('a form that sends a delivery again, sent twice, sends it once', async () => {
  await deliver(['dead', null]);
  await database.pool.query(`update ledger.deliveries set created_at = now() - interval '1 hour'`);
  for (const [id, was] of [
    ['msg_0', 'ended'],
    ['msg_1', 'waiting'],
  ] as const) {
    const [, form = ''] = /action="(\/deliveries\/msg_\d\/replay[^"]*)"/.exec(await htmlAt(`/deliveries/${id}`)) ?? [];
    const send = () => postForm(web, form);
    await send();
    expect([was, (await states())[Number(id.at(-1))]]).toEqual([was, 'waiting']);
    await database.pool.query(
      `update ledger.deliveries set state = 'ended', verdict = 'delivered', ended_at = now() where id = $1`,
      [id],
    );
    await send();
    expect((await states())[Number(id.at(-1))]).toBe('ended');
  }
});

test('the settings are shown without secrets, with warnings; problems of the file only to operators', async () => {
  const own = await openConsole({
    database,
    text: `${TEXT.replace('{ env: KEY }', 'very-secret-key').replace('listen:', 'tokens: { dash: { token: { env: TOKEN }, role: viewer } }, listen:')}`,
    env: { TOKEN: 'a-token-that-is-long-enough' },
    checkSettings: async () => ({ problem: 'line 3 is wrong', warnings: ['a warning'] }),
  });
  const html = await pageAt(own, '/settings');
  expect(html).toContain('sales.example');
  expect(html).toContain('line 3 is wrong');
  expect(html).toContain('a warning');
  expect(html).not.toContain('very-secret-key');
  const viewed = await fetch(`${own.url}/settings`, {
    headers: { authorization: 'Bearer a-token-that-is-long-enough' },
  });
  const text = await viewed.text();
  expect([viewed.status, text.includes('line 3'), text.includes('An operator sees')]).toEqual([200, false, true]);
  await own.close();
});

describe.runIf(CHROMIUM)('in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());

  test('the pages are sound with hostile texts: light, dark, and on a phone', async () => {
    await deliver(['dead', 'delivered', null]);
    await suspendAccount(database.pool, 'acme', HOSTILE);
    await database.pool.query(
      `insert into ledger.links (scope, kind, source_id, record_id, run_id) values ('acme', 'item:issues', 'task:1', $1, '')`,
      [HOSTILE],
    );
    await noteFailing(database.pool, 'hook', { detail: HOSTILE, now: undefined });
    await disableTarget(database.pool, 'hook', { reason: 'GONE', detail: HOSTILE, now: undefined });
    const { page, wrong, close } = await openPage(browser);
    for (const path of [
      '/deliveries',
      '/deliveries?verdict=dead',
      '/deliveries/msg_0',
      '/deliveries/confirm?verdict=dead',
      '/targets/hook',
      '/links',
      '/accounts',
      '/accounts/acme',
      '/queues',
      '/settings',
    ]) {
      await page.goto(web.url + path);
      await expectSound(page, path);
    }
    expect(wrong).toEqual([]);
    await close();
  });

  test('a page names a command only if the command shows the same', async () => {
    const { page, close } = await openPage(browser, { javaScriptEnabled: false });
    const shown = async (path: string) => {
      await page.goto(`${web.url}${path}`);
      return page.getByText('The same on the command line').count();
    };
    expect([await shown('/accounts'), await shown('/confirm?action=retry')]).toEqual([1, 0]);
    await close();
  });

  test('a target shows how long its deliveries took, and that its secret is rotated; the key of an account is tried', async () => {
    await deliver(['delivered', 'delivered']);
    await suspendAccount(database.pool, 'acme', 'The key is refused.');
    await database.pool.query(`update ledger.suspensions set probe_at = now() + interval '1 hour'`);
    const { page, close } = await openPage(browser, { javaScriptEnabled: false });
    await page.goto(`${web.url}/targets/hook`);
    expect(await page.getByRole('img').getAttribute('aria-label')).toMatch(/^hook: at most 1 min|^hook: at most 60/);
    expect(await page.textContent('main')).toContain('The secret is being rotated: signed with both.');
    await page.goto(`${web.url}/accounts`);
    await page.getByRole('button', { name: 'Try the key now' }).click();
    expect(await page.textContent('[role=status]')).toContain('tries the key now');
    const due = await database.pool.query('select probe_at <= clock_timestamp() as "isDue" from ledger.suspensions');
    expect(due.rows).toEqual([{ isDue: true }]);
    await close();
  });

  test('a channel for alerts and a webhook get a test message, and a target is checked, from their pages', async () => {
    const receiver = await startHttpServer({ status: 204, body: '' });
    const own = await openConsole({
      database,
      env: { HOOK: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
      targets: {
        open: async () => ({
          deliver: async () => ({ status: 'delivered' }),
          test: async () => ({ status: 'later', reason: 'TIMEOUT', detail: 'no answer in time' }),
          check: async () => [{ what: 'token', status: 'problem', detail: HOSTILE, remedy: 'renew `TOKEN`' }],
          close: async () => undefined,
        }),
      },
      text: `${TEXT}\nalerts: { pager: { type: webhook, url: "${receiver.url}", secret: { env: HOOK }, allowPrivate: true } }\n`,
    });
    const { page, wrong, close } = await openPage(browser);
    await page.goto(`${own.url}/targets/alerts.pager`);
    await page.getByRole('button', { name: 'Send a test message' }).click();
    expect(await page.textContent('[role=status]')).toBe('alerts.pager accepted a test message.');
    expect(receiver.requests).toHaveLength(1);
    expect(await page.textContent('.facts')).toContain('alerts.pager.secret: the environment variable HOOK;');
    await page.goto(`${own.url}/targets/hook`);
    await page.getByRole('button', { name: 'Send a test message' }).click();
    expect(await page.textContent('[role=status]')).toBe('hook did not accept the test message: no answer in time');
    await page.goto(`${own.url}/targets/issues`);
    expect(await page.getByRole('button', { name: 'Send a test message' }).count()).toBe(0);
    await page.getByRole('link', { name: 'Check the target now' }).click();
    expect(await page.textContent('.notes')).toContain('problem token: <img');
    expect(await page.textContent('.notes .fix')).toBe('Fix renew TOKEN');
    await expectSound(page);
    expect(wrong).toEqual([]);
    await close();
    await own.close();
    await receiver.close();
  });

  test('links are imported from a file, and downloaded as a file that can be imported', async () => {
    const { page, close } = await openPage(browser);
    await page.goto(`${web.url}/links`);
    await page.getByText('Link many tasks at once').click();
    const buffer = Buffer.from('task_id;item_id\n1;11\n2;12');
    await page.getByLabel('File').setInputFiles({ name: '../../links.csv', mimeType: 'text/csv', buffer });
    await page.getByRole('button', { name: 'Import' }).click();
    expect(await page.textContent('[role=status]')).toContain('2 rows: 2 new');
    const download = await htmlAt('/links.csv?target=issues');
    expect(download.split('\r\n').map((line) => line.split(',').slice(0, 3))).toEqual([
      ['task_id', 'item_id', 'target'],
      ['task:1', expect.stringContaining('11'), 'issues'],
      ['task:2', expect.stringContaining('12'), 'issues'],
      [''],
    ]);
    const again = (await call('/links/import', { target: 'issues', account: 'acme', csv: download })).json;
    expect(again.said).toContain('2 rows: 0 new, 2 already linked');
    await page.getByText('Link many tasks at once').click();
    const long = { name: `${'links'.repeat(45)}.csv`, mimeType: 'text/csv', buffer };
    await page.getByLabel('File').setInputFiles(long);
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByRole('button', { name: 'Import what was checked' }).click();
    expect(await page.textContent('[role=status]')).toContain('2 rows: 0 new, 2 already linked');
    await close();
  });

  test('links are imported and removed without scripts', async () => {
    const { page, close } = await openPage(browser, { javaScriptEnabled: false });
    await page.goto(`${web.url}/links`);
    await page.getByText('Link many tasks at once').click();
    await page.getByLabel('lines, with the header').fill('task_id,item_id\n1,11\n2,12');
    await page.getByRole('button', { name: 'Check' }).click();
    expect(await page.textContent('[role=status]')).toContain('Nothing was written. 2 rows: 2 new');
    await page.getByRole('button', { name: 'Import what was checked' }).click();
    expect(await page.textContent('[role=status]')).toContain('2 rows: 2 new');
    expect(await page.locator('tbody tr').count()).toBe(2);
    await page.getByRole('button', { name: 'Remove the link of task:1' }).click();
    expect(await page.textContent('[role=status]')).toContain('task:1 of acme is no longer linked with');
    expect(await page.locator('tbody tr').count()).toBe(1);
    await close();
  });

  test('dead letters are sent again after a question, without scripts; what is queued later is not', async () => {
    await deliver(['dead', 'dead', 'delivered']);
    const { page, close } = await openPage(browser, { javaScriptEnabled: false });
    await page.goto(`${web.url}/deliveries`);
    await page.getByRole('link', { name: '2', exact: true }).click();
    await page.getByRole('link', { name: 'Send all of these again' }).click();
    expect(await page.textContent('main')).toContain('2 deliveries to hook to send again.');
    await database.pool.query(
      `update ledger.deliveries set created_at = now() + interval '1 minute' where id = 'msg_1'`,
    );
    await page.getByRole('button', { name: 'Send again' }).click();
    expect(await page.textContent('[role=status]')).toContain(
      '1 delivery is due now. A worker sends it at once, or within a minute while its target is failing.',
    );
    expect(await states()).toEqual(['waiting', 'ended', 'ended']);
    await page.goto(`${web.url}/deliveries/msg_1`);
    await page.getByRole('button', { name: 'Send again' }).click();
    expect(await states()).toEqual(['waiting', 'waiting', 'ended']);
    await close();
  });
});
