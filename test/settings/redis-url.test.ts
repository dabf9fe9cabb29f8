import { expect, test } from 'vitest';
import { readRedisNodes } from '../../src/settings/redis-url.ts';
import { settingsOf } from './problems-in.ts';

test('reads Sentinels and their master, with default ports', () => {
  expect(readRedisNodes('rediss+sentinel://ann:p%40ss@s1:26380,[::1]:26381,s3/main.1')).toEqual({
    kind: 'sentinel',
    isTls: true,
    username: 'ann',
    password: 'p@ss',
    hosts: [
      { host: 's1', port: 26380 },
      { host: '::1', port: 26381 },
      { host: 's3', port: 26379 },
    ],
    master: 'main.1',
  });
});

test('reads the nodes of a Cluster', () => {
  expect(readRedisNodes('redis+cluster://:secret@a,b:7000/')).toMatchObject({
    kind: 'cluster',
    isTls: false,
    username: undefined,
    password: 'secret',
    hosts: [
      { host: 'a', port: 6379 },
      { host: 'b', port: 7000 },
    ],
  });
});

test('leaves URLs of one server to others', () => {
  expect(readRedisNodes('redis://h:6379')).toBeUndefined();
});

test('shows everything but the password, and warns of it', () => {
  const { redis, warnings } = settingsOf(
    'accounts: { demo: {} }\nredis: { url: "redis+sentinel://ann:secret@a:1,b:2/m", sentinelPassword: secret }',
  );
  expect(`${redis.url}`).toBe('redis+sentinel://ann:***@a:1,b:2/m');
  expect(redis.sentinelPassword).toMatchObject({ where: 'redis.sentinelPassword' });
  expect(warnings.filter((warning) => warning.includes('redis.'))).toHaveLength(2);
  expect(warnings.join()).not.toContain('ann:secret');
});
