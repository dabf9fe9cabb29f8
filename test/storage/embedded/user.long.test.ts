import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { startEmbedded } from '../../../src/storage/embedded/embedded.ts';
import { postmasterOf } from '../../support/processes.ts';
import { ask, scratch } from './scratch.ts';
import { startUser } from './user-process.ts';

const newDir = scratch();
const NOBODY_UID = 65534;
const NAMELESS = 54_321;

/** Can another user read this repository? Not where it is in the home of root. */
const othersCanRun = (uid: number): boolean =>
  spawnSync('test', ['-r', path.join(import.meta.dirname, 'user-program.ts')], { uid, gid: uid }).status === 0;
const isRoot = process.geteuid?.() === 0;
const isLinux = process.platform === 'linux';

test('Postgres talks only over a private socket, keeps what it has committed, and uses bounded space', async () => {
  const dataDir = await newDir();
  const postgres = await startEmbedded({ dataDir });
  const settings = [];
  const names = [
    'listen_addresses',
    'max_connections',
    'synchronous_commit',
    'fsync',
    'server_encoding',
    'max_wal_size',
  ];
  for (const name of names) {
    settings.push(...Object.values(Object((await ask(postgres.connection, `show ${name}`))[0])));
  }
  expect(settings).toEqual(['', '200', 'on', 'on', 'UTF8', '192MB']);
  const { host, port } = postgres.connection;
  expect(fs.statSync(host).mode & 0o777).toBe(0o700);
  expect(path.join(host, `.s.PGSQL.${port}.lock`).length).toBeLessThan(100);
  await postgres.close();
  expect(fs.existsSync(host)).toBe(false);
});

if (isLinux) {
  test('neither Postgres nor its keeper sees the environment of the process that starts it', async () => {
    const dataDir = await newDir();
    const user = startUser(dataDir, { env: { ...process.env, LOCKSTEP_DEMO_KEY: 'a-secret' } });
    await user.said;
    const environment = fs.readFileSync(`/proc/${postmasterOf(dataDir)}/environ`, 'utf8');
    expect(environment).toContain('PATH=');
    expect(environment).not.toContain('a-secret');
    await user.close();
  });
}

if (isRoot && isLinux) {
  test('for root, Postgres runs as a user without other processes, so that no process can read, connect or signal', async () => {
    const dataDir = path.join(await newDir(), '.lockstep');
    fs.chmodSync(path.dirname(dataDir), 0o755);
    const user = startUser(dataDir);
    const { host } = (await user.said).connection ?? {};
    const postmaster = postmasterOf(dataDir);
    const { uid } = fs.statSync(`/proc/${postmaster}`);
    expect(fs.readFileSync('/etc/passwd', 'utf8')).not.toContain(`:${uid}:`);
    expect([0, NOBODY_UID]).not.toContain(uid);
    for (const attempt of [
      `cat ${dataDir}/postgres/password`,
      `cat ${dataDir}/postgres/data/postgresql.conf`,
      `ls ${host}`,
      `ls /proc/${postmaster}/cwd/`,
      `kill -0 ${postmaster}`,
    ]) {
      expect([attempt, spawnSync('sh', ['-c', attempt], { uid: NOBODY_UID, gid: NOBODY_UID }).status]).not.toEqual([
        attempt,
        0,
      ]);
    }
    await user.close();
    const again = await startEmbedded({ dataDir });
    expect(fs.statSync(`/proc/${postmasterOf(dataDir)}`).uid).toBe(uid);
    await again.close();
  });

  test('for root, Postgres runs as the owner of the data directory, who can use it too', async () => {
    const dataDir = await newDir({ uid: NOBODY_UID });
    const byRoot = await startEmbedded({ dataDir });
    await ask(byRoot.connection, 'create table kept as select 7 as n');
    await byRoot.close();
    const byOwner = startUser(dataDir, { uid: NOBODY_UID, gid: NOBODY_UID });
    const { connection } = await byOwner.said;
    expect(await ask({ ...connection }, 'select n from kept')).toEqual([{ n: 7 }]);
    await byOwner.close();
  });
}

if (isRoot && othersCanRun(NOBODY_UID)) {
  test.each([
    ['a home that cannot be written', NOBODY_UID, '/nonexistent'],
    ['the home of another user', NOBODY_UID, '/root'],
    ['no home', NOBODY_UID, undefined],
  ])('an ordinary user starts it with %s', async (_, uid, HOME) => {
    const dataDir = await newDir({ uid });
    const user = startUser(dataDir, { uid, gid: uid, env: { PATH: process.env.PATH, ...(HOME && { HOME }) } });
    expect(await user.said).toHaveProperty('connection.user', 'lockstep');
    await user.close();
  });

  test("refuses an ordinary user another user's directory, with a remedy", async () => {
    const dataDir = await newDir();
    const { code, message } = await startUser(dataDir, { uid: NOBODY_UID, gid: NOBODY_UID }).said;
    expect(code).toBe('EMBEDDED_NOT_WRITABLE');
    expect(message).toMatch(/EACCES.*--data DIR.*DATABASE_URL/s);
  });

  test('a user without a name either starts it or is told what is missing', async () => {
    const mayMap = spawnSync('unshare', ['--user', 'true'], { uid: NAMELESS, gid: NAMELESS }).status === 0;
    const dataDir = await newDir({ uid: NAMELESS });
    const user = startUser(dataDir, { uid: NAMELESS, gid: NAMELESS, env: { PATH: process.env.PATH } });
    const { connection, message } = await user.said;
    expect(mayMap ? connection?.user : message).toMatch(mayMap ? 'lockstep' : 'has no name');
    await user.close();
  });
}
