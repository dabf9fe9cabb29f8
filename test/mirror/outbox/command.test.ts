import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { takeOutboxClaim } from '../../../src/mirror/outbox/claims.ts';
import { deliveryId } from '../../../src/mirror/outbox/outbox.ts';
import { disableTarget, noteFailing } from '../../../src/mirror/outbox/target-states.ts';
import { inTransaction } from '../../../src/storage/transaction.ts';
import { command, databaseUrl, scratchFolders } from '../../cli/command.ts';
import { freshLedger, WORKER } from '../../engine/ledger/fresh-ledger.ts';
import { PATIENT } from '../../support/patient.ts';
import { change, fates, forgetDeliveries, queue } from './delivery-worlds.ts';

const SETTINGS = `
accounts: { demo: {} }
targets:
  hook: { type: webhook, url: https://hook.example/secret-path, secret: { env: HOOK_SECRET } }
  mail: { type: webhook, url: https://mail.example/, secret: { env: HOOK_SECRET } }
`;

const folder = scratchFolders();
const database = await freshLedger();
beforeEach(async () => {
  await forgetDeliveries(database);
  await queue(database, [change(1), change(2)], ['hook', 'mail']);
  await database.pool.query(
    `update ledger.deliveries set state = 'ended', verdict = 'dead', reason = 'HTTP_400', detail = 'it answered 400',
       answer = '{"httpStatus":400,"text":"no such field"}', attempts = 1, ended_at = now() where target = 'hook'`,
  );
});
afterAll(() => database.close());

const deliveries = (...args: readonly string[]) => lockstep('deliveries', ...args);

async function lockstep(...args: readonly string[]) {
  const cwd = await folder();
  await writeFile(path.join(cwd, 'settings.yaml'), SETTINGS);
  const env = { DATABASE_URL: databaseUrl(database.connection), HOOK_SECRET: 'a-secret-of-at-least-24-bytes' };
  return command([...args, '--config', 'settings.yaml'], { cwd, env });
}

test('lists deliveries with their state', async () => {
  const { code, stdout } = await deliveries('--target', 'hook');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^DELIVERY .* STATUS\nmsg_\S+ +hook +task:\d #1 +changed .* 1 {2}dead \(HTTP_400\)\n/);
  expect((await deliveries('--verdict', 'dead', '--since', '1h', '--json')).json.deliveries).toHaveLength(2);
  expect((await deliveries('--until', '2020-01-01')).stdout).toBe('No deliveries found.\n');
});

test('says that deliveries wait for a worker, or for a target that was removed from the settings', async () => {
  await queue(database, [change(1), change(2)], ['former']);
  await disableTarget(database.pool, 'former', { reason: 'GONE', detail: 'it answered 410', now: undefined });
  const waits = '2 deliveries wait until the settings have the target again, or a person drops them';
  const { stdout } = await deliveries();
  expect(stdout).toMatch(/ former .* waiting: the target is not in the settings\n/);
  expect(stdout).toMatch(/ mail .* waiting for a worker\n/);
  expect(stdout).toContain('No worker sends to mail. Start one with: lockstep start --config settings.yaml\n');
  expect((await deliveries('show', deliveryId('mail', change(1)))).stdout).toContain('No worker sends to mail.');
  await noteFailing(database.pool, 'mail', { detail: 'its secret is missing', now: undefined });
  expect((await deliveries()).stdout).not.toContain('No worker sends to mail.'); // one may run, and not be able to open it
  expect(stdout).toContain(`former is not in the settings: ${waits} with: lockstep deliveries drop former`);
  expect(stdout).not.toContain('deliveries enable former');
  expect((await deliveries('show', deliveryId('former', change(1)))).stdout).toContain(
    'the target is not in the settings',
  );
  expect((await lockstep('status')).stdout).toMatch(
    new RegExp(`target former: not in the settings: ${waits}\\n +lockstep deliveries drop former --dry-run`),
  );
});

test('a person drops what waits for a target that was removed, and keeps what is sent by another process', async () => {
  const [idle, dead, live] = [change(1), change(2), change(3)].map((one) => deliveryId('former', one));
  await queue(database, [change(1), change(2), change(3)], ['former']);
  await disableTarget(database.pool, 'former', { reason: 'GONE', detail: 'it answered 410', now: undefined });
  for (const [id, ttlMs] of [
    [dead, -1],
    [live, 60_000],
  ] as const) {
    const claim = await takeOutboxClaim(database.pool, 'former', { worker: WORKER, ttlMs, now: undefined });
    await database.pool.query(`update ledger.deliveries set state = 'sending', claim_id = $2 where id = $1`, [
      id,
      claim.id,
    ]);
  }
  expect((await deliveries('--target', 'former', '--verdict', 'waiting', '--json')).json.deliveries).toHaveLength(3);
  expect((await deliveries('drop', 'formr', '--json')).json.error).toEqual({
    code: 'NOTHING_TO_DROP',
    message: 'There are no deliveries for a target "formr". Those that you can drop wait for former',
  });
  expect((await deliveries('drop', 'former', '--dry-run')).stdout).toBe(
    '2 deliveries to former would end as skipped.\n',
  );
  expect((await deliveries('drop', 'former', '--json')).json).toEqual({ target: 'former', dryRun: false, dropped: 2 });
  const { stdout } = await deliveries('show', idle ?? '');
  expect(stdout).toMatch(
    /It is skipped \(DROPPED\).*: dropped by \S+@\S+, because the settings did not have the target/,
  );
  await database.pool.query(`update ledger.deliveries set state = 'ended', verdict = 'delivered' where id = $1`, [
    live,
  ]);
  expect((await lockstep('status')).stdout).not.toContain('former');
  expect((await deliveries('replay', '--target', 'former', '--verdict', 'skipped', '--json')).json.again).toBe(2);
});

test('reports a disabled target with its remedy, and enables it again', async () => {
  await disableTarget(database.pool, 'mail', { reason: 'GONE', detail: 'it answered 410', now: undefined });
  expect((await deliveries()).stdout).toMatch(/mail has been disabled since .* 410.*: lockstep deliveries enable mail/);
  expect((await deliveries('enable', 'mail', '--json')).json).toEqual({ target: 'mail', enabled: true });
  expect((await deliveries('enable', 'mail')).stdout).toBe('mail was not disabled; nothing has changed.\n');
});

test('shows one delivery with its payload, attempts and answers, without an address of the target', async () => {
  const id = deliveryId('hook', change(1));
  await database.pool.query(
    `update ledger.deliveries set reason = 'REJECTED',
       failures = '[{ "at": "2026-11-20T08:00:00Z", "reason": "LIMITED", "detail": "too many", "answer": { "httpStatus": 429, "text": "later" } }]' where id = $1`,
    [id],
  );
  const { stdout } = await deliveries('show', id);
  expect(stdout).toMatch(/\n {2}2026-11-20 08:00:00.* LIMITED: too many: answer HTTP 429 later\n/);
  expect(stdout).toContain(`Delivery ${id} to hook: task:1 "Task 1, state 1", changed, sequence 1.`);
  expect(stdout).not.toContain('Last answer');
  expect(stdout).not.toContain('secret');
  expect(stdout).toMatch(new RegExp(`\nFix: .*deliveries replay --id ${id}`));
  expect(stdout).toContain('(REJECTED), after 1 attempt');
  await database.pool.query(
    `update ledger.deliveries set state = 'waiting', verdict = null, attempts = 0 where id = $1`,
    [id],
  );
  expect((await deliveries('show', id)).stdout).toContain('not tried since it was queued again');
  expect((await deliveries('show', id, '--json')).json).toMatchObject({ id, task: { title: 'Task 1, state 1' } });
});

test('a replay prints the number of deliveries, enables their target, and changes nothing in a dry run', async () => {
  await disableTarget(database.pool, 'hook', { reason: 'GONE', detail: 'it answered 410', now: undefined });
  const filter = ['--target', 'hook', '--verdict', 'dead'];
  const dry = await deliveries('replay', ...filter, '--dry-run', '--json');
  expect(dry.json).toEqual({ dryRun: true, again: 2, superseded: 0, targets: ['hook'], enabled: [] });
  expect(await fates(database)).toContain('1#1 dead');
  const { code, stdout } = await deliveries('replay', ...filter);
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/^2 deliveries to hook to send again\.\nEnabled: hook\.\n/),
  ]);
  expect(await fates(database)).not.toContain('1#1 dead');
});

test('a replay that is cut off before it enables the target changes nothing, and the same command does both', async () => {
  await disableTarget(database.pool, 'hook', { reason: 'GONE', detail: 'it answered 410', now: undefined });
  const filter = ['--target', 'hook', '--verdict', 'dead'];
  const ofWaiting = `from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  const { pool } = database;
  let cutOff: ReturnType<typeof deliveries> | undefined;
  await inTransaction(pool, async (db) => {
    await db.query('lock table ledger.target_states in share mode');
    cutOff = deliveries('replay', ...filter);
    await vi.waitUntil(async () => (await pool.query(`select ${ofWaiting}`)).rowCount === 1, PATIENT);
    await pool.query(`select pg_terminate_backend(pid, 5000) ${ofWaiting}`);
  });
  expect((await cutOff)?.code).toBe(3);
  expect(await fates(database)).toContain('1#1 dead');
  expect((await deliveries('replay', ...filter)).stdout).toContain('Enabled: hook.');
});

test('a replay takes ids', async () => {
  const { json } = await deliveries('replay', '--id', deliveryId('hook', change(1)), '--json');
  expect(json).toMatchObject({ again: 1, targets: ['hook'] });
});

test.each([
  [['replay'], 'No filter is given'],
  [['replay', '--id', 'msg_x'], 'There is no delivery "msg_x"'],
  [['show', 'msg_x'], 'lockstep deliveries'],
  [['--target', 'hok'], 'did you mean "hook"?'],
  [['enable', 'hok'], 'did you mean "hook"?'],
  [['drop', 'hok'], 'There are no deliveries for a target "hok"'],
  [['drop', 'mail'], 'The settings have "mail", so its deliveries are sent: remove it there'],
  [['--verdict', 'lost'], 'Allowed choices are waiting, delivered, already'],
  [['--since', 'yesterday'], 'a duration such as 2h'],
  [['--since', '2026-02-31'], 'a duration such as 2h'],
  [['replay', '--since', '1h', '--until', '2h'], '--since must be before --until'],
  [['replai'], 'did you mean "replay"?'],
])('reports wrong use: %j', async (args, words) => {
  const { code, stderr } = await deliveries(...args);
  expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
});

test('a delivery behind an older one of its task shows that, with the next try of the older one', async () => {
  await forgetDeliveries(database);
  await queue(database, [change(1)], ['mail']);
  await queue(database, [change(1, 2)], ['mail']);
  await takeOutboxClaim(database.pool, 'mail', { worker: WORKER, ttlMs: 60_000, now: undefined });
  const [older, newer] = [change(1), change(1, 2)].map((one) => deliveryId('mail', one)) as [string, string];
  await database.pool.query(`update ledger.deliveries set state = 'waiting', verdict = null, ended_at = null,
    due_at = now() + case sequence when 1 then interval '1 h' else interval '-1 h' end`);
  const listed = (await deliveries('--json')).json.deliveries;
  const duesById = new Map(listed.map((one: { id: string; dueAt: string }) => [one.id, one.dueAt]));
  expect([listed.length, duesById.get(newer)]).toEqual([2, duesById.get(older)]);
  const { stdout } = await deliveries();
  expect(stdout).toMatch(new RegExp(`${newer} .* waiting for ${older}, next try `));
  expect(stdout).toMatch(new RegExp(`${older} .* waiting, next try `));
  await disableTarget(database.pool, 'mail', { reason: 'GONE', detail: 'it answered 410', now: undefined });
  expect((await deliveries()).stdout).toMatch(new RegExp(`${newer} .* waiting: the target is disabled`));
  await deliveries('enable', 'mail');
  await database.pool.query(`update ledger.deliveries set state = 'sending' where id = $1`, [older]);
  expect((await deliveries()).stdout).toMatch(new RegExp(`${newer} .* waiting for ${older}, which is being sent\n`));
});
