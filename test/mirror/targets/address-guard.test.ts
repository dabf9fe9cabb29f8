import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { addressProblem, guardedLookup, hostProblem } from '../../../src/mirror/targets/calls/address-guard.ts';
import { openCaller, type TargetCaller } from '../../../src/mirror/targets/calls/caller.ts';
import { freeBudget } from '../../support/free-budget.ts';
import { startHttpServer, type TestServer } from '../../support/http-server.ts';

const PUBLIC = '93.184.216.34';
let server: TestServer;
let caller: TargetCaller | undefined;

beforeEach(async () => {
  server = await startHttpServer({ status: 200 });
});

afterEach(async () => {
  await caller?.close();
  await server.close();
});

/** A name server that answers each question with the next of `answers`, and then always with the last one. */
function nameServer(...answers: string[][]) {
  let questions = 0;
  const lookup: LookupFunction = (_, __, callback) => {
    const addresses = answers[Math.min(questions++, answers.length - 1)] ?? [];
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
  return { lookup, questions: () => questions };
}

function ask(lookup: LookupFunction): Promise<readonly LookupAddress[]> {
  return new Promise((resolve, reject) => {
    lookup('hook.example', { all: true }, (error, found) => {
      if (error) reject(error);
      else resolve(typeof found === 'string' ? [{ address: found, family: 4 }] : found);
    });
  });
}

/** One call to `host` at the port of the test's server. */
async function call(host: string, options: { allowPrivate?: boolean; lookup?: LookupFunction } = {}) {
  const { allowPrivate = false, lookup } = options;
  caller = openCaller({
    name: 'hook',
    baseUrl: `http://${host}:${new URL(server.url).port}`,
    allowPrivate,
    timeoutMs: 5_000,
    take: (signal) => freeBudget().take({ lane: 'batch', signal }),
    ...(lookup !== undefined && { lookup }),
  });
  return caller.send({ method: 'POST', path: '/', headers: {} }, { signal: new AbortController().signal });
}

test.each([
  ['0.0.0.0', 'this network'],
  ['0.1.2.3', 'this network'],
  ['10.0.0.1', 'a private network'],
  ['10.255.255.255', 'a private network'],
  ['100.64.0.1', "a provider's shared network"],
  ['100.100.100.200', "a provider's shared network"],
  ['100.127.255.255', "a provider's shared network"],
  ['127.0.0.1', 'this machine'],
  ['127.255.255.254', 'this machine'],
  ['168.63.129.16', "a cloud's metadata"],
  ['169.254.0.1', 'link-local'],
  ['169.254.169.254', "a cloud's metadata"],
  ['172.16.0.1', 'a private network'],
  ['172.31.255.255', 'a private network'],
  ['192.0.0.192', 'reserved'],
  ['192.0.2.1', 'for documentation'],
  ['192.88.99.1', 'reserved'],
  ['192.168.1.1', 'a private network'],
  ['198.18.0.1', 'for benchmarks'],
  ['198.19.255.255', 'for benchmarks'],
  ['198.51.100.1', 'for documentation'],
  ['203.0.113.1', 'for documentation'],
  ['224.0.0.1', 'multicast'],
  ['239.255.255.255', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.255', 'reserved'],
  ['::', 'reserved'],
  ['::1', 'this machine'],
  ['0:0:0:0:0:0:0:1', 'this machine'],
  ['::127.0.0.1', 'reserved'],
  ['::8.8.8.8', 'reserved'],
  ['::ffff:127.0.0.1', 'an IPv4 address inside an IPv6 address'],
  ['::ffff:a9fe:a9fe', 'an IPv4 address inside an IPv6 address'],
  ['::ffff:8.8.8.8', 'an IPv4 address inside an IPv6 address'],
  ['::ffff:0:127.0.0.1', 'reserved'],
  ['64:ff9b::127.0.0.1', 'an IPv4 address inside an IPv6 address'],
  ['64:ff9b:1::1', 'reserved'],
  ['100::1', 'reserved'],
  ['2001::1', 'an IPv4 address inside an IPv6 address'],
  ['2001:20::1', 'reserved'],
  ['2001:db8::1', 'for documentation'],
  ['2002:7f00:1::', 'an IPv4 address inside an IPv6 address'],
  ['3fff::1', 'for documentation'],
  ['5f00::1', 'reserved'],
  ['fc00::1', 'a private network'],
  ['fd00:ec2::254', 'a private network'],
  ['fe80::1', 'link-local'],
  ['fe80::1%eth0', 'link-local'],
  ['fec0::1', 'a private network'],
  ['ff02::1', 'multicast'],
  ['localhost', 'not an address'],
  ['', 'not an address'],
])('the address %s is refused: it is %s', (address, problem) => {
  expect(addressProblem(address)).toBe(problem);
});

test.each([
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '169.253.255.255',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2606:4700:4700::1111',
  '2001:4860:4860::8888',
  '2a00:1450:4001::1',
])('the address %s is public', (address) => {
  expect(addressProblem(address)).toBeUndefined();
});

test.each([
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '017700000001',
  '127.0.0.1.',
  '①②⑦.⓪.⓪.①',
  '%31%32%37.0.0.1',
  '0',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
])('nothing connects to %s, however it is written', async (host) => {
  expect(hostProblem(new URL(`http://${host}/`))).toBeDefined();
  expect(await call(host)).toMatchObject({ status: 'failed', failure: { reason: 'ADDRESS_REFUSED' } });
  expect(server.connections()).toBe(0);
});

test('a name that is this machine is refused in the lookup of the connection', async () => {
  expect(await call('localhost')).toEqual({
    status: 'failed',
    failure: {
      status: 'disabled',
      reason: 'ADDRESS_REFUSED',
      detail: `POST http://localhost:${new URL(server.url).port}: not sent: the host name has an address that is this machine; set allowPrivate: true for this target if it is in your own network`,
    },
  });
  expect(server.connections()).toBe(0);
});

test('a name server that says a public address first and a private one at the connection gains nothing', async () => {
  const rebinding = nameServer([PUBLIC], ['127.0.0.1']);
  expect(await ask(guardedLookup(rebinding.lookup))).toEqual([{ address: PUBLIC, family: 4 }]);
  expect(await call('hook.example', { lookup: rebinding.lookup })).toMatchObject({
    failure: { reason: 'ADDRESS_REFUSED' },
  });
  expect(rebinding.questions()).toBe(2);
  expect(server.connections()).toBe(0);
});

test('what was checked is what is connected to: the name is asked for once', async () => {
  const rebinding = nameServer([PUBLIC], ['127.0.0.1']);
  expect(await ask(guardedLookup(rebinding.lookup))).toEqual([{ address: PUBLIC, family: 4 }]);
  expect(rebinding.questions()).toBe(1);
});

test.each([
  ['a public and a private address', [PUBLIC, '10.0.0.1']],
  ['a private address of the other family', [PUBLIC, 'fd00::1']],
  ['no address at all', []],
])('a name that has %s is refused', async (_, addresses) => {
  await expect(ask(guardedLookup(nameServer(addresses).lookup))).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' });
});

test('a lookup that gives one address instead of a list is checked as well', async () => {
  const single: LookupFunction = (_, __, callback) => callback(null, '127.0.0.1', 4);
  const message = 'the host name has an address that is this machine';
  await expect(ask(guardedLookup(single))).rejects.toMatchObject({ code: 'ADDRESS_REFUSED', message });
});

test('a name that is not known is unreachable, not refused', async () => {
  const unknown: LookupFunction = (_, __, callback) =>
    callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), '');
  expect(await call('hook.example', { lookup: unknown })).toMatchObject({
    status: 'failed',
    failure: { reason: 'UNREACHABLE' },
  });
});

test('where private addresses are allowed, they are called by number and by name', async () => {
  expect(await call('127.0.0.1', { allowPrivate: true })).toMatchObject({ status: 'answered', httpStatus: 200 });
  await caller?.close();
  const { lookup } = nameServer(['127.0.0.1']);
  expect(await call('hook.example', { allowPrivate: true, lookup })).toMatchObject({ httpStatus: 200 });
  expect(server.connections()).toBe(2);
});
