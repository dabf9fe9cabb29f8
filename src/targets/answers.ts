/** What an exchange with a target came to, and what of its answer may be kept. Pure. */
import { type Exchanged, StoppedError } from '../client/exchange.ts';
import { whyNotSent, whyUnknown } from '../client/failures.ts';
import { codeOf, messageOf } from '../errors.ts';
import type { Answered, AnswerHeaders } from './caller.ts';
import type { TargetAnswer } from './target.ts';

const MAX_EXCERPT_LENGTH = 300;
/** Shorter ones are no secrets, and would turn every text into a riddle. */
const MIN_SECRET_LENGTH = 4;

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

/** For a dead letter: the first few hundred characters on one line, without `secrets`, which receivers like to echo. */
export function excerpt(answered: Answered, secrets: readonly string[]): TargetAnswer | undefined {
  if (answered.status === 'not-sent' || answered.httpStatus === undefined) return undefined;
  const { httpStatus } = answered;
  if (answered.status === 'unknown') return { httpStatus };
  // Before it is cut off: half a secret is one, too.
  const text = withoutControls(withoutSecrets(answered.text, secrets));
  if (text === '') return { httpStatus };
  return { httpStatus, text: text.length > MAX_EXCERPT_LENGTH ? `${text.slice(0, MAX_EXCERPT_LENGTH - 1)}…` : text };
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

function withoutSecrets(text: string, secrets: readonly string[]): string {
  // The longest first: one that contains another must not leave its rest behind.
  const longestFirst = secrets
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    .toSorted((a, b) => b.length - a.length);
  let clean = text;
  for (const secret of longestFirst) clean = clean.replaceAll(secret, '***');
  return clean;
}

/** The text is shown in terminals, which obey control characters. */
function withoutControls(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
}
