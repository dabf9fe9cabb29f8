/**
 * Turns one exchange into an outcome (docs/protocol.md, "Outcomes"). Pure, and the only file that decides whether a call
 * was applied. If this is not certain, the outcome is `unknown`: reading a row back needlessly costs a read; treating it as not
 * applied by mistake costs a duplicate.
 */
import { asText, failureIn } from '../../contract/envelope.ts';
import { kindOf } from '../../contract/kinds.ts';
import type { Operation } from '../../contract/operation.ts';
import { type OperationName, operations } from '../../contract/operations.ts';
import { encodingOf, packingOf } from '../http/content-encoding.ts';
import type { Exchanged, Head } from '../http/exchange.ts';
import { asksToWait, retryAfterMs } from '../http/retry-after.ts';
import { besideOf } from '../lists/beside.ts';
import { adviceOnNothing, decodeBody, looksLike, unwrap } from './decode.ts';
import { isJsonObject } from './dialect.ts';
import { whyNotSent, whyUnknown } from './failures.ts';
import type { Json } from './json.ts';
import type { Applied, Limited, Outcome, Refused, Unknown, UnknownReason } from './outcome.ts';
import { isRedirect, redirectOf } from './redirect.ts';

/** Successes: the contract shows only 200; other services use the others as well. */
const SUCCESS = new Set([200, 201, 202, 204]);
/** Answers that a service gives before it changes anything (assumption A3 in docs/protocol.md). For 429 see `isLimited`. */
const NOT_APPLIED = new Set([
  400, 401, 402, 403, 404, 405, 409, 410, 411, 412, 413, 414, 415, 417, 421, 422, 426, 428, 431, 451, 501,
]);

export interface Call {
  readonly operation: OperationName;
  /** Method and URL without ids and query, for messages. */
  readonly label: string;
}

/**
 * True if the operation changes nothing at the service. Two reads of the contract are POSTs (pipelines), and one GET
 * writes (mark-complete).
 */
export function isRead(operation: OperationName): boolean {
  const { result }: Operation = operations[operation];
  return result !== undefined;
}

/** A part of a list, as `Content-Range` says, is a success of a list. */
export function isSuccess({ operation }: Call, head: Head): boolean {
  const { list }: Operation = operations[operation];
  const isPart = head.httpStatus === 206 && headerOf(head, 'content-range') !== undefined;
  return SUCCESS.has(head.httpStatus) || (list !== undefined && isPart);
}

export function classify(call: Call, exchanged: Exchanged): Outcome {
  const { head, error } = exchanged;
  if (head === undefined && !exchanged.dispatched) {
    const { reason, words } = whyNotSent(error);
    return { status: 'not-sent', message: `${call.label}: ${words}`, reason };
  }
  if (head === undefined) {
    const { reason, words } = whyUnknown(error);
    return unknown(call, reason, words);
  }
  if (isLimited(call.operation, head)) return limited(head);
  if (isSuccess(call, head)) return classifySuccess(call, exchanged, head);
  if (NOT_APPLIED.has(head.httpStatus)) return refusal(call, head, exchanged.body);
  return classifyDoubt(call, head, exchanged.body);
}

function isLimited(operation: OperationName, head: Head): boolean {
  if (head.httpStatus === 429) return true;
  // On a write, a 503 may come from a gateway while the service behind it still applies the call.
  return isRead(operation) && unavailableForMs(head) !== undefined;
}

/** How long a service that is unavailable asks all calls to wait; undefined if it does not. */
export function unavailableForMs({ httpStatus, headers, arrivedAtMs }: Head): number | undefined {
  return httpStatus === 503 && asksToWait(headers) ? retryAfterMs(headers, arrivedAtMs) : undefined;
}

function limited({ httpStatus, headers, arrivedAtMs }: Head): Limited {
  return { status: 'limited', httpStatus, retryAfterMs: retryAfterMs(headers, arrivedAtMs) };
}

/** A service may report its rate limit like a refusal: in a failing envelope with HTTP 200, or with HTTP 403. */
const LIMIT_STATUSES: ReadonlySet<number> = new Set([200, 403]);
/** At its beginning, because a refusal may quote what it refuses. */
const LIMIT_WORDS = /^\W*(error\W+)?(too many (requests|calls)|(the |your |api |request )*rate[ _-]?limit|throttl)/i;

/** A refusal with the service's message, or its rate limit. */
export function refusedWith(head: Head, message: string, json: boolean): Refused | Limited {
  const { httpStatus } = head;
  const isLimit = asksToWait(head.headers) || LIMIT_WORDS.test(message);
  if (isLimit && LIMIT_STATUSES.has(httpStatus)) return limited(head);
  return { status: 'refused', httpStatus, message, json };
}

function classifySuccess(call: Call, exchanged: Exchanged, head: Head): Outcome {
  const { httpStatus } = head;
  if (packingOf(head) === 'unknown') {
    return unknown(
      call,
      'unreadable',
      `answers in the content encoding ${encodingOf(head)}, which is not supported: gzip, deflate and br are`,
      httpStatus,
    );
  }
  if (exchanged.error !== undefined) {
    const { reason, words } = whyUnknown(exchanged.error);
    return unknown(call, reason, words, httpStatus);
  }
  if (isEmptyList(call, head)) return { status: 'applied', httpStatus, content: null };
  const decoded = decodeBody(exchanged.body);
  if (decoded.status === 'empty')
    return returnsList(call) ? noList(call, httpStatus) : { status: 'applied', httpStatus, content: undefined };
  if (decoded.status === 'unreadable') {
    const remedy = decoded.isAlmostJson ? 'fix the answers of the service' : 'check the base URL';
    const words = `answers ${decoded.looks} where JSON was expected: ${remedy}`;
    return unknown(call, decoded.html ? 'html' : 'unreadable', words, httpStatus);
  }
  const message = failureIn(decoded.value);
  if (message !== undefined) return refusedWith(head, message, true);
  return { status: 'applied', httpStatus, content: unwrap(decoded.value), ...signsOf(call, decoded.value, head) };
}

/** Whether a list has no records because the service says "no content". An empty body with HTTP 200 may be an error. */
export function isEmptyList(call: Call, { httpStatus }: Head): boolean {
  return returnsList(call) && httpStatus === 204;
}

function returnsList({ operation }: Call): boolean {
  const { list }: Operation = operations[operation];
  return list !== undefined;
}

function noList(call: Call, httpStatus: number): Unknown {
  const words = `answers nothing where a list was expected. ${adviceOnNothing(kindOf(call.operation))}`;
  return unknown(call, 'empty', words, httpStatus);
}

/** What the answer to a list says beside its records. */
export function signsOf({ operation }: Call, body: Json, { headers }: Head): Pick<Applied, 'beside'> {
  const { list, path }: Operation = operations[operation];
  const beside = list === undefined ? undefined : besideOf(body, headers, path);
  return beside === undefined ? {} : { beside };
}

/** Seconds since the service gave the answer; 0 if no cache kept it. Only caches send `Age`: https://www.rfc-editor.org/rfc/rfc9111#section-5.1 */
export function ageOf(head: Head): number {
  return Math.max(0, Number(headerOf(head, 'age')) || 0);
}

function refusal(call: Call, head: Head, body: Uint8Array): Refused | Limited {
  const decoded = decodeBody(body);
  const said = decoded.status === 'json' ? wordsIn(decoded.value) : undefined;
  const json = decoded.status === 'json';
  if (said !== undefined) return refusedWith(head, said, json);
  const came = decoded.status === 'unreadable' ? whatCame(body) : 'no message';
  return refusedWith(head, `${call.label} answers HTTP ${head.httpStatus} with ${came}`, json);
}

function classifyDoubt(call: Call, head: Head, body: Uint8Array): Unknown {
  const { httpStatus } = head;
  if (isRedirect(httpStatus)) {
    const called = call.label.slice(call.label.indexOf(' ') + 1);
    const { words, wantsSlash, wantsPrefix } = redirectOf(call.operation, called, headerOf(head, 'location'));
    const answered = unknown(call, 'redirect', `answers HTTP ${httpStatus}, ${words}`, httpStatus);
    return { ...answered, ...(wantsSlash && { wantsSlash }), ...(wantsPrefix && { wantsPrefix }) };
  }
  const decoded = decodeBody(body);
  const said = decoded.status === 'json' ? wordsIn(decoded.value) : undefined;
  const answered = `answers HTTP ${httpStatus}${said === undefined ? '' : `: ${said}`}`;
  return unknown(call, 'server-error', answered, httpStatus);
}

function unknown(call: Call, reason: UnknownReason, words: string, httpStatus?: number): Unknown {
  const message = `${call.label}: ${words}`;
  return { status: 'unknown', message, reason, ...(httpStatus !== undefined && { httpStatus }) };
}

/** The service's own words in the body of a refusal or of an error. */
function wordsIn(body: Json): string | undefined {
  const failure = failureIn(body);
  if (failure !== undefined) return failure;
  if (typeof body === 'string') return body === '' ? undefined : body;
  if (!isJsonObject(body)) return undefined;
  for (const name of ['message', 'detail', 'title', 'reason', 'description', 'error_description', 'error', 'errors']) {
    const value = Object.hasOwn(body, name) ? body[name] : undefined;
    if (typeof value === 'string' && value !== '') return value;
  }
  return Object.keys(body).length === 0 ? undefined : asText(body);
}

/** Plain text may be the service's message; of a web page, only its type is reported. */
function whatCame(body: Uint8Array): string {
  const text = Buffer.from(body).toString();
  const looks = looksLike(text);
  return looks.startsWith('text') ? `“${text.trim()}”` : looks;
}

function headerOf(head: Head, name: string): string | undefined {
  const value = head.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
