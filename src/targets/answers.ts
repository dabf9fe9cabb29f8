/** What an exchange with a target came to, and what of its answer may be kept. Pure. */
import { type Exchanged, StoppedError } from '../client/exchange.ts';
import { whyNotSent, whyUnknown } from '../client/failures.ts';
import { codeOf, messageOf } from '../errors.ts';
import type { Answered, AnswerHeaders } from './caller.ts';
import type { TargetAnswer } from './target.ts';

const MAX_EXCERPT_LENGTH = 300;

/** `label`: method and origin, for messages. */
export function toAnswered(exchanged: Exchanged, label: string): Answered {
  const { head, error } = exchanged;
  if (!exchanged.dispatched) return notSent(error, label);
  const httpStatus = head?.httpStatus;
  const headers = head && firstOfEach(head.headers);
  if (httpStatus !== undefined && headers !== undefined && error === undefined) {
    return { status: 'answered', httpStatus, headers, text: Buffer.from(exchanged.body).toString() };
  }
  const seen = { ...(httpStatus !== undefined && { httpStatus }), ...(headers !== undefined && { headers }) };
  return { ...unknown(error, label), ...seen };
}

/** For a dead letter: the beginning of a text on one line, without control characters: terminals obey them. */
export function excerpt(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  return line.length > MAX_EXCERPT_LENGTH ? `${line.slice(0, MAX_EXCERPT_LENGTH - 1)}…` : line;
}

/** As a dead letter keeps it; `text` is free of secrets. */
export function answerOf(httpStatus: number, text: string): TargetAnswer {
  const shown = excerpt(text);
  return { httpStatus, ...(shown !== '' && { text: shown }) };
}

/** Receivers like to echo secrets. Those shorter than `minLength` are none, and would turn every text into a riddle. */
export function withoutSecrets(text: string, secrets: readonly string[], minLength: number): string {
  // The longest first: one that contains another must not leave its rest behind.
  const longestFirst = secrets.filter(({ length }) => length >= minLength).toSorted((a, b) => b.length - a.length);
  return longestFirst.reduce((clean, secret) => clean.replaceAll(secret, '***'), text);
}

function notSent(error: unknown, label: string): Answered {
  if (codeOf(error) === 'ADDRESS_REFUSED') {
    return {
      status: 'not-sent',
      reason: 'ADDRESS_REFUSED',
      detail: `${label}: not sent: ${messageOf(error)}`,
    };
  }
  const { reason, words } = whyNotSent(error);
  return { status: 'not-sent', reason: reason === 'aborted' ? 'ABORTED' : 'UNREACHABLE', detail: `${label}: ${words}` };
}

function unknown(error: unknown, label: string): Extract<Answered, { status: 'unknown' }> {
  const status = 'unknown';
  if (codeOf(error) === 'UND_ERR_HEADERS_OVERFLOW') {
    return { status, reason: 'TOO_LARGE', detail: `${label}: answers with more headers than are read` };
  }
  const detail = `${label}: ${whyUnknown(error).words}`;
  if (error instanceof StoppedError && error.reason === 'timeout') return { status, reason: 'TIMEOUT', detail };
  if (error instanceof StoppedError && error.reason === 'too-large') return { status, reason: 'TOO_LARGE', detail };
  return { status, reason: 'BROKEN_OFF', detail };
}

function firstOfEach(headers: NonNullable<Exchanged['head']>['headers']): AnswerHeaders {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  );
}
