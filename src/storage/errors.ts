/** Explains the database's errors that a person has to act on: it cannot be reached, or the connection was lost. */
import { codeOf, LockstepError, messageOf, wrongUse } from '../base/errors.ts';

/**
 * Why a Postgres could not be used from the start (exit code 2). `where`: `Database.describe`. `onRefusal`: what to do
 * when it refuses the login; default: check DATABASE_URL.
 */
export function cannotOpen(error: unknown, where: string, onRefusal = CHECK_URL): LockstepError {
  const { code, remedy } = openProblem(error, onRefusal);
  return wrongUse(`Cannot use ${where}: ${messageOf(error)}. ${remedy}`, code, error);
}

/** A pooler that gives each transaction any session of Postgres (exit code 2). `where`: `Database.describe`. */
export function poolerInTheWay(where: string): LockstepError {
  const message = `Cannot use ${where}: a pooler in front of it gives one session of Postgres to several connections. Set pool_mode = session in PgBouncer, or put the address of Postgres itself into DATABASE_URL (database.url).`;
  return wrongUse(message, 'DATABASE_POOLER');
}

/**
 * A clear error if `error` says that the database was lost, is out of resources or is broken (exit code 3), otherwise undefined.
 * `where`: `Database.describe`, which tells its network errors from those of other servers. `isCommand`: whether a person
 * starts it again; a page resumes by itself.
 */
export function describeDatabaseError(error: unknown, where: string, isCommand = true): LockstepError | undefined {
  for (const one of chain(error)) {
    const problem = runtimeProblem(one, where);
    if (problem === undefined) continue;
    const message = `${problem.what} ${where}: ${messageOf(one)}. ${isCommand ? problem.remedy : (problem.onPage ?? problem.remedy)}`;
    return new LockstepError(problem.code, message, { cause: error });
  }
  return undefined;
}

const CHECK_URL = 'Check the user and the password in DATABASE_URL (database.url).';

function openProblem(error: unknown, onRefusal: string): { code: string; remedy: string } {
  const code = codeOf(error);
  const said = messageOf(error);
  if (said.endsWith('no encryption') || said.includes('does not support SSL')) {
    return {
      code: 'DATABASE_UNREACHABLE',
      remedy: 'Set sslmode=verify-full or sslmode=disable in DATABASE_URL to what it accepts.',
    };
  }
  if (code === '28P01' || code === '28000' || said.startsWith('SASL')) {
    return { code: 'DATABASE_LOGIN_REFUSED', remedy: onRefusal };
  }
  if (code === '3D000') {
    return {
      code: 'DATABASE_MISSING',
      remedy: 'Create it with createdb, or correct its name in DATABASE_URL (database.url).',
    };
  }
  if (code === '53300') return CROWDED;
  if (code === '42501') {
    return { code: 'DATABASE_LOGIN_REFUSED', remedy: 'Grant this user the right to connect.' };
  }
  if (/certificate|ENOENT: .*, open /i.test(said)) {
    return {
      code: 'DATABASE_UNREACHABLE',
      remedy:
        'Name the file of the certificate authority that signed its certificate by sslrootcert=FILE, and use the host name of the certificate, in DATABASE_URL.',
    };
  }
  return {
    code: 'DATABASE_UNREACHABLE',
    remedy: 'Check that it runs and that the host and the port in DATABASE_URL (database.url) are right.',
  };
}

interface Problem {
  readonly code: string;
  readonly what: string;
  readonly remedy: string;
  /** The remedy for a page, which no command starts again. */
  readonly onPage?: string;
}

const LOST: Problem = {
  code: 'DATABASE_LOST',
  what: 'Lost the connection to',
  remedy:
    'Committed data is safe. Check that the database runs, then start the same command again: it resumes where this one stopped.',
  onPage: 'Committed data is safe. Check that the database runs.',
};
const FULL: Problem = {
  code: 'DATABASE_FULL',
  what: 'There is no space left on the disk of',
  remedy: 'Committed data is safe. Free some space, then start the same command again.',
  onPage: 'Committed data is safe. Free some space.',
};
const CROWDED: Problem = {
  code: 'DATABASE_CROWDED',
  what: 'There is no connection left at',
  remedy: 'Raise its max_connections, or run fewer processes.',
};
const BROKEN: Problem = {
  code: 'DATABASE_BROKEN',
  what: 'Something is broken in',
  remedy: 'See the log of Postgres for the cause. If data is damaged, restore a backup.',
};

/** Postgres' state for a write to a server that is not, or no longer, the primary. */
export const READ_ONLY = '25006';
/** Postgres' states: 57P01-57P03 it is going down or coming up, class 08 the connection is broken, 25P03 it gave a transaction up. */
const LOST_STATES = new RegExp(`^(57P0[123]|08\\w{3}|25P03|${READ_ONLY})$`);
/** 53200 it has no memory, class 58 the system failed, class XX it is damaged or has a defect. */
const BROKEN_STATES = /^(53200|58\w{3}|XX\w{3})$/;
const LOST_WORDS =
  /^Connection terminated|connection error and is not queryable|timeout exceeded when trying to connect/;
const BROKEN_STREAM = ['ECONNRESET', 'EPIPE'];
const NO_CONNECTION = ['ECONNREFUSED', 'ENOENT', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'];

function runtimeProblem(error: unknown, where: string): Problem | undefined {
  const code = codeOf(error) ?? '';
  if (code === '53100') return FULL;
  if (code === '53300') return CROWDED;
  if (BROKEN_STATES.test(code)) return BROKEN;
  if (LOST_STATES.test(code) || LOST_WORDS.test(messageOf(error))) return LOST;
  if (BROKEN_STREAM.includes(code)) return LOST;
  return NO_CONNECTION.includes(code) && isAbout(error, where) ? LOST : undefined;
}

/** Whether the error is about a connection to this database: errors of Redis and HTTP have the same codes. */
function isAbout(error: unknown, where: string): boolean {
  const { address, port, hostname } = Object(error) as { address?: unknown; port?: unknown; hostname?: unknown }; // read only
  if (typeof address === 'string' && address.includes('.s.PGSQL.')) return true;
  if (typeof port === 'number') return new RegExp(`:${port}\\b`).test(where);
  return typeof hostname === 'string' && where.includes(hostname);
}

/** The error itself, and the errors that it wraps. */
function* chain(error: unknown): Generator<unknown> {
  for (let one = error; one !== undefined && one !== null; one = one instanceof Error ? one.cause : undefined) {
    yield one;
    if (one instanceof AggregateError) yield* one.errors;
  }
}
