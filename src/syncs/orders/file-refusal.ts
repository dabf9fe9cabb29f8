/** Why a file could not be received as a load: whether the file itself is the cause, and what to tell its sender. */
import pg from 'pg';
import { LockstepError, messageOf } from '../../base/errors.ts';
import type { Facts } from '../../base/reasons/reason.ts';
import { visible } from '../../base/visible.ts';
import { UnclearFile } from '../../csv/column-errors.ts';
import { describeDatabaseError } from '../../storage/errors.ts';

/** `later`: another process is receiving the same file. */
export type Refusal = { readonly reason: string; readonly facts: Facts } | 'changed' | 'later' | 'not of the file';

/** One file must not stop the others, so an error without any other known cause is attributed to the file. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof LockstepError) {
    if (error.code === 'CSV_CHANGED') return 'changed';
    if (error.code === 'LOAD_TAKEN_OVER') return 'later';
    if (error.code === 'PRESET_INVALID' || error.code === 'PRESETS_UNREADABLE') return 'not of the file';
    if (error instanceof UnclearFile) return { reason: error.code, facts: { problem: visible(error.statement) } };
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
