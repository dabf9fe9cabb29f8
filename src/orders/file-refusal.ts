/** Why a file could not be taken in as a load: whether that is the file's own fault, and what to tell its sender. */
import pg from 'pg';
import { describeDatabaseError } from '../database/errors.ts';
import { LockstepError, messageOf } from '../errors.ts';
import type { Facts } from '../reasons/reason.ts';
import { visible } from '../visible.ts';

/** `later`: another process takes the same file in. */
export type Refusal = { readonly reason: string; readonly facts: Facts } | 'changed' | 'later' | 'not of the file';

/** One file must not stop the others: what cannot be blamed on anything else is blamed on the file. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof LockstepError) {
    if (error.code === 'CSV_CHANGED') return 'changed';
    if (error.code === 'LOAD_TAKEN_OVER') return 'later';
    return error.exitCode === 2 ? { reason: error.code, facts: { said: visible(error.message) } } : 'not of the file';
  }
  if (describeDatabaseError(error, 'the database') !== undefined || isNetworkError(error)) return 'not of the file';
  // Class 22: a value that cannot be stored; 54: one that is too long.
  if (error instanceof pg.DatabaseError && !/^(22|54)/.test(error.code ?? '')) return 'not of the file';
  return { reason: 'UNEXPECTED', facts: { error: visible(messageOf(error)) } };
}

function isNetworkError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && ['connect', 'getaddrinfo'].includes(String(error.syscall));
}
