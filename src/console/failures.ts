/** What went wrong with a request, for its answer. */
import { z } from 'zod';
import { codeOf, LockstepError } from '../base/errors.ts';
import { type Reading, statementOf, UnclearFile } from '../csv/column-errors.ts';
import { AccountSuspended } from '../engine/ledger/scopes/suspensions.ts';
import { listIssues } from '../settings/issues.ts';
import { describeDatabaseError } from '../storage/errors.ts';

export interface Failure {
  readonly httpStatus: number;
  /** Stable, because programs read it. */
  readonly code: string;
  readonly message: string;
  /** The account whose page says how to continue. */
  readonly account?: string;
  /** The encodings that a person can choose, with a text of the file in each. */
  readonly readings?: readonly Reading[];
}

const HTTP_STATUS: Readonly<Record<string, number>> = {
  CONSOLE_NOT_ALLOWED: 403,
  CONSOLE_HOST_REFUSED: 403,
  CONSOLE_ORIGIN_REFUSED: 403,
  CONSOLE_SIGN_IN: 401,
  RUN_UNKNOWN: 404,
  ROW_UNKNOWN: 404,
  REVIEW_UNKNOWN: 404,
  DELIVERY_UNKNOWN: 404,
  RESULTS_EMPTY: 404,
  UPLOAD_UNKNOWN: 404,
  CALL_UNKNOWN: 404,
  LINK_UNKNOWN: 404,
  FIELD_WRONG: 400,
  REQUEST_INVALID: 400,
  SETTINGS_NAME_UNKNOWN: 404,
};

/** `database`: as in messages about losing it. */
export function pageFailure(error: unknown, database: string): Failure {
  if (error instanceof z.ZodError) {
    const said = listIssues(error.issues)
      .map(({ path, message }) => [path.join('.'), message].filter(Boolean).join(': '))
      .join('; ');
    return { httpStatus: 400, code: 'REQUEST_INVALID', message: `The request is not valid: ${said}` };
  }
  if (error instanceof LockstepError) {
    const { code } = error;
    const account = error instanceof AccountSuspended ? { account: error.account } : {};
    const readings = error instanceof UnclearFile && error.readings.length > 0 ? { readings: error.readings } : {};
    return { httpStatus: HTTP_STATUS[code] ?? 409, code, message: statementOf(error), ...account, ...readings };
  }
  const lost = describeDatabaseError(error, database, false);
  if (lost) return { httpStatus: 503, code: lost.code, message: lost.message };
  const { statusCode, message } = Object(error) as { statusCode?: number; message?: string }; // of Fastify, if it has them
  if (statusCode === 429)
    return { httpStatus: 429, code: 'TOO_MANY_TRIES', message: 'Too many tries. Wait a few minutes, then try again.' };
  if (codeOf(error) === 'FST_ERR_CTP_INVALID_JSON_BODY')
    return {
      httpStatus: 400,
      code: 'REQUEST_INVALID',
      message: 'The request is not valid: its body is not JSON',
    };
  if (statusCode === 415)
    return {
      httpStatus: 415,
      code: 'REQUEST_INVALID',
      message: 'The request is not valid: its Content-Type is not accepted here; /api/v1/openapi.json names the types',
    };
  if (statusCode !== undefined && statusCode < 500)
    return { httpStatus: statusCode, code: 'REQUEST_INVALID', message: message ?? 'The request is not valid.' };
  return {
    httpStatus: 500,
    code: 'UNEXPECTED',
    message: 'Something unexpected happened. The log of lockstep start has the details.',
  };
}
