/**
 * What an error of a Postgres means for a delivery. Pure. Codes:
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 *
 * The messages are from Postgres. They name hosts, users, tables and values of the row, but never the password.
 */
import { codeOf, messageOf } from '../../../base/errors.ts';
import { certificateProblem } from '../../../client/call/failures.ts';
import type { TargetFailure } from '../../../contract/target.ts';
import type { TaskTable } from './postgres-table.ts';

type Kind = Pick<TargetFailure, 'status' | 'reason'> & { readonly remedy?: string };

export const TABLE_MISSING = '42P01';
export const COLUMN_MISSING = '42703';

const MAX_MESSAGE = 250;
/** Temporary: 08 connections, 40 deadlocks and conflicts, 53 resources, 55P03 and 55006 locks, 57 shutdowns, 58 disks, XX poolers' own. */
const PASSING = /^(08|40|53|55P03|55006|57|58|XX)/;
/** The system's own codes, such as EPIPE, begin with an E; no SQL state does. */
const SQL_STATE = /^(?!E)[\dA-Z]{5}$/;

export interface FailedWhere {
  /** Where the settings name the address. */
  readonly url: string;
  /** The columns that the table lacks, each as `name type`. */
  readonly missing: readonly string[];
}

/** From a statement, or the connection it needed. Throws defects. */
export function postgresFailure(error: unknown, table: TaskTable, where: FailedWhere): TargetFailure {
  const said = messageOf(error).slice(0, MAX_MESSAGE);
  const { status, reason, remedy } = kindOf(error, said, table, where);
  return { status, reason, detail: remedy === undefined ? `Postgres: ${said}` : `Postgres: ${said}; ${remedy}` };
}

function kindOf(error: unknown, said: string, table: TaskTable, { url, missing }: FailedWhere): Kind {
  const code = codeOf(error) ?? '';
  if (code === '28P01' || code === '28000' || said.startsWith('SASL')) {
    return { status: 'disabled', reason: 'TOKEN_REFUSED', remedy: `check the user and the password in ${url}` };
  }
  if (code === '3D000') {
    return { status: 'disabled', reason: 'DATABASE_MISSING', remedy: `create it, or correct its name in ${url}` };
  }
  if (!SQL_STATE.test(code)) return ofConnection(error, said, url);
  // A standby: a primary may be at this address again in a moment.
  if (PASSING.test(code) || code === '25006') return { status: 'later', reason: 'UNAVAILABLE' };
  if (code === '42501' && /row-level security/.test(said)) {
    return { status: 'refused', reason: 'NOT_ALLOWED', remedy: `let a policy of ${table.name} admit its user` };
  }
  return { status: 'refused', ...refusal(code, table, missing) };
}

function refusal(
  code: string,
  { name, schema, key, create, rights }: TaskTable,
  missing: readonly string[],
): Omit<Kind, 'status'> {
  switch (code) {
    case TABLE_MISSING:
      return { reason: 'TABLE_MISSING', remedy: `set createTable: true for this target, or run: ${create}` };
    case '3F000':
      return {
        reason: 'TABLE_MISSING',
        remedy: `create schema ${schema} first, because Lockstep creates only its table`,
      };
    case COLUMN_MISSING: {
      const add = missing.map((column) => `add column ${column}`).join(', ');
      return { reason: 'COLUMN_MISSING', remedy: add === '' ? 'add it' : `run: alter table ${name} ${add}` };
    }
    case '42P10':
      return { reason: 'KEY_MISSING', remedy: `run: create unique index on ${name} (${key})` };
    case '23505': {
      const remedy = `${name} has another unique key than (${key}), so it cannot have these rows: name another table`;
      return { reason: 'KEY_MISSING', remedy };
    }
    case '42501': {
      const grants = `grant usage on schema ${schema} to USER; grant ${rights} on ${name} to USER`;
      const remedy = `run, with its user in place of USER: ${grants}; for createTable: true also: grant create on schema ${schema} to USER`;
      return { reason: 'NOT_ALLOWED', remedy };
    }
    default:
      return { reason: 'REJECTED' };
  }
}

/** Without an SQL state the cause is the network, the driver, or a defect in Lockstep. */
function ofConnection(error: unknown, said: string, url: string): Kind {
  if (error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError) throw error;
  const certificate = certificateProblem(error);
  if (certificate !== undefined) return { status: 'later', reason: 'CERTIFICATE', remedy: certificate };
  if (/SSL|TLS|certificate/i.test(said)) {
    return { status: 'later', reason: 'TLS', remedy: `set sslmode in ${url} to a mode that the server supports` };
  }
  return { status: 'later', reason: /time(d )?out/i.test(said) ? 'TIMEOUT' : 'UNREACHABLE' };
}
