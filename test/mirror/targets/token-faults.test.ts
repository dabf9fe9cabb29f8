/** What vendors and the way to them do while a token is issued. */
import { expect, test } from 'vitest';
import { keptSecretsOf } from '../../../src/mirror/inbound/ledger-secrets.ts';
import { context } from '../../support/item-vendor.ts';
import { anOutcome } from '../../support/matchers.ts';
import {
  appOf,
  clientAt,
  clockAt,
  database,
  PEM,
  processOf,
  read,
  START,
  startApi,
  startAppApi,
  startIssuer,
  startIssuing,
  useLedger,
} from '../../support/token-issuers.ts';

const HOUR_MS = 60 * 60_000;

useLedger();

/** Secrets of a ledger that does not take the next ones. */
function failingSecrets(failures: number) {
  const kept = keptSecretsOf(database.pool, 'outside');
  const ledger = { failures };
  const alone = (async (work) =>
    kept.alone((inside) =>
      work({
        ...inside,
        write: async (...given) => {
          if (ledger.failures-- > 0) throw new Error('the ledger restarts');
          await inside.write(...given);
        },
      }),
    )) as typeof kept.alone;
  return { ledger, secrets: { ...kept, alone } };
}

test.each(['3600', 0, null, '', 'soon', -1, 1e18])(
  'a token whose life is given as %j is used, and its refresh token is not lost',
  async (life) => {
    const { issuer, clock, open } = await startIssuing({ refresh: 'refresh-0' });
    issuer.next(() => {
      issuer.issued.push('canary-access-token');
      issuer.refresh = 'refresh-x';
      return { body: { access_token: 'canary-access-token', expires_in: life, refresh_token: 'refresh-x' } };
    });
    expect(await read(open())).toMatchObject({ status: 'found' });
    clock.set(START + HOUR_MS);
    expect(await read(open())).toMatchObject({ status: 'found' });
    expect(issuer.issued).toHaveLength(2);
  },
);

test('a refresh whose answer was lost is asked for again, and the target waits', async () => {
  const { issuer, open } = await startIssuing({ refresh: 'refresh-0' });
  const target = open();
  issuer.next('lose');
  expect(await read(target)).toMatchObject({ status: 'later', reason: 'BROKEN_OFF' });
  issuer.refresh = 'refresh-0'; // vendors accept the former one for a while
  expect(await read(target)).toMatchObject({ status: 'found' });
});

test.each([400, 401, 403, 404, 407])(
  'a web page with %i of a proxy before the vendor does not disable the target',
  async (status) => {
    const { issuer, open } = await startIssuing();
    const target = open();
    issuer.next({ status, body: '<!DOCTYPE html><title>Blocked</title>' });
    expect(await read(target)).toMatchObject(anOutcome('later', 'UNREADABLE', 'no proxy'));
    expect(await read(target)).toMatchObject({ status: 'found' });
  },
);

test('a refresh is completed when the call that needs it is aborted, because its refresh token is used up', async () => {
  const { issuer, open } = await startIssuing({ refresh: 'refresh-0' });
  const stopping = new AbortController();
  issuer.before = () => stopping.abort();
  const first = open();
  expect(await first.readItem?.('ABC-1', { signal: stopping.signal })).toMatchObject({ reason: 'ABORTED' });
  expect(await read(open())).toMatchObject({ status: 'found' });
  expect(issuer.issued).toHaveLength(1);
});

test('a refresh token that the ledger did not take is stored with the next call', async () => {
  const { issuer, clock, open } = await startIssuing({ refresh: 'refresh-0' });
  const target = open(failingSecrets(1).secrets);
  await expect(read(target)).rejects.toThrow('the ledger restarts');
  expect(await read(target)).toMatchObject({ status: 'found' });
  clock.set(START + HOUR_MS);
  const other = open();
  expect(await read(other)).toMatchObject({ status: 'found' });
  expect(issuer.issued).toHaveLength(2);
});

test('a refresh token that the ledger did not take is kept if the clock was set back before', async () => {
  const { ledger, secrets } = failingSecrets(0);
  const { issuer, clock, open } = await startIssuing({
    refresh: 'refresh-0',
    accepts: (issued) => issued.slice(-1),
    atMs: START + 3 * HOUR_MS,
  });
  const target = open(secrets);
  expect(await read(target)).toMatchObject({ status: 'found' });
  issuer.issued.push('the token of another program');
  for (const hours of [0, 1]) {
    clock.set(START + hours * HOUR_MS);
    ledger.failures = 1;
    await expect(read(target)).rejects.toThrow('the ledger restarts');
  }
  expect(await read(target)).toMatchObject({ status: 'found' });
});

test('no answer of a vendor that issues tokens shows a secret', async () => {
  const issuer = await startIssuer();
  issuer.refresh = 'canary-refresh-77aa';
  const api = await startApi(() => issuer.issued);
  const outcomes = [];
  for (const reply of [
    { body: { error: 'slow_down', access_token: 'canary-access', refresh_token: 'canary-next' } },
    { body: '{"access_token": "canary-access", "refresh_token": "canary-next"' },
  ]) {
    issuer.next(reply);
    outcomes.push(await read(processOf(api, clientAt(issuer, 'canary-refresh-77aa'), () => new Date(START))));
  }
  issuer.next(({ body }) => ({ status: 400, body: { error: 'invalid_request', error_description: `got ${body}` } }));
  outcomes.push(await read(processOf(api, clientAt(issuer, 'canary-refresh-77aa'), () => new Date(START))));
  const form = 'canary%2Bsecret%2F';
  issuer.next({ status: 400, body: { error: 'invalid_request', error_description: `client_secret=${form}` } });
  outcomes.push(await read(processOf(api, clientAt(issuer, 'canary+secret/'), () => new Date(START))));
  expect(outcomes.map((outcome) => outcome?.status)).toEqual(['later', 'later', 'disabled', 'disabled']);
  expect(JSON.stringify(outcomes)).not.toMatch(/canary/);
});

test.each([
  [6, 1],
  [50, 2],
])('a token that the vendor knows only after %i s does not disable the target', async (lagSeconds, issued) => {
  const issuer = await startIssuer();
  const accepted: string[] = [];
  const api = await startApi(() => accepted);
  const clock = clockAt(START);
  const target = processOf(api, clientAt(issuer), clock.now);
  const wait = { reason: 'TOKEN_REFUSED', isLimited: true, retryAfterMs: 5_000 };
  for (let seconds = 0; seconds < lagSeconds; seconds += 8) {
    clock.set(START + seconds * 1000);
    expect(await read(target)).toMatchObject({ status: 'later', ...wait });
  }
  clock.set(START + lagSeconds * 1000);
  accepted.push(...issuer.issued);
  expect(await read(target)).toMatchObject({ status: 'found' });
  expect(issuer.issued).toHaveLength(issued);
});

test('a token that is still valid is used while the vendor issues no other, and the vendor is asked again after a while', async () => {
  const { issuer, clock, open } = await startIssuing();
  const target = open();
  expect(await read(target)).toMatchObject({ status: 'found' });
  clock.set(START + HOUR_MS - 4 * 60_000);
  issuer.next({ status: 503, body: {} });
  for (const _ of [1, 2]) expect(await read(target)).toMatchObject({ status: 'found' });
  expect(issuer.issued).toEqual(['access-token-1']);
  clock.set(START + HOUR_MS - 3 * 60_000);
  expect(await read(target)).toMatchObject({ status: 'found' });
  expect(issuer.issued).toHaveLength(2);
});

test('a token that the ledger did not take is stored with the next use, also while the vendor issues no other', async () => {
  const { issuer, clock, open } = await startIssuing({ refresh: 'refresh-0' });
  const target = open(failingSecrets(1).secrets);
  await expect(read(target)).rejects.toThrow('the ledger restarts');
  clock.set(START + HOUR_MS - 4 * 60_000);
  issuer.next({ status: 503, body: {} });
  expect(await read(target)).toMatchObject({ status: 'found' });
  clock.set(START + 2 * HOUR_MS);
  expect(await read(open())).toMatchObject({ status: 'found' });
  expect(issuer.issued).toHaveLength(2);
});

test('a token that expires before a call with it could end is not used', async () => {
  const { issuer, clock, open } = await startIssuing();
  const target = open();
  expect(await read(target)).toMatchObject({ status: 'found' });
  clock.set(START + HOUR_MS - 30_000);
  issuer.next({ status: 503, body: {} });
  expect(await read(target)).toMatchObject({ status: 'later', reason: 'SERVER_ERROR' });
});

test('one refusal of a good token, however young, costs another token and not the target', async () => {
  const { issuer, api, clock, open } = await startIssuing();
  const target = open();
  expect(await read(target)).toMatchObject({ status: 'found' });
  clock.set(START + 20_000);
  api.next({ status: 401, body: {} });
  expect(await read(target)).toMatchObject({ status: 'found' });
  expect(issuer.issued).toHaveLength(2);
});

test.each([1, 180])(
  'a token that was issued while the clock was %i minutes ahead is replaced as soon as it is refused',
  async (minutes) => {
    const { issuer, clock, open } = await startIssuing({
      refresh: 'refresh-0',
      accepts: (issued) => issued.slice(-1),
      atMs: START + minutes * 60_000,
    });
    const target = open();
    expect(await read(target)).toMatchObject({ status: 'found' });
    clock.set(START);
    issuer.issued.push('the token of another program');
    for (const _ of [1, 2]) expect(await read(target)).toMatchObject({ status: 'found' });
    expect(issuer.issued).toHaveLength(3);
  },
);

test.each(['invalid_grant', 'bad_refresh_token'])(
  'a vendor that refuses a token with %s and the status 200 disables the target',
  async (error) => {
    const { issuer, open } = await startIssuing({ refresh: 'refresh-0' });
    issuer.next({ body: { error, error_description: 'The refresh token is revoked.' } });
    expect(await read(open())).toMatchObject(
      anOutcome(
        'disabled',
        'TOKEN_REFUSED',
        `issues no token: HTTP 200: ${error} (The refresh token is revoked.); authorise`,
      ),
    );
  },
);

test.each([
  [400, 'temporarily_unavailable', ''],
  [403, 'server_error', ''],
  [200, 'slow_down', ''],
  [400, 'Access Denied', ' (You have made too many requests continuously. Please try again after some time.)'],
])('a failure of the vendor itself, told by HTTP %i and %s, passes', async (status, error, description) => {
  const { issuer, open } = await startIssuing();
  const target = open();
  issuer.next({ status, body: { error, error_description: description.slice(2, -1) } });
  const detail = `Atlassian issues no token: HTTP ${status}: ${error}${description}`;
  expect(await read(target)).toMatchObject({ status: 'later', reason: 'SERVER_ERROR', detail });
  expect(await read(target)).toMatchObject({ status: 'found' });
});

test('asks for a new token when a target is enabled right after its tokens were refused', async () => {
  const issuer = await startIssuer();
  let isAllowed = false;
  const api = await startApi(() => (isAllowed ? issuer.issued.slice(2) : []));
  const clock = clockAt(START);
  const target = processOf(api, clientAt(issuer), clock.now);
  const other = processOf(api, clientAt(issuer), clock.now);
  const outcomes = [];
  for (const seconds of [0, 6, 70]) {
    clock.set(START + seconds * 1000);
    outcomes.push(await read(target), await read(other));
  }
  expect(outcomes.map((outcome) => outcome?.status)).toEqual([
    'later',
    'later',
    'later',
    'later',
    'disabled',
    'disabled',
  ]);
  expect(issuer.issued).toHaveLength(2);
  isAllowed = true;
  expect([await read(other), await read(target)]).toMatchObject([{ status: 'found' }, { status: 'found' }]);
  expect(issuer.issued).toHaveLength(3);
});

test.each([-30, 30, 600])(
  'an app whose clock is %i minutes from that of GitHub gets its token, and keeps it for an hour',
  async (minutes) => {
    const api = await startAppApi();
    const clock = clockAt(START + minutes * 60_000);
    const target = processOf(api, appOf(PEM), clock.now);
    await target.check?.(context());
    expect(api.requests.at(-1)?.headers.authorization).toBe('Bearer ghs_installation');
    const asked = () => api.requests.filter(({ method }) => method === 'POST').length;
    const before = asked();
    clock.set(START + (minutes + 50) * 60_000);
    await target.check?.(context());
    expect(asked()).toBe(before);
    clock.set(START + (minutes + 58) * 60_000);
    api.serverTime = new Date(START + 58 * 60_000);
    await target.check?.(context());
    expect(asked()).toBeGreaterThan(before);
  },
);
