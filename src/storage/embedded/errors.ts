/** Errors of the embedded Postgres, each with where it happened and how to fix it. */
import { codeOf, type LockstepError, messageOf, wrongUse } from '../../base/errors.ts';

const ANOTHER_STORE = 'use a Postgres of your own: set DATABASE_URL=postgres://…';

/** The words of libc in the output of the programs that we start. */
const FULL_WORDS = /No space left on device|Disk quota exceeded/i;
const REFUSED_WORDS = /permission denied|operation not permitted|read-only file system/i;

/** The last part of every data-directory error: it loses the links and the history of the directory. */
const ANOTHER_DIRECTORY =
  'begin with an empty ledger: in another directory (--data DIR), or in a Postgres of your own (DATABASE_URL=postgres://…)';

export function otherVersion(dataDir: string, found: string, ours: string): LockstepError {
  return wrongUse(
    `The data directory ${dataDir} was written by Postgres ${found}; the embedded one is ${ours}. ` +
      `Move its data with pg_dump of version ${found}, or ${ANOTHER_DIRECTORY}`,
    'EMBEDDED_OTHER_VERSION',
  );
}

/** `cause`: the file system's error, which names the file. */
export function notWritable(dataDir: string, cause: unknown): LockstepError {
  if (isFull(cause)) return diskFull(dataDir, cause);
  const isFile = ['ENOTDIR', 'EEXIST'].includes(codeOf(cause) ?? '');
  const remedy = isFile ? 'Move the file that is in its place' : 'Make it writable for this user';
  return wrongUse(
    `The data directory ${dataDir} cannot hold the embedded Postgres (${messageOf(cause)}). ${remedy}, or ${ANOTHER_DIRECTORY}`,
    'EMBEDDED_NOT_WRITABLE',
    cause,
  );
}

export function isFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(codeOf(error) ?? '') || FULL_WORDS.test(messageOf(error));
}

export function diskFull(where: string, cause?: unknown): LockstepError {
  return wrongUse(
    `The disk that holds ${where} is full, so the embedded Postgres cannot start. Free some space, or ${ANOTHER_DIRECTORY}`,
    'EMBEDDED_DISK_FULL',
    cause,
  );
}

export function noBinaries(platform: string, reason: string, cause?: unknown): LockstepError {
  return wrongUse(
    `The embedded Postgres does not run on ${platform}: ${reason}. Run "npm ci" without --omit=optional on a platform ` +
      `that is supported (Linux with glibc or macOS, on x64 or arm64), or ${ANOTHER_STORE}`,
    'EMBEDDED_NO_BINARIES',
    cause,
  );
}

export function notUnprivileged(cause: unknown): LockstepError {
  return wrongUse(
    `Postgres refuses to run as root, and this process may not start it as another user (${messageOf(cause)}). ` +
      `Run Lockstep as an ordinary user, or ${ANOTHER_STORE}`,
    'EMBEDDED_ROOT',
    cause,
  );
}

export function olderProcess(dataDir: string): LockstepError {
  return wrongUse(
    `The embedded Postgres of ${dataDir} has no password yet: a process of an earlier version of Lockstep runs it. Stop ` +
      `every process that uses ${dataDir}, then start again: the first process to start sets a password`,
    'EMBEDDED_OLDER_PROCESS',
  );
}

/** `lock`: the name of the abstract socket. */
export function lockTaken(dataDir: string, lock: string): LockstepError {
  return wrongUse(
    `The embedded Postgres of ${dataDir} cannot start: another program holds the abstract Unix socket @${lock}, which ` +
      `serves as its lock. Find the program with "ss -xlp | grep ${lock}" and stop it, or ${ANOTHER_DIRECTORY}`,
    'EMBEDDED_LOCK_TAKEN',
  );
}

export function elsewhere(dataDir: string, socketDir: string): LockstepError {
  return wrongUse(
    `The embedded Postgres of ${dataDir} is running, but its socket directory ${socketDir} is not here: a container, or a ` +
      `systemd unit with a /tmp of its own, uses the same data directory, or ${socketDir} has been removed. Stop every process that uses ${dataDir} and start ` +
      'again, or share one Postgres by DATABASE_URL=postgres://…',
    'EMBEDDED_ELSEWHERE',
  );
}

/** `logTail`: the last lines of Postgres' own log. */
export function startFailed(dataDir: string, reason: string, logTail: string): LockstepError {
  const said = `${reason}\n${logTail}`;
  if (FULL_WORDS.test(said)) return diskFull(dataDir);
  const refused = said.split('\n').findLast((line) => REFUSED_WORDS.test(line));
  if (refused !== undefined) return notWritable(dataDir, new Error(refused.trim()));
  const end = logTail === '' ? '' : `\nThe end of Postgres' log:\n${logTail.replace(/^/gm, '  ')}`;
  return wrongUse(
    `The embedded Postgres of ${dataDir} did not start: ${reason}. Try again. If that does not help, fix what its log says, restore the directory from a backup, or ${ANOTHER_DIRECTORY}${end}`,
    'EMBEDDED_START_FAILED',
  );
}
