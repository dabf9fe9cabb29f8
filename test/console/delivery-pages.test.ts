import { expect, test } from 'vitest';
import { takeOutboxClaim } from '../../src/mirror/outbox/claims.ts';
import { blockTarget, disableTarget, noteFailing } from '../../src/mirror/outbox/target-states.ts';
import { WORKER } from '../engine/ledger/fresh-ledger.ts';
import { openOutboxConsole } from './outbox-console.ts';
import { postForm } from './requests.ts';

const { database, web, deliver, states, call, htmlAt } = await openOutboxConsole();

test('a target is failing while its deliveries are retried, in the list and on its page', async () => {
  await deliver([null]);
  expect(await htmlAt('/deliveries')).toContain('href="/deliveries?target=hook&amp;verdict=waiting">1</a>');
  for (const path of ['/deliveries', '/targets/hook']) {
    const html = await htmlAt(path);
    expect([path, html]).toEqual([path, expect.stringContaining('1 delivery failed and will be retried')]);
  }
  expect(await htmlAt('/targets/hook')).not.toContain('no problem');
  expect(await htmlAt('/targets/hook')).toMatch(
    /href="\/deliveries\/confirm\?target=hook&amp;verdict=waiting">Try what waits now</,
  );
});

test('a target with dead letters is not said to have no problem, and Activity says until when they were sent again', async () => {
  await deliver(['dead']);
  for (const path of ['/deliveries', '/targets/hook'])
    expect(await htmlAt(path)).toMatch(/>has dead letters<.* since .*: .*onerror/s);
  expect(await htmlAt('/targets/hook')).toContain('See the dead letters');
  await postForm(web, '/deliveries/replay', { target: 'hook', verdict: 'dead', until: '2030-01-01T00:00:00Z' });
  expect(await htmlAt('/activity')).toMatch(/hook dead until <time datetime="2030-01-01T00:00:00.000Z"/);
});

test('the page of a target or channel says where its secrets come from', async () => {
  expect(await htmlAt('/targets/issues')).toContain('targets.issues.token: the environment variable TOKEN; restart');
  const hook = await htmlAt('/targets/hook');
  expect(hook).toContain('targets.hook.secret: the environment variable HOOK;');
  expect(hook).toContain('targets.hook.previousSecret: the environment variable OLD_HOOK;');
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

test('a delivery that waits for a worker or a disabled target says so, and that its button enables the target', async () => {
  await deliver([null]);
  await database.pool.query(`update ledger.deliveries set due_at = now() - interval '1 minute'`);
  for (const path of ['/deliveries', '/deliveries/msg_0']) {
    const html = await htmlAt(path);
    expect(html).toMatch(/No worker sends to hook\. Start one with:.*<code>lockstep start/s);
    expect(html).toContain('for a worker');
  }
  await takeOutboxClaim(database.pool, 'hook', { worker: WORKER, ttlMs: 60_000, now: undefined });
  expect(await htmlAt('/deliveries')).not.toContain('No worker');
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

test('a target has been retrying, or failing, since its first failure, on its page as on Home', async () => {
  await deliver([null]);
  await database.pool.query(
    `update ledger.deliveries set attempts = 1, created_at = '2026-11-20T08:00:00Z', due_at = '2026-11-20T08:00:05Z'`,
  );
  expect(await htmlAt('/targets/hook')).toMatch(/retrying<\/span> since <time datetime="2026-11-20T08:00:/);
  await noteFailing(database.pool, 'hook', { detail: 'HTTP 500', now: new Date('2026-11-21T09:00:00Z') });
  expect(await htmlAt('/targets/hook')).toMatch(/failing<\/span> since <time datetime="2026-11-20T08:00:/);
  expect(await htmlAt('/')).toMatch(/target hook.*2026-11-20T08:00:.*failing: HTTP 500/s);
});

test('a paused target does not say who asked for the pause, which may be its budget', async () => {
  await blockTarget(database.pool, 'hook', { forMs: 60_000, now: undefined });
  expect(await htmlAt('/targets/hook')).toMatch(/paused<\/span> nothing is sent to it until <time /);
});

test('a target shows its address, and the syncs that send to it', async () => {
  const page = await htmlAt('/targets/hook');
  expect(page).toMatch(
    /Address<\/dt><dd>https:\/\/hook\.example\/in<.*Receives from<.*href="\/runs\?sync=mirror">mirror</s,
  );
  expect(await htmlAt('/targets/issues')).not.toContain('Receives from');
});

test('the number that waits and its list agree, also while a delivery is being sent', async () => {
  await deliver([null, null, 'dead']);
  await database.pool.query(`update ledger.deliveries set state = 'sending' where id = 'msg_0'`);
  expect(await htmlAt('/targets/hook')).toContain('>2 waiting</a>');
  expect(await htmlAt('/deliveries?target=hook&verdict=waiting')).toMatch(/msg_0.*sending.*msg_1.*waiting/s);
  await database.pool.query(`update ledger.deliveries set state = 'sending' where id = 'msg_1'`);
  expect(await htmlAt('/deliveries?target=hook&verdict=waiting')).not.toContain('Try all of these now');
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

test('dead letters that were queued on some days are sent again, also those that ended later', async () => {
  await deliver(['dead', 'dead']);
  await database.pool.query(
    `update ledger.deliveries set created_at = now() - interval '9 days', ended_at = now() - interval '5 days' where id = 'msg_0'`,
  );
  const [day] = new Date(Date.now() - 8 * 24 * 60 * 60 * 1000).toISOString().split('T');
  const question = await htmlAt(`/deliveries/confirm?target=hook&verdict=dead&to=${day}`);
  expect(question).toContain('1 delivery to hook to send again.');
  const hidden = [...question.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)];
  await postForm(
    web,
    '/deliveries/replay',
    Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, value])),
  );
  expect(await states()).toEqual(['waiting', 'ended']);
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

test('a target that left the settings is named with its deliveries, wherever they are shown', async () => {
  await deliver([null]);
  await database.pool.query(`update ledger.deliveries set target = 'former'`);
  const words = /not in the settings<\/span> 1 delivery waits until the settings have the target again/;
  for (const path of ['/deliveries', '/targets/former']) expect(await htmlAt(path)).toMatch(words);
  expect(await htmlAt('/targets/former')).toContain('<code>lockstep deliveries --target former</code>');
  expect(await htmlAt('/targets/hook')).toContain('<code>lockstep targets check hook</code>');
  const home = await htmlAt('/');
  expect(home).toContain('not in the settings: 1 delivery waits until the settings have the target again');
  expect(home).toMatch(/target former.*<a href="\/targets\/former">See the target</s);
  expect(await htmlAt('/targets/former')).not.toContain('Try what waits now');
  for (const path of ['/deliveries', '/deliveries/msg_0']) {
    const html = await htmlAt(path);
    expect(html).toContain('until the settings have its target again');
    expect(html).not.toContain('Try now');
  }
  expect(await htmlAt('/targets/former')).toContain('Drop what waits');
  await postForm(web, '/targets/former/drop');
  const fails = `insert into ledger.target_states (target, failing_since, failing_detail) values ('former', now(), 'HTTP 500')`;
  await database.pool.query(fails); // as it did when it left
  const dropped = await htmlAt('/targets/former');
  expect(dropped).toMatch(/not in the settings.*>0 waiting</s);
  expect(dropped).not.toContain('failing');
  expect(await htmlAt('/')).not.toContain('former');
  expect(await htmlAt('/activity')).toMatch(/Drop deliveries.*former.*done/s);
  expect((await call('/targets/former/drop', {})).json).toMatchObject({ refused: 'NONE_WAITS' });
  expect((await call('/targets/hook/drop', {})).json).toMatchObject({ error: { code: 'TARGET_IN_SETTINGS' } });
});
