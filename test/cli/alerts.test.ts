import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { disableTarget } from '../../src/mirror/outbox/target-states.ts';
import { reportChanges } from '../../src/operator/alerts/report-changes.ts';
import { FAILED_RUN } from '../operator/alerts/failed-run.ts';
import { settingsOf } from '../settings/problems-in.ts';
import { freshDatabase } from '../support/database.ts';
import { startHttpServer, type TestServer } from '../support/http-server.ts';
import { command, databaseUrl, scratchFolders } from './command.ts';

const folder = scratchFolders();
let chat: TestServer;
const database = await freshDatabase();
beforeEach(async () => {
  chat = await startHttpServer(({ path: at }) =>
    at === '/gone' ? { status: 404, body: 'no_service' } : { status: 200, body: 'ok' },
  );
});
afterEach(() => chat.close());
afterAll(() => database.close());

const SETTINGS = `
accounts: { acme: {} }
syncs: { nightly: { type: contacts, account: acme } }
alerts:
  chat: { type: slack, url: { env: CHAT }, allowPrivate: true }
  team: { type: slack, url: { env: TEAM }, allowPrivate: true, events: [run-failed] }
`;

async function lockstep(args: readonly string[], more: Readonly<Record<string, string>> = {}, text = SETTINGS) {
  const cwd = await folder();
  await writeFile(path.join(cwd, 's.yaml'), text);
  const env = { DATABASE_URL: databaseUrl(database.connection), CHAT: chat.url, TEAM: `${chat.url}/gone`, ...more };
  return command([...args, '--config', 's.yaml'], { cwd, env });
}

describe('lockstep alerts', () => {
  test('lists the channels and the open alerts', async () => {
    const { pool } = database;
    const complete = (args: string) => `lockstep ${args}`;
    await reportChanges(pool, [FAILED_RUN], { channels: settingsOf(SETTINGS).alerts, complete });
    await pool.query(
      `update ledger.deliveries set state = 'ended', verdict = 'delivered', ended_at = '2026-11-21T02:01:00Z' where target = 'alerts.chat'`,
    );
    await disableTarget(pool, 'alerts.team', { reason: 'GONE', detail: 'HTTP 404', now: undefined });
    const { code, stdout } = await lockstep(['alerts']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/chat +slack +all +all +2026-11-2\d [\d:]+ UTC +ok\n/);
    expect(stdout).toMatch(/team +slack +run-failed +all +never +disabled\n/);
    expect(stdout).toMatch(/alerts\.team: HTTP 404\n +lockstep deliveries enable alerts\.team --config s\.yaml/);
    expect(stdout).toMatch(/Open alerts\n +nightly: run failed, since /);

    const { channels, open } = (await lockstep(['alerts', '--json'])).json;
    expect(channels).toMatchObject([
      { name: 'chat', waiting: 0, disabled: false, problem: null },
      { name: 'team', waiting: 1, disabled: true, problem: 'HTTP 404', lastSentAt: null },
    ]);
    expect(open).toMatchObject([
      { event: 'run-failed', sync: 'nightly', command: 'lockstep runs show run-1', goneAt: null },
    ]);

    await reportChanges(pool, [], { channels: settingsOf(SETTINGS).alerts, complete });
    const gone = (await lockstep(['alerts'])).stdout;
    expect(gone).toMatch(/run failed, since .*; gone at 2\d{3}-/);
    expect(gone).toContain('reported as recovered if it does not return within five minutes');

    const listed = await lockstep(['deliveries', '--target', 'alerts.team']);
    expect(listed.stdout).toMatch(
      /alerts\.team +alert:run-failed:nightly #\d+ +opened .* waiting: the target is disabled/,
    );
    const [id = ''] = /msg_\S+/.exec(listed.stdout) ?? [];
    expect((await lockstep(['deliveries', 'show', id])).stdout).toContain('"nightly: run failed", opened');
    expect((await lockstep(['deliveries', 'enable', 'alerts.team'])).stdout).toContain('alerts.team is enabled.');
    expect((await lockstep(['deliveries', 'enable', 'alerts.nope'])).stderr).toContain('No channel named "nope"');
  });

  test('shows a command of an alert with the settings file of the process that reported it', async () => {
    const suspended = {
      ...FAILED_RUN,
      subject: 'other',
      sync: 'other',
      why: 'failed: `lockstep accounts resume acme`',
    };
    const complete = (args: string) => `lockstep ${args} --config /etc/s.yaml`;
    await reportChanges(database.pool, [suspended], { channels: settingsOf(SETTINGS).alerts, complete });
    const { stdout } = await lockstep(['alerts']);
    expect(stdout).toContain('`lockstep accounts resume acme --config /etc/s.yaml`');
  });

  test('says so if there is no channel', async () => {
    const { stdout } = await lockstep(['alerts'], {}, 'accounts: { acme: {} }');
    expect(stdout).toContain('no channel under alerts, so nothing is reported');
  });
});

describe('lockstep alerts test', () => {
  test('sends a test through each channel, and names what is wrong with each that refuses', async () => {
    const { code, stdout } = await lockstep(['alerts', 'test']);
    expect(code).toBe(1);
    expect(stdout).toContain('chat: delivered\n');
    expect(stdout).toMatch(/team: not delivered: HTTP 404 \(no_service\): .*alerts\.team\.url/);
    expect(chat.requests.map(({ body }) => JSON.parse(body).text)).toContain(
      '*Lockstep: test*\nThis is a test. Alerts of Lockstep arrive here.',
    );
  });

  test('sends through one channel, and exits with 0 if it accepted the message', async () => {
    const { code, json } = await lockstep(['alerts', 'test', 'chat', '--json']);
    expect([code, json]).toEqual([0, { channels: [{ name: 'chat', sent: true, reason: null, detail: null }] }]);
    expect(chat.requests).toHaveLength(1);
  });

  test('names a missing secret, an unknown channel, and settings without channels', async () => {
    const { code, stdout } = await lockstep(['alerts', 'test', 'chat'], { CHAT: '' });
    expect(code).toBe(1);
    expect(stdout).toContain('The secret for alerts.chat.url is missing');
    const unknown = await lockstep(['alerts', 'test', 'chatt']);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('did you mean "chat"')]);
    const none = await lockstep(['alerts', 'test'], {}, 'accounts: { acme: {} }');
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('has no channel under alerts')]);
  });
});
