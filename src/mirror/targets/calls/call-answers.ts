/** The result of an exchange with a target, and what of its answer may be stored. Pure. */
import { codeOf, messageOf } from '../../../base/errors.ts';
import { shortened } from '../../../base/texts.ts';
import { whyNotSent, whyUnknown } from '../../../client/call/failures.ts';
import { type Json, parseJson } from '../../../client/call/json.ts';
import type { NotSentReason } from '../../../client/call/outcome.ts';
import { type Exchanged, StoppedError } from '../../../client/http/exchange.ts';
import type { TargetAnswer, TargetFailure } from '../../../contract/target.ts';

export interface AnswerHeaders {
  /** Names in lower case; if a name repeats, its first value, and all links. */
  readonly [name: string]: string | undefined;
}

export interface Head {
  readonly httpStatus: number;
  readonly headers: AnswerHeaders;
}

export type Answered =
  /** An answer with any status, including 3xx, 4xx and HTML. `text` is complete. */
  | ({ readonly status: 'answered'; readonly text: string } & Head)
  /** The body is missing or incomplete. */
  | ({ readonly status: 'cut-off'; readonly failure: TargetFailure } & Head)
  /** Nothing was sent, or no answer arrived. */
  | { readonly status: 'failed'; readonly failure: TargetFailure };

const MAX_EXCERPT_LENGTH = 300;

/** `label`: method and origin, for messages. */
export function toAnswered({ head, error, dispatched, body }: Exchanged, label: string): Answered {
  if (!dispatched) return { status: 'failed', failure: notSent(error, label) };
  if (head === undefined) return { status: 'failed', failure: unknown(error, label) };
  const seen = { httpStatus: head.httpStatus, headers: firstOfEach(head.headers) };
  if (error !== undefined) return { status: 'cut-off', ...seen, failure: unknown(error, label) };
  return { status: 'answered', ...seen, text: Buffer.from(body).toString() };
}

/** For a dead letter: the beginning of a text on one line, without control characters, which terminals would execute. */
export function excerpt(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  return shortened(line, MAX_EXCERPT_LENGTH);
}

/** The vendor's time in an answer. */
export function dateOf({ date }: AnswerHeaders): Date | undefined {
  const ms = Date.parse(date ?? '');
  return Number.isNaN(ms) ? undefined : new Date(ms);
}

/** As a dead letter stores it; `text` contains no secrets. */
export function answerOf(httpStatus: number, text: string): TargetAnswer {
  const shown = excerpt(text);
  return { httpStatus, ...(shown !== '' && { text: shown }) };
}

const NOT_SENT: Readonly<Partial<Record<NotSentReason, string>>> = {
  certificate: 'CERTIFICATE',
  unreachable: 'UNREACHABLE',
};

function notSent(error: unknown, label: string): TargetFailure {
  if (codeOf(error) === 'ADDRESS_REFUSED') return addressRefused(label, messageOf(error));
  const { reason, words } = whyNotSent(error);
  return { status: 'later', reason: NOT_SENT[reason] ?? 'ABORTED', detail: `${label}: ${words}` };
}

export function addressRefused(label: string, why: string): TargetFailure {
  const remedy = 'set allowPrivate: true for this target if it is in your own network';
  return { status: 'disabled', reason: 'ADDRESS_REFUSED', detail: `${label}: not sent: ${why}; ${remedy}` };
}

const STOPPED: Readonly<Record<string, string>> = { timeout: 'TIMEOUT', 'too-large': 'TOO_LARGE' };

/** The call was sent, and no whole answer arrived. */
function unknown(error: unknown, label: string): TargetFailure {
  if (codeOf(error) === 'UND_ERR_HEADERS_OVERFLOW') {
    return { status: 'later', reason: 'TOO_LARGE', detail: `${label}: the answer has more headers than allowed` };
  }
  const reason = (error instanceof StoppedError ? STOPPED[error.reason] : undefined) ?? 'BROKEN_OFF';
  return { status: 'later', reason, detail: `${label}: ${whyUnknown(error).words}` };
}

function firstOfEach(headers: NonNullable<Exchanged['head']>['headers']): AnswerHeaders {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? oneOf(name, value) : value]),
  );
}

/** Links may be in several headers, such as one to the page itself and one to the next. */
function oneOf(name: string, values: readonly string[]): string | undefined {
  return name === 'link' ? values.join(', ') : values[0];
}

/** The JSON of a text or a body, in which longer integers keep their digits; undefined if it is not JSON. */
export function jsonOf(text: string | Buffer): Json | undefined {
  if (text.length === 0) return undefined; // most answers of webhooks are empty, and a thrown error costs much
  try {
    return parseJson(text.toString().replace(/^\ufeff/, '')); // some servers write a byte order mark first
  } catch {
    return undefined;
  }
}
