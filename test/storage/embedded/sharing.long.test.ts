import fs from 'node:fs';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { type EmbeddedPostgres, startEmbedded } from '../../../src/storage/embedded/embedded.ts';
import { PATIENT } from '../../support/patient.ts';
import { postmasterOf } from '../../support/processes.ts';
import { ask, scratch } from './scratch.ts';
import { isAlive, startUser } from './user-process.ts';

const newDir = scratch();

test('two processes share one Postgres; it survives the one that started it and stops with the last one', async () => {
  const dataDir = await newDir();
  const first = startUser(dataDir);
  await first.said;
  const postmaster = postmasterOf(dataDir);
  const second = startUser(dataDir);
  const { connection } = await second.said;
  await first.close();
  expect(postmasterOf(dataDir)).toBe(postmaster);
  expect(await ask({ ...connection }, 'select 1 as one')).toEqual([{ one: 1 }]);
  await second.close();
  expect(isAlive(postmaster)).toBe(false);
});

test('processes that start at the same moment share one Postgres', async () => {
  const dataDir = await newDir();
  const all = await Promise.all(Array.from({ length: 6 }, () => startEmbedded({ dataDir })));
  const starts = await Promise.all(
    all.map(({ connection }) => ask(connection, 'select pg_postmaster_start_time()::text as at')),
  );
  expect(new Set(starts.map((rows) => JSON.stringify(rows))).size).toBe(1);
  const postmaster = postmasterOf(dataDir);
  await Promise.all(all.map((one) => one.close()));
  expect(isAlive(postmaster)).toBe(false);
});

test('starting, using and closing in quick turns loses no user', async () => {
  const dataDir = await newDir();
  const turns = Array.from({ length: 4 }, async () => {
    for (let turn = 0; turn < 5; turn += 1) {
      const postgres = await startEmbedded({ dataDir });
      await ask(postgres.connection, 'select 1');
      await postgres.close();
    }
  });
  await Promise.all(turns);
  expect(fs.existsSync(path.join(dataDir, 'postgres/data/postmaster.pid'))).toBe(false);
});

test('when every user is killed, Postgres stops by itself', async () => {
  const dataDir = await newDir();
  const users = [startUser(dataDir), startUser(dataDir)];
  await Promise.all(users.map((user) => user.said));
  const postmaster = postmasterOf(dataDir);
  await Promise.all(users.map((user) => user.kill()));
  await vi.waitUntil(() => !isAlive(postmaster), PATIENT);
});

test('a killed user does not take Postgres away from the others', async () => {
  const dataDir = await newDir();
  const killed = startUser(dataDir);
  await killed.said;
  const postgres = await startEmbedded({ dataDir });
  await ask(postgres.connection, 'create table kept as select 7 as n');
  await killed.kill();
  const another = startUser(dataDir);
  await another.said;
  await another.close();
  expect(await ask(postgres.connection, 'select n from kept')).toEqual([{ n: 7 }]);
  await postgres.close();
});

test('a data directory that is removed and made again is a new one, though the old Postgres still runs', async () => {
  const dataDir = await newDir();
  const old = await startEmbedded({ dataDir });
  const oldPostmaster = postmasterOf(dataDir);
  fs.rmSync(path.join(dataDir, 'postgres'), { recursive: true, maxRetries: 5 });
  const fresh: EmbeddedPostgres = await startEmbedded({ dataDir });
  expect(await ask(fresh.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
  expect(postmasterOf(dataDir)).not.toBe(oldPostmaster);
  await old.close();
  await fresh.close();
  await vi.waitUntil(() => !isAlive(oldPostmaster), PATIENT);
});

test('closing twice has the effect of closing once', async () => {
  const dataDir = await newDir();
  const [one, other] = [await startEmbedded({ dataDir }), await startEmbedded({ dataDir })];
  await Promise.all([one.close(), one.close()]);
  expect(await ask(other.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
  await other.close();
});
