import { createHook } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { hashPassword, isPassword } from '../../src/console/access/passwords.ts';

test('a password is the text or its hash', async () => {
  const hash = await hashPassword('ünïcode');
  expect(hash).toMatch(/^scrypt:/);
  const tries = [
    ['ünïcode', hash],
    ['ünïcode', 'ünïcode'],
    ['other', hash],
    ['other', 'ünïcode'],
    [hash, hash],
    ['', ''],
  ];
  expect(await Promise.all(tries.map(([given = '', kept = '']) => isPassword(given, kept)))).toEqual([
    true,
    true,
    false,
    false,
    false,
    true,
  ]);
});

test('a password that is a text, its hash and an unknown name take the same work', async () => {
  const begun: string[] = [];
  const hook = createHook({ init: (_id, type) => void begun.push(type) });
  const kept = [await hashPassword('ünïcode'), 'ünïcode', ''];
  hook.enable();
  for (const each of kept) await isPassword('other', each);
  hook.disable();
  expect(begun.filter((type) => type === 'SCRYPTREQUEST')).toHaveLength(kept.length);
});
