/**
 * Who may use an embedded Postgres: one role without privileges, by password, over the socket. Its superuser cannot log in;
 * steps that need one run in Postgres' single-user mode while no server runs.
 */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { LockstepError, unlessMissing } from '../../base/errors.ts';
import { olderProcess } from './errors.ts';
import type { RunNamed } from './named-user.ts';
import { isOwnId } from './owner.ts';
import { type Paths, reachable } from './paths.ts';

/** The role that Lockstep uses: owner of its database, and no more than that. */
export const ROLE = 'lockstep';
export const DATABASE = 'postgres';

/** Replaces pg_hba.conf: the first line that matches decides, and without one a connection is refused. */
const RULES = `# Written by Lockstep. Only its own role may connect, with the password in the file "password" beside this directory.
local all ${ROLE} scram-sha-256
`;

const PASSWORD = /^[\w-]{43}$/;
/** The owner of everything that initdb makes. */
const BOOTSTRAP_OID = 10;

/** The role's password. Throws EMBEDDED_OLDER_PROCESS if there is none, and the file system's errors. */
export async function readPassword(paths: Paths): Promise<string> {
  const password = await passwordIn(paths);
  if (password === undefined) throw olderProcess(paths.dataDir);
  return password;
}

/** Whether the role, its password and the rules are in place. Directories of earlier versions let everyone in. */
export async function isSecured(paths: Paths): Promise<boolean> {
  const rules = await fs.readFile(path.join(paths.data, 'pg_hba.conf'), 'utf8').catch(() => '');
  return rules === RULES && (await passwordIn(paths)) !== undefined;
}

/**
 * Creates the role, gives it everything that the superuser owns, and writes the rules last: if a start is killed before
 * that, the next start repeats it. `dir` is the data directory, in which no server runs.
 */
export async function secure(paths: Paths, binaries: string, dir: string, run: RunNamed): Promise<void> {
  const password = (await passwordIn(paths)) ?? (await writePassword(paths));
  const postgres = path.join(binaries, 'bin', 'postgres');
  const args = ['--single', '-D', reachable(paths, dir), '-c', 'exit_on_error=on', '-c', 'log_min_messages=fatal'];
  const statements = [makeRole(password), giveAll, `alter database ${DATABASE} owner to ${ROLE}`];
  await run(postgres, [...args, DATABASE], statements.map((sql) => `${sql.replace(/\s+/g, ' ')}\n`).join(''));
  await run('sh', ['-c', 'umask 077; cat >pg_hba.conf.new && mv pg_hba.conf.new pg_hba.conf'], RULES);
}

const makeRole = (password: string) => `do $$ begin
  if not exists (select from pg_roles where rolname = '${ROLE}') then create role ${ROLE}; end if;
  alter role ${ROLE} login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password '${password}';
end $$`;

/** A type of a table and a sequence of a column follow their table. */
const giveAll = `do $$ declare one record; begin
  for one in
    select format('alter schema %I owner to ${ROLE}', nspname) as sql from pg_namespace
      where nspowner = ${BOOTSTRAP_OID} and nspname !~ '^pg_' and nspname <> 'information_schema'
    union all select format('alter table %s owner to ${ROLE}', c.oid::regclass) from pg_class c
      where relowner = ${BOOTSTRAP_OID} and relkind in ('r', 'p', 'v', 'm', 'S') and c.oid >= 16384
      and relnamespace <> 'pg_toast'::regnamespace and not exists (select from pg_depend d
        where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.refobjsubid > 0 and d.deptype in ('a', 'i'))
    union all select format('alter routine %s owner to ${ROLE}', p.oid::regprocedure) from pg_proc p
      where proowner = ${BOOTSTRAP_OID} and p.oid >= 16384
    union all select format('alter type %s owner to ${ROLE}', t.oid::regtype) from pg_type t
      where typowner = ${BOOTSTRAP_OID} and typtype in ('d', 'e') and t.oid >= 16384
  loop execute one.sql; end loop;
end $$`;

/** Undefined if there is none, or if a power failure has cut it short. */
async function passwordIn(paths: Paths): Promise<string | undefined> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
  const file = await fs.open(paths.password, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(unlessMissing);
  if (!file) return undefined;
  try {
    const found = await file.stat();
    const isPrivate = found.isFile() && (found.mode & 0o077) === 0;
    if (!isPrivate || ![process.geteuid?.(), paths.runAs?.uid].includes(found.uid)) {
      throw new LockstepError(
        'PASSWORD_FILE',
        `${paths.password} belongs to another user, or others can read or write it: stop every process that uses the data ` +
          'directory, remove that file and start again',
      );
    }
    const text = await file.readFile('utf8');
    return PASSWORD.test(text) ? text : undefined;
  } finally {
    await file.close();
  }
}

/** Readable by root alone if Postgres has a user id of its own, otherwise by the owner of the data directory. */
async function writePassword(paths: Paths): Promise<string> {
  const password = randomBytes(32).toString('base64url');
  const half = `${paths.password}.half`;
  await fs.rm(half, { force: true });
  const file = await fs.open(half, 'wx', 0o600);
  try {
    await file.writeFile(password);
    if (paths.runAs && !isOwnId(paths.runAs.uid)) await file.chown(paths.runAs.uid, paths.runAs.gid);
    await file.sync();
  } finally {
    await file.close();
  }
  await fs.rename(half, paths.password);
  return password;
}
