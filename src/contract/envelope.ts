/**
 * The envelope around an answer when `only_body=true` is not sent (docs/contract.md, "Endpoints"): status, content,
 * message. The contract names the members but shows no values; ours are below.
 */

export interface Envelope<T = unknown> {
  readonly status: 'success' | 'error';
  readonly content: T;
  readonly message: string;
}

/** Our service's envelope around a result. Creates and updates have `content: null`, because the contract shows none. */
export function succeeded<T>(content: T, message = 'OK'): Envelope<T> {
  return { status: 'success', content, message };
}

/** Our service's envelope around an error. It is sent with the matching HTTP status unless the test bed says otherwise. */
export function failed(message: string): Envelope<null> {
  return { status: 'error', content: null, message };
}

const FAILING_WORDS =
  /^(error|errors|fail|failed|failure|ko|nok|false|invalid|unauthori[sz]ed|forbidden|denied|not[ _-]?found|exception)$/i;

/**
 * The service's message if `body` is an envelope, in our form or a similar one, that reports an error; otherwise
 * undefined. Names are compared without case. These count as an error: a `status` that is a failing word, `false`, `0`
 * (unless the message says success) or a number ≥ 400; a `success`, `ok` or `isSuccess` that is `false`, `0` or a failing word;
 * without a `status`, a `code` ≥ 400; a non-empty `error`, `errors` or `errorMessage`, unless `status` reports success. A record that
 * has a `status` field, such as an order, is not an envelope: another member of an envelope has to be present too. Nor is
 * anything with an id, except in JSON-RPC.
 */
export function failureIn(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined;
  const members = lowerCased(body);
  const isRecord = [members.id, members.order_id].some((value) => value !== undefined && value !== null);
  if (isRecord && members.jsonrpc === undefined) return undefined;
  if (FLAGS.some((name) => isFailing(members[name]))) return messageOf(members);
  const verdict = verdictOf(members);
  if (verdict !== undefined) return verdict === 'failed' ? messageOf(members) : undefined;
  const error = ERRORS.map((name) => members[name]).find((value) => value !== undefined && value !== null);
  return isPresent(error) && !saysSuccess(error) ? messageOf(members) : undefined;
}

/** What the status says, or without a status an error code; undefined if they say nothing. */
function verdictOf(members: Members): 'failed' | 'succeeded' | undefined {
  const isFramed = FRAMES.some((name) => members[name] !== undefined);
  const { status } = members;
  if (status === undefined) return isFramed && isErrorCode(members.code) ? 'failed' : undefined;
  if (isZero(status) && saysSuccess(members.message)) return 'succeeded'; // 0 as an exit code
  if ((isFramed || Object.keys(members).length === 1) && isFailing(status)) return 'failed';
  return isSucceeding(status) ? 'succeeded' : undefined;
}

type Members = Readonly<Record<string, unknown>>;

/** The members of `body` by their names in lower case. No value is undefined, because it comes from JSON. */
function lowerCased(body: object): Members {
  if (Object.keys(body).every((name) => name === name.toLowerCase())) return body as Members; // safe: any object has members
  const members: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(body)) members[name.toLowerCase()] = value;
  return members;
}

/** Members that an envelope has beside its status. */
const FRAMES = ['content', 'message', 'msg', 'info', 'data', 'error', 'errors', 'code', 'result'];

/** Members that say whether the call succeeded. */
const FLAGS = ['success', 'ok', 'issuccess', 'is_success', 'succeeded', 'successful'];

/** Members that only answers about errors fill. */
const ERRORS = ['error', 'errors', 'errormessage', 'error_message', 'errmsg', 'validationerrors', 'fault'];

const isErrorCode = (value: unknown) => typeof value === 'number' && value >= 400 && value < 600;

const isZero = (value: unknown) => value === 0 || value === '0';

const saysSuccess = (value: unknown) =>
  typeof value === 'string' && /^(success(ful|fully)?|succeeded|ok|okay)\b/i.test(value);

function isFailing(value: unknown): boolean {
  if (value === false || value === 0) return true;
  if (typeof value === 'number') return value >= 400;
  if (typeof value !== 'string') return false;
  return FAILING_WORDS.test(value) || /^[45]\d\d$/.test(value) || value === '0';
}

function isSucceeding(value: unknown): boolean {
  if (value === true || value === 1) return true;
  if (typeof value === 'number') return value >= 200 && value < 400;
  return typeof value === 'string' && /^(success|succeeded|ok|true|1|2\d\d)$/i.test(value);
}

function isPresent(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '' || value === 0) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

function messageIn(members: Members): string {
  for (const name of ['message', 'msg', 'info', ...ERRORS, 'detail', 'reason', 'title', 'text', 'content']) {
    const value = members[name];
    if (typeof value === 'string' && value !== '') return value;
    if (typeof value === 'object' && value !== null && Object.keys(value).length > 0) {
      const inner = lowerCased(value).message;
      return typeof inner === 'string' ? inner : asText(value);
    }
  }
  const others = Object.entries(members).filter(([, value]) => isPresent(value) && !isFailing(value));
  return others.length === 0 ? 'the service reported an error without a message' : asText(Object.fromEntries(others));
}

/** Begins with words for a limit if a code says it, because the message may not, or not in English. */
function messageOf(members: Members): string {
  const isLimit = [members.status, members.code].some((code) => Number(code) === 429);
  return isLimit ? `Rate limit: ${messageIn(members)}` : messageIn(members);
}

/** A value as JSON text, or a note if it is nested too deeply to be written. */
export function asText(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return 'an error nested too deeply to be shown';
  }
}
