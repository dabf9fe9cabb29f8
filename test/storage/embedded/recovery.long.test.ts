import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { startEmbedded } from '../../../src/storage/embedded/embedded.ts';
import { openDatabase } from '../../../src/storage/open.ts';
import { PATIENT } from '../../support/patient.ts';
import { postmasterOf } from '../../support/processes.ts';
import { ask, scratch } from './scratch.ts';
import { isAlive, startUser } from './user-process.ts';

const newDir = scratch();

/** What a start leaves on the disk, in this order; the test kills it after each step. */
const moments: [string, (postgresDir: string) => boolean][] = [
  ['has made its folder', (postgresDir) => fs.existsSync(path.join(postgresDir, 'acks'))],
  ['is running initdb', (postgresDir) => fs.readdirSync(postgresDir).some((name) => name.startsWith('data.half-'))],
  ['has written the password', (postgresDir) => fs.existsSync(path.join(postgresDir, 'password'))],
  ['has made the data directory', (postgresDir) => fs.existsSync(path.join(postgresDir, 'data/PG_VERSION'))],
  ['has started the keeper', (postgresDir) => fs.existsSync(path.join(postgresDir, 'log'))],
  ['has started Postgres', (postgresDir) => fs.existsSync(path.join(postgresDir, 'data/postmaster.pid'))],
];

test.each(moments)('a starter killed when it %s blocks no later start', async (_, reached) => {
  const dataDir = await newDir();
  const postgresDir = path.join(dataDir, 'postgres');
  const starter = startUser(dataDir);
  await vi.waitUntil(() => fs.existsSync(postgresDir) && reached(postgresDir), { interval: 1, timeout: 60_000 });
  await starter.kill();
  const postgres = await startEmbedded({ dataDir });
  expect(await ask(postgres.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
  await postgres.close();
  expect(fs.existsSync(path.join(postgresDir, 'data/postmaster.pid'))).toBe(false);
});

test('after Postgres was killed, the next start has everything that was committed', async () => {
  const dataDir = await newDir();
  const before = await startEmbedded({ dataDir });
  await ask(before.connection, 'create table kept as select 42 as n');
  process.kill(postmasterOf(dataDir), 'SIGKILL');
  const after = await startEmbedded({ dataDir });
  expect(await ask(after.connection, 'select n from kept')).toEqual([{ n: 42 }]);
  await before.close();
  expect(await ask(after.connection, 'select n from kept')).toEqual([{ n: 42 }]);
  await after.close();
});

test('a process that runs for days starts its Postgres again if it is killed, and has everything that was committed', async () => {
  const dataDir = await newDir();
  const database = await openDatabase({ url: 'embedded', dataDir });
  database.keepRunning?.();
  await database.pool.query('create table kept as select 42 as n');
  process.kill(postmasterOf(dataDir), 'SIGKILL');
  const kept = async () => (await database.pool.query('select n from kept')).rows;
  await expect.poll(() => kept().catch(() => undefined)).toBeUndefined();
  await expect.poll(() => kept().catch(() => undefined)).toEqual([{ n: 42 }]);
  await database.close();
  expect(fs.existsSync(path.join(dataDir, 'postgres/data/postmaster.pid'))).toBe(false);
});

if (process.platform === 'linux') {
  test('a process that joins while Postgres dies, and was accepted before, starts it again', async () => {
    const dataDir = await newDir();
    const before = await startEmbedded({ dataDir });
    const postmaster = postmasterOf(dataDir);
    process.kill(postmaster, 'SIGSTOP'); // the kernel accepts connections, and no process answers
    const joining = startEmbedded({ dataDir });
    await vi.waitUntil(() => connectionsTo(before.connection.host) > 0, PATIENT);
    process.kill(postmaster, 'SIGKILL');
    const after = await joining;
    expect(await ask(after.connection, 'select 1 as one')).toEqual([{ one: 1 }]);
    await before.close();
    await after.close();
  });
}

test('a killed Postgres leaves no socket behind, though no process starts another', async () => {
  const dataDir = await newDir();
  const postgres = await startEmbedded({ dataDir });
  process.kill(postmasterOf(dataDir), 'SIGKILL');
  await vi.waitUntil(() => !fs.existsSync(postgres.connection.host), { timeout: 60_000 });
  await postgres.close();
});

if (process.platform === 'linux') {
  test('after the keeper was killed, the next start stops the remaining Postgres and continues with its data', async () => {
    const dataDir = await newDir();
    const before = await startEmbedded({ dataDir });
    await ask(before.connection, 'create table kept as select 42 as n');
    const orphan = postmasterOf(dataDir);
    process.kill(keeperOf(orphan), 'SIGKILL');
    const after = await startEmbedded({ dataDir });
    expect(isAlive(orphan)).toBe(false);
    expect(await ask(after.connection, 'select n from kept')).toEqual([{ n: 42 }]);
    await before.close();
    await after.close();
  });
}

test('lock files whose process number now belongs to another process do not stop the next start', async () => {
  const dataDir = await newDir();
  const before = await startEmbedded({ dataDir });
  await before.close();
  const data = path.join(dataDir, 'postgres/data');
  const { uid, gid } = fs.statSync(data);
  const bystander = spawn('sleep', ['60'], { uid, gid, stdio: 'ignore' });
  const { host } = before.connection;
  fs.mkdirSync(host, { mode: 0o700 });
  for (const file of [path.join(data, 'postmaster.pid'), path.join(host, '.s.PGSQL.5432.lock')]) {
    fs.writeFileSync(file, `${bystander.pid}\n${data}\n1\n5432\n${host}\n\n0 0\nready   \n`);
    fs.chownSync(file, uid, gid);
  }
  fs.chownSync(host, uid, gid);
  const postgres = await startEmbedded({ dataDir });
  expect(postgres.connection.host).toBe(host);
  expect(bystander.exitCode ?? bystander.signalCode).toBeNull();
  bystander.kill();
  await postgres.close();
});

/** The shell above a postmaster is the keeper's branch that waits for it; the one above that is the keeper. */
function keeperOf(postmaster: number): number {
  return parentOf(parentOf(postmaster));
}

/** Connections to the socket in this directory, beside the socket that listens. */
function connectionsTo(host: string): number {
  return fs.readFileSync('/proc/net/unix', 'utf8').split(`${host}/.s.PGSQL.`).length - 2;
}

function parentOf(pid: number): number {
  const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}
