/**
 * Once per run of vitest: the built command, which tests start, one Postgres for all suites, and a Redis if there is one.
 * The servers end with the run.
 */
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { buildPackage, bundlePrograms } from '../../.ci/build.ts';
import { codeOf } from '../../src/base/errors.ts';
// @ts-expect-error: plain JavaScript, as all that the installed command starts with
import { isBuilt } from '../../src/cli/bin/is-built.mjs';
import { type EmbeddedPostgres, startEmbedded } from '../../src/storage/embedded/embedded.ts';
import { startRedis } from './redis-server.ts';
import { suitesNeedingRedis } from './redis-suites.ts';
import { EXPLAINED } from './statement-work.ts';
import { superuserOf } from './superuser.ts';
import { createTemplate } from './template-database.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgres: EmbeddedPostgres['connection'];
    redisUrl: string | null;
    /** Folder of the bundled programs: see programs.ts. */
    programs: string;
  }
}

interface Stores {
  readonly postgres: EmbeddedPostgres['connection'];
  readonly redisUrl: string | null;
  readonly programs: string;
  close(): Promise<void>;
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { postgres, redisUrl, programs, close } = await start();
  project.provide('postgres', postgres);
  project.provide('redisUrl', redisUrl);
  project.provide('programs', programs);
  // Without Redis, a file whose suites all need it is empty, which vitest would report as a failure.
  if (redisUrl === null) project.config.passWithNoTests = true;
  return close;
}

async function start(): Promise<Stores> {
  await removeAbandoned();
  const dir = await fs.mkdtemp(path.join(os.tmpdir(), `lockstep-test-${process.pid}-`));
  const [programs, postgres, redis] = await Promise.all([
    bundleTestPrograms(),
    startPostgres(dir),
    startRedis(dir),
    isBuilt() || buildPackage({ hasTypes: false }),
  ]);
  if (!redis) process.stderr.write(await withoutRedis());
  const close = async (): Promise<void> => {
    await redis?.close();
    await postgres.close();
    for (const made of [dir, programs]) await fs.rm(made, { recursive: true, force: true });
  };
  return { postgres: postgres.connection, redisUrl: redis?.url ?? null, programs, close };
}

/** Removes the folders of this user's runs that were killed: they may be in memory. */
async function removeAbandoned(): Promise<void> {
  for (const name of await fs.readdir(os.tmpdir())) {
    const pid = /^lockstep-(?:test|programs)-(\d+)-/.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) {
      await fs.rm(path.join(os.tmpdir(), name), { recursive: true, force: true }).catch(unlessOfAnotherUser);
    }
  }
}

function unlessOfAnotherUser(error: unknown): void {
  if (!['EACCES', 'EPERM'].includes(codeOf(error) ?? '')) throw error;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

async function startPostgres(dataDir: string): Promise<EmbeddedPostgres> {
  const postgres = await startEmbedded({ dataDir });
  const connection = await openToTests(postgres, dataDir);
  await createTemplate(connection);
  return { ...postgres, connection };
}

/** In a folder of their own, because some run as another user. */
async function bundleTestPrograms(): Promise<string> {
  const tests = path.join(import.meta.dirname, '..');
  const names = (await fs.readdir(tests, { recursive: true })).filter((name) => name.endsWith('-program.ts'));
  const dir = await fs.mkdtemp(path.join(os.tmpdir(), `lockstep-programs-${process.pid}-`));
  await fs.chmod(dir, 0o755);
  await bundlePrograms(
    names.map((name) => path.join(tests, name)),
    dir,
  );
  return dir;
}

async function withoutRedis(): Promise<string> {
  const suites = await suitesNeedingRedis(path.join(import.meta.dirname, '..'));
  const remedy = 'set REDIS_URL, or install redis-server or valkey-server';
  return `No Redis (${remedy}), so the suites that need one did not run: ${suites.join(', ') || 'none'}\n`;
}

/**
 * Creates the role of the tests, which may create databases and roles and, like Lockstep's own role, is no superuser.
 * Nothing waits for the disk: that would take most of the time, and the data need not survive a power failure.
 */
async function openToTests({ connection }: EmbeddedPostgres, dataDir: string): Promise<EmbeddedPostgres['connection']> {
  const db = await superuserOf(dataDir, connection);
  await db.query('create role tests login createdb createrole');
  await db.query("alter role tests set createrole_self_grant = 'set, inherit'");
  await db.query('grant set on parameter session_replication_role to tests'); // to empty tables: empty-tables.ts
  await db.query(`load 'auto_explain'`);
  for (const name of Object.keys(EXPLAINED)) await db.query(`grant set on parameter ${name} to tests`);
  for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes']) {
    await db.query(`alter system set ${setting} = off`);
  }
  await db.query('select pg_reload_conf()');
  await db.end();
  return { ...connection, user: 'tests' };
}
