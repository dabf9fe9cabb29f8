import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import type { HookRequest } from '../../../src/contract/target.ts';
import { signatureHeaders, signingKey } from '../../../src/mirror/targets/calls/signature.ts';
import { Hidden } from '../../../src/settings/hidden.ts';
import { startHttpServer } from '../../support/http-server.ts';
import { OLD_SECRET, previousSecret, SECRET, webhookTargets } from './webhook-targets.ts';

const { track, openTarget, deliverTo } = webhookTargets();

test('secrets of the settings and of the URL are in no outcome, though the receiver echoes all it was sent', async () => {
  const echo = track(
    await startHttpServer(({ method, path, query, headers, body }) => ({
      status: 500,
      body: [SECRET, OLD_SECRET, method, `${path}?${query}`, decodeURIComponent(path), headers, body],
    })),
  );
  const url = `${echo.url}/services/canary%2Dpath/T0?token=canary-query`;
  const outcomes = [
    await deliverTo(url, { previousSecret }),
    await deliverTo(url, { previousSecret, allowPrivate: false }),
    await deliverTo(url.replace('http:', 'https:'), { previousSecret }),
  ];
  expect(outcomes.map(({ status }) => status)).toEqual(['later', 'disabled', 'later']);
  expect(outcomes[0]?.answer?.text).toMatch(/POST.*webhook-id/);
  for (const secret of ['canary', SECRET, OLD_SECRET]) expect(JSON.stringify(outcomes)).not.toContain(secret);
});

test('no way of looking at a target shows its secret', async () => {
  const secret = { from: 'literal', value: new Hidden(SECRET), where: 'targets.hook.secret' } as const;
  const target = await openTarget('http://127.0.0.1:9/canary-path-of-the-hook', { secret });
  const shown = inspect(target, { depth: 9, showHidden: true }) + JSON.stringify(target);
  for (const text of ['canary', SECRET, SECRET.slice(6)]) expect(shown).not.toContain(text);
});

/** A call back, signed with `key` at `at`. */
function hook(body: string, key = signingKey(SECRET, ''), at = new Date()): HookRequest {
  return { headers: signatureHeaders({ id: 'msg_9', timestamp: at, body }, [key]), body: Buffer.from(body) };
}

test.each([
  ['{"data":{"task":{"id":"12","isCompleted":true}}}', [{ itemId: '12', isCompleted: true, status: 'completed' }]],
  [
    '{"type":"x","data":{"task":{"id":7,"isCompleted":false,"a":1}}}',
    [{ itemId: '7', isCompleted: false, status: 'open' }],
  ],
  [
    '{"data":{"task":{"id":12345678901234567891,"isCompleted":true}}}',
    [{ itemId: '12345678901234567891', isCompleted: true, status: 'completed' }],
  ],
  ['{"type":"ping","data":{}}', []],
  ['{"type":"ping"}', []],
  ['[]', []],
])('a genuine call back is read: %s', async (body, items) => {
  const target = await openTarget('http://127.0.0.1:9');
  expect(await target.readHook?.(hook(body), new Date())).toEqual({ status: 'accepted', items, id: 'msg_9' });
});

test('a call back that is signed with the previous secret is genuine as well', async () => {
  const target = await openTarget('http://127.0.0.1:9', { previousSecret });
  const request = hook('{}', signingKey(OLD_SECRET, ''));
  expect(await target.readHook?.(request, new Date())).toEqual({ status: 'accepted', items: [], id: 'msg_9' });
});

test.each([
  ['no JSON', 'completed'],
  ['nothing', ''],
  ['a task without an id', '{"data":{"task":{"isCompleted":true}}}'],
  ['a task without its state', '{"data":{"task":{"id":"12"}}}'],
  ['a state in words', '{"data":{"task":{"id":"12","isCompleted":"yes"}}}'],
  ['no task but null', '{"data":{"task":null}}'],
])('a genuine call back that holds %s is refused with 400', async (_, body) => {
  const target = await openTarget('http://127.0.0.1:9');
  expect(await target.readHook?.(hook(body), new Date())).toMatchObject({ status: 'refused', httpStatus: 400 });
});

test('a call back that is not genuine is refused with 401 and not read', async () => {
  const target = await openTarget('http://127.0.0.1:9');
  const forged = hook('no JSON', signingKey(OLD_SECRET, ''));
  expect(await target.readHook?.(forged, new Date())).toMatchObject({ status: 'refused', httpStatus: 401 });
  const unsigned = { headers: {}, body: Buffer.from('{}') };
  expect(await target.readHook?.(unsigned, new Date())).toMatchObject({ status: 'refused', httpStatus: 401 });
  const old = hook('{}', undefined, new Date(Date.now() - 301_000));
  expect(await target.readHook?.(old, new Date())).toMatchObject({ status: 'refused', httpStatus: 401 });
});
