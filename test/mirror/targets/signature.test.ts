import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import {
  signatureHeaders,
  signingKey,
  verifyBodyDigest,
  verifySharedSecret,
  verifyStandardWebhook,
} from '../../../src/mirror/targets/calls/signature.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OLD_SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const KEY = signingKey(SECRET, 'targets.hook.secret');
const OLD_KEY = signingKey(OLD_SECRET, 'targets.hook.previousSecret');
const NOW = new Date('2026-03-01T12:00:00.700Z');
const BODY = '{"type":"task.completed","data":{"title":"Grüße, 世界 🎉"}}';

/** A genuine call, with what a test changes in it. */
function signed(changes: Record<string, string | undefined> = {}, body = BODY, keys = [KEY]) {
  const headers = signatureHeaders({ id: 'msg_1', timestamp: NOW, body: BODY }, keys);
  return { headers: { ...headers, ...changes }, body: Buffer.from(body) };
}

const later = (seconds: number) => new Date(NOW.getTime() + seconds * 1000);

test('a message is signed as the reference libraries of Standard Webhooks sign theirs', () => {
  // libraries/javascript/src/webhook.test.ts of github.com/standard-webhooks/standard-webhooks, as in its other languages.
  const published = {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: new Date(1_614_265_330_000),
    body: '{"test": 2432232314}',
  };
  expect(signatureHeaders(published, [KEY])).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

test.each([
  ['the new secret', SECRET],
  ['the old secret', OLD_SECRET],
])('during a rotation a receiver with %s accepts a delivery', (_, secret) => {
  const headers = signatureHeaders({ id: 'msg_1', timestamp: new Date(), body: BODY }, [KEY, OLD_KEY]);
  expect(new Webhook(secret).verify(BODY, headers)).toEqual(JSON.parse(BODY));
});

test('a receiver whose secret is any text verifies with its bytes', () => {
  const text = 'correct horse battery staple, again';
  const headers = signatureHeaders({ id: 'msg_1', timestamp: new Date(), body: BODY }, [signingKey(text, 'x')]);
  expect(new Webhook(text, { format: 'raw' }).verify(BODY, headers)).toEqual(JSON.parse(BODY));
});

test.each([
  ['', 0],
  ['23-bytes-long-and-short', 23],
  ['whsec_', 0],
  ['whsec_bm9mMjRieXRlc2xvbmc=', 14],
])('the secret %j is refused for its length, with the remedy and without showing it', (secret, bytes) => {
  expect(() => signingKey(secret, 'targets.hook.secret')).toThrow(
    expect.objectContaining({
      code: 'TARGET_SECRET_SHORT',
      exitCode: 2,
      message: expect.stringMatching(
        `^The signing secret of targets.hook.secret has ${bytes} bytes, but needs at least 24: .*openssl rand -base64 32`,
      ),
    }),
  );
});

test('a secret of 24 bytes is enough, as text and behind whsec_', () => {
  expect(signingKey('24-bytes-long-and-enough', 'x')).toHaveLength(24);
  expect(signingKey(SECRET, 'x')).toHaveLength(24);
});

test('a secret that only looks like base64 behind whsec_ is refused, because no receiver could read it', () => {
  const secret = 'whsec_this is not base64, but long enough';
  expect(() => signingKey(secret, 'targets.hook.secret')).toThrow(
    expect.objectContaining({ code: 'TARGET_SECRET_INVALID', message: expect.not.stringContaining('not base64, but') }),
  );
});

test('a genuine call is accepted with the current or the previous secret, and among other signatures', () => {
  expect(verifyStandardWebhook(signed(), [KEY], NOW)).toEqual({ status: 'genuine' });
  expect(verifyStandardWebhook(signed({}, BODY, [OLD_KEY]), [KEY, OLD_KEY], NOW)).toEqual({ status: 'genuine' });
  const { 'webhook-signature': right } = signed().headers;
  const several = `v1,AAAA v2,${right?.slice(3)} v1a,BBBB ${right}`;
  expect(verifyStandardWebhook(signed({ 'webhook-signature': several }), [KEY], NOW)).toEqual({ status: 'genuine' });
});

test.each([
  ['another body', signed({}, BODY.replace('completed', 'reopened'))],
  ['a byte more', signed({}, `${BODY} `)],
  ['another id', signed({ 'webhook-id': 'msg_2' })],
  ['another timestamp', signed({ 'webhook-timestamp': String(Math.floor(NOW.getTime() / 1000) + 1) })],
  ['a dot moved from the id into the timestamp', signed({ 'webhook-id': 'msg_1.1', 'webhook-timestamp': '1' })],
  ['no id', signed({ 'webhook-id': undefined })],
  ['no timestamp', signed({ 'webhook-timestamp': undefined })],
  ['no signature', signed({ 'webhook-signature': undefined })],
  ['an empty signature', signed({ 'webhook-signature': 'v1,' })],
  ['half a signature', signed({ 'webhook-signature': signed().headers['webhook-signature']?.slice(0, 12) })],
  [
    'the signature of another version',
    signed({ 'webhook-signature': `v2${signed().headers['webhook-signature']?.slice(2)}` }),
  ],
  ['a timestamp that is not a number', signed({ 'webhook-timestamp': 'now' })],
  ['the signature of another secret', signed({}, BODY, [OLD_KEY])],
])('a call with %s is refused with 401', (_, request) => {
  expect(verifyStandardWebhook(request, [KEY], NOW)).toMatchObject({ status: 'refused', httpStatus: 401 });
});

test.each([
  [300, 'genuine'],
  [301, 'refused'],
  [-300, 'genuine'],
  [-301, 'refused'],
])('a call made %i seconds ago is %s', (seconds, status) => {
  expect(verifyStandardWebhook(signed(), [KEY], later(seconds))).toMatchObject({ status });
});

test('without any key nothing is genuine', () => {
  expect(verifyStandardWebhook(signed(), [], NOW)).toMatchObject({ status: 'refused', httpStatus: 401 });
});

test.each([
  ['right', 'a-shared-secret', 'genuine'],
  ['longer', 'a-shared-secret!', 'refused'],
  ['empty', '', 'refused'],
  ['missing', undefined, 'refused'],
])('a shared secret that is %s: %s is %s', (_, given, status) => {
  const request = { headers: { 'x-lockstep-secret': given }, body: Buffer.from('{}') };
  expect(verifySharedSecret(request, ['a-shared-secret'])).toMatchObject({ status });
});

const GITHUB = { header: 'x-hub-signature-256', prefix: 'sha256=' };

test('a signature of GitHub is verified as its documentation shows', () => {
  // https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries#testing-the-webhook-payload-validation
  const documented = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
  const request = { headers: { 'x-hub-signature-256': documented }, body: Buffer.from('Hello, World!') };
  expect(verifyBodyDigest(request, ["It's a Secret to Everybody"], GITHUB)).toEqual({ status: 'genuine' });
});

test.each([
  ['missing', undefined],
  ['of another body', `sha256=${createHmac('sha256', 'secret').update('other').digest('hex')}`],
  ['of SHA-1', `sha1=${createHmac('sha1', 'secret').update('{}').digest('hex')}`],
  ['without its prefix', createHmac('sha256', 'secret').update('{}').digest('hex')],
])('a signature of GitHub that is %s is refused with 401', (_, given) => {
  const request = { headers: { 'x-hub-signature-256': given }, body: Buffer.from('{}') };
  expect(verifyBodyDigest(request, ['secret'], GITHUB)).toMatchObject({ status: 'refused', httpStatus: 401 });
});
