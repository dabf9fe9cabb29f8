/** Webhooks that Lockstep sets up at vendors, and the calls of Asana, whose hooks begin with a handshake. */
import { createHmac } from 'node:crypto';
import { afterAll, afterEach, expect, test } from 'vitest';
import type { HookAdmin, Target } from '../../../src/contract/target.ts';
import { keptSecretsOf } from '../../../src/mirror/inbound/ledger-secrets.ts';
import { openAsana } from '../../../src/mirror/targets/asana/asana.ts';
import { openGithub } from '../../../src/mirror/targets/github/github.ts';
import { openJira } from '../../../src/mirror/targets/jira/jira.ts';
import { openLinear } from '../../../src/mirror/targets/linear/linear.ts';
import { openTodoist } from '../../../src/mirror/targets/todoist/todoist.ts';
import { arrangeHook, type HookWish, hookAddress, listHooks } from '../../../src/operator/target-hooks.ts';
import type { SettingsOf } from '../../../src/settings/schema-target.ts';
import { openConsole } from '../../console/open-console.ts';
import { freshLedger } from '../../engine/ledger/fresh-ledger.ts';
import {
  type AdminStandin,
  startAsanaPlaces,
  startGithubPlaces,
  startLinearPlaces,
} from '../../support/admin-standins.ts';
import { asanaSettings } from '../../support/asana-standin.ts';
import { githubSettings } from '../../support/github-standin.ts';
import { context, HOOK_SECRET, needsOf, secretRef } from '../../support/item-vendor.ts';
import { jiraSettings } from '../../support/jira-standin.ts';
import { linearSettings } from '../../support/linear-standin.ts';
import { anError } from '../../support/matchers.ts';
import { todoistSettings } from '../../support/todoist-standin.ts';

let vendor: AdminStandin | undefined;
const opened: Target[] = [];

const database = await freshLedger();
const targets = { open: async () => openAsanaTarget() };
const web = await openConsole({ database, names: () => ['tasks'], targets });
afterEach(async () => {
  for (const target of opened.splice(0)) await target.close();
  await vendor?.close();
  expect(vendor?.complaints ?? []).toEqual([]);
  vendor = undefined;
  await database.pool.query('truncate ledger.kept_secrets, ledger.item_reports, ledger.hooks_seen');
});
afterAll(async () => {
  await web.close();
  await database.close();
});

function keep(target: Target): Target {
  opened.push(target);
  return target;
}

function openAsanaTarget(given: Partial<SettingsOf<'asana'>> = {}): Target {
  const hookSecret = secretRef(HOOK_SECRET, 'targets.tasks.hookSecret');
  const needs = { ...needsOf(vendor ?? { url: 'http://127.0.0.1:9' }), now: () => new Date() };
  const kept = keptSecretsOf(database.pool, 'tasks');
  return openAsana(asanaSettings({ name: 'tasks', hookSecret, ...given }), { ...needs, kept });
}

function adminOf({ hooks }: Target): HookAdmin {
  if (hooks === undefined || 'byHand' in hooks) throw new Error('these hooks are made by hand');
  return hooks;
}

const WISH = { target: 'tasks', isRemoval: false, isRenewal: false, dryRun: false };
const URL_OF_TASKS = 'https://lockstep.example/hooks/tasks';
const arrange = (target: Target, more: Partial<HookWish> = {}) =>
  arrangeHook(adminOf(target), database.pool, { ...WISH, url: URL_OF_TASKS, ...more }, context());

test.each<[string, () => Promise<AdminStandin>, (at: AdminStandin) => Target]>([
  ['GitHub', startGithubPlaces, (at) => openGithub(githubSettings(), needsOf(at))],
  ['Linear', startLinearPlaces, (at) => openLinear(linearSettings(), needsOf(at))],
])('%s: a hook is made once, set up again, and removed', async (_, start, open) => {
  vendor = await start();
  const { hooks } = vendor;
  const target = keep(open(vendor));
  expect(await arrange(target, { dryRun: true })).toMatchObject([{ action: 'created' }]);
  expect(hooks).toEqual([]);
  expect(await arrange(target)).toMatchObject([{ action: 'created', url: URL_OF_TASKS }]);
  Object.assign(hooks[0] ?? {}, { active: false, secret: 'stale' });
  expect(await listHooks(adminOf(target), 'tasks', context())).toMatchObject([{ problem: 'it is disabled' }]);
  expect(await arrange(target)).toMatchObject([{ action: 'updated', url: URL_OF_TASKS }]);
  expect(hooks).toMatchObject([{ url: URL_OF_TASKS, active: true, secret: HOOK_SECRET }]);
  await arrange(target, { url: 'https://another.example/hooks/tasks' });
  expect(hooks).toHaveLength(2);
  expect(await arrange(target, { isRemoval: true })).toMatchObject([{ action: 'removed' }]);
  expect(hooks.map(({ url }) => url)).toEqual(['https://another.example/hooks/tasks']);
  await expect(arrange(target, { isRemoval: true })).rejects.toMatchObject({ code: 'HOOK_UNKNOWN', exitCode: 2 });
});

test('two commands at the same moment set up one hook', async () => {
  vendor = await startGithubPlaces();
  const target = keep(openGithub(githubSettings(), needsOf(vendor)));
  const steps = await Promise.all([arrange(target), arrange(target), arrange(target)]);
  const actions = steps.flatMap((each) => each.map(({ action }) => action));
  expect(actions.toSorted()).toEqual(['created', 'updated', 'updated']); // any may be the first
  expect(vendor.hooks).toHaveLength(1);
});

test('GitHub: a hook whose secret is stale is recognised by the answer to its last call, and doubled hooks become one', async () => {
  vendor = await startGithubPlaces();
  const { hooks } = vendor;
  hooks.push({ id: 1, url: URL_OF_TASKS, secret: 'stale', active: true, lastCode: 401 });
  hooks.push({ id: 2, url: 'https://Lockstep.example/hooks/tasks/', secret: 'stale', active: true });
  const target = keep(openGithub(githubSettings(), needsOf(vendor)));
  const [stale] = await listHooks(adminOf(target), 'tasks', context());
  expect(stale?.problem).toMatch(/refused: its secret is not the hookSecret/);
  expect(await arrange(target)).toMatchObject([{ action: 'updated' }, { action: 'removed' }]);
  expect(hooks).toMatchObject([{ id: 1, secret: HOOK_SECRET }]);
});

test.each([404, 403])('GitHub: a token that may not see webhooks is refused with what it needs: %i', async (status) => {
  vendor = await startGithubPlaces();
  vendor.next({ status, body: { message: 'Not for this token' } });
  const target = keep(openGithub(githubSettings(), needsOf(vendor)));
  const said = new RegExp(`HTTP ${status}: Not for this token.*Webhooks: read and write.*admin:repo_hook`);
  await expect(arrange(target)).rejects.toMatchObject(anError('HOOK_FAILED', said));
  expect(vendor.hooks).toEqual([]);
});

test('GitHub: a call without a final answer is reported with what to do', async () => {
  vendor = await startGithubPlaces();
  vendor.next({ status: 503, body: {} });
  const target = keep(openGithub(githubSettings(), needsOf(vendor)));
  await expect(arrange(target)).rejects.toThrow(/HTTP 503.*\. Run the same command again: it looks first at what is/);
});

test('GitHub: without a repo in the settings, the command asks for it and calls nothing', async () => {
  vendor = await startGithubPlaces();
  const target = keep(openGithub(githubSettings({ repo: undefined, create: false }), needsOf(vendor)));
  await expect(arrange(target)).rejects.toThrow(/targets\.outside has no repo, and a webhook belongs to a repository/);
});

test('Linear: a token that may not manage webhooks is refused with what it needs', async () => {
  vendor = await startLinearPlaces({ isAdmin: false });
  const target = keep(openLinear(linearSettings(), needsOf(vendor)));
  await expect(arrange(target)).rejects.toMatchObject(anError('HOOK_FAILED', /a token of an administrator/));
});

test.each<[string, () => Promise<AdminStandin>, (at: AdminStandin) => Target]>([
  ['GitHub', startGithubPlaces, (at) => openGithub(githubSettings(), needsOf(at))],
  ['Linear', startLinearPlaces, (at) => openLinear(linearSettings(), needsOf(at))],
  ['Asana', startAsanaPlaces, () => openAsanaTarget()],
])('%s: no answer that refuses a call is a hook that was made or removed', async (_, start, open) => {
  vendor = await start();
  const { hooks } = vendor;
  const target = keep(open(vendor));
  const url = `${web.url}/hooks/tasks`;
  const calls = async (wish: Partial<HookWish>) => {
    const before = vendor?.requests.length ?? 0;
    await arrange(target, { url, ...wish });
    return (vendor?.requests.length ?? 0) - before;
  };
  const wishes: readonly Partial<HookWish>[] = [{}, {}, { isRemoval: true }]; // the second finds what the first has made
  const counts: number[] = [];
  for (const wish of wishes) counts.push(await calls(wish));
  for (const [index, wish] of wishes.entries()) {
    if (index > 0 && hooks.length === 0) await arrange(target, { url });
    for (const status of [400, 401, 403, 404, 422, 500]) {
      let sent = 0;
      vendor.next({ status, body: {} }, () => ++sent === counts[index]); // the last call, which changes something
      const wanted = hooks.length;
      await expect(arrange(target, { url, ...wish })).rejects.toMatchObject({ code: 'HOOK_FAILED', exitCode: 3 });
      expect(hooks).toHaveLength(wanted);
    }
  }
});

test('a hook without a hookSecret in the settings is not made', async () => {
  vendor = await startGithubPlaces();
  const target = keep(openGithub(githubSettings({ hookSecret: undefined }), needsOf(vendor)));
  await expect(arrange(target)).rejects.toThrow(/SECRET_MISSING: targets.outside has no hookSecret/);
  expect(vendor.hooks).toEqual([]);
});

test('Jira and Todoist: a person is shown what to enter, with the address and without a secret', async () => {
  const needs = needsOf({ url: 'http://127.0.0.1:9' });
  for (const target of [keep(openJira(jiraSettings(), needs)), keep(openTodoist(todoistSettings(), needs))]) {
    const { hooks } = target;
    const text = hooks && 'byHand' in hooks ? hooks.byHand(URL_OF_TASKS).join('\n') : '';
    expect(text).toContain(URL_OF_TASKS);
    expect(text).toContain('the hookSecret of targets.outside');
    expect(text).not.toContain(HOOK_SECRET);
  }
});

test.each([
  ['https://lockstep.example', URL_OF_TASKS],
  ['https://lockstep.example/', URL_OF_TASKS],
  ['https://lockstep.example/hooks/tasks', URL_OF_TASKS],
  ['https://example.com/lockstep', 'https://example.com/lockstep/hooks/tasks'],
])('the address at %s is %s', (base, address) => expect(hookAddress(base, 'tasks')).toBe(address));

const post = (headers: Record<string, string>, body = '') =>
  fetch(`${web.url}/hooks/tasks`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });

function signed(events: readonly object[], secret: string): [Record<string, string>, string] {
  const body = JSON.stringify({ events });
  return [{ 'x-hook-signature': createHmac('sha256', secret).update(body).digest('hex') }, body];
}

const completion = (gid: string) => ({
  action: 'changed',
  resource: { gid, resource_type: 'task' },
  change: { field: 'completed', action: 'changed' },
  created_at: new Date().toISOString(),
});

async function establish(more: Partial<HookWish> = {}) {
  const target = keep(openAsanaTarget());
  return arrange(target, { url: `${web.url}/hooks/tasks`, ...more });
}

const reports = async () =>
  (await database.pool.query('select item_id, is_completed, state from ledger.item_reports order by 1')).rows;

test('Asana: the handshake is answered while the hook is made, and its calls are then accepted', async () => {
  vendor = await startAsanaPlaces();
  expect(await establish()).toMatchObject([{ action: 'created' }]);
  const secret = vendor.hooks[0]?.secret ?? '';
  const other = { ...completion('1300'), change: { field: 'due_on', action: 'changed' } };
  const odd = { action: 'changed', resource: null };
  const response = await post(
    ...signed([completion('1200'), completion('1201'), completion('1200'), other, odd], secret),
  );
  expect([response.status, await response.json()]).toEqual([200, { status: 'accepted', items: 2 }]);
  // The calls do not say the state, so it has to be read.
  expect(await reports()).toEqual([
    { item_id: '1200', is_completed: null, state: 'waiting' },
    { item_id: '1201', is_completed: null, state: 'waiting' },
  ]);
  expect((await post(...signed([], secret))).status).toBe(200); // a sign of life
  expect((await post(...signed([completion('1202')], `${secret}0`))).status).toBe(401);
  expect(await reports()).toHaveLength(2);
});

test('Asana: the secret is stored encrypted, and a hook that works is kept', async () => {
  vendor = await startAsanaPlaces();
  await establish();
  const secret = vendor.hooks[0]?.secret ?? '';
  const { rows } = await database.pool.query<{ kind: string; sealed: Buffer }>('select * from ledger.kept_secrets');
  expect(rows.map(({ kind }) => kind)).toEqual(['hook']);
  expect(rows[0]?.sealed.toString('latin1')).not.toContain(secret);
  await establish();
  expect(vendor.hooks).toMatchObject([{ id: 900 }]);
  expect(await establish({ isRenewal: true })).toMatchObject([{ action: 'replaced' }]);
  expect(vendor.hooks).toHaveLength(1);
  expect((await post(...signed([completion('1200')], secret))).status).toBe(401); // of the former hook
});

test('Asana: a handshake that no one has asked for is refused, also for a hook that is set up, and changes nothing', async () => {
  const replay = { 'x-hook-secret': 'attackers-secret-of-some-length' };
  expect((await post(replay)).status).toBe(401);
  vendor = await startAsanaPlaces();
  await establish();
  const again = await post(replay);
  expect([again.status, again.headers.get('x-hook-secret')]).toEqual([401, null]);
  expect((await post(...signed([completion('1200')], 'attackers-secret-of-some-length'))).status).toBe(401);
  expect((await post(...signed([completion('1200')], vendor.hooks[0]?.secret ?? ''))).status).toBe(200);
});

test('Asana: without a known secret no call is accepted, not even one signed with an empty one', async () => {
  expect((await post(...signed([completion('1200')], ''))).status).toBe(401);
  vendor = await startAsanaPlaces();
  await establish();
  const changed = keep(openAsanaTarget({ hookSecret: secretRef('another-hook-secret-of-24-bytes') }));
  const [hook] = await listHooks(adminOf(changed), 'tasks', context());
  expect(hook?.problem).toMatch(/secret is not stored here.*renew it/);
  expect(await arrange(changed, { url: `${web.url}/hooks/tasks` })).toMatchObject([{ action: 'updated' }]);
  expect(vendor.hooks).toMatchObject([{ id: 900 }]);
});

test('Asana: one hook at a time is accepted, the last that was made; removing another one leaves its secret', async () => {
  vendor = await startAsanaPlaces();
  const { hooks } = vendor;
  const first = { url: `${web.url}/hooks/tasks?first` };
  await establish(first);
  await establish();
  const target = keep(openAsanaTarget());
  const states = await listHooks(adminOf(target), 'tasks', context());
  expect(states.map(({ problem }) => problem === undefined)).toEqual([false, true]);
  const [former, present] = hooks.map(({ secret }) => secret);
  expect((await post(...signed([completion('1200')], former ?? ''))).status).toBe(401);
  await establish({ ...first, isRemoval: true });
  expect((await post(...signed([completion('1200')], present ?? ''))).status).toBe(200);
  await establish({ isRemoval: true });
  expect((await post(...signed([completion('1201')], present ?? ''))).status).toBe(401);
});

test('Asana: an address that does not answer the handshake makes no hook, and ends the wait for one', async () => {
  vendor = await startAsanaPlaces();
  const nowhere = { url: `${web.url}/elsewhere/hooks/tasks` };
  await expect(establish(nowhere)).rejects.toThrow(/handshake.*has to lead to a running lockstep start/);
  const { rows } = await database.pool.query('select kind from ledger.kept_secrets');
  expect([vendor.hooks, rows]).toEqual([[], []]);
});
