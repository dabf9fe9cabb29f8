/** Calls to a vendor with its token: JSON both ways, answers checked, and no secret in anything that comes back. */
import { z } from 'zod';
import type { CallContext, DeliveryOutcome, TargetFailure } from '../../../contract/target.ts';
import type { SecretRef } from '../../../settings/fields.ts';
import { type AnswerHeaders, answerOf, dateOf, type Head, jsonOf } from '../calls/call-answers.ts';
import type { TargetCaller, TargetRequest } from '../calls/caller.ts';
import type { KeptSecrets } from '../calls/kept-secrets.ts';
import { type TokenSource, tokenFrom } from '../calls/token-source.ts';
import type { DetailLog } from './creation-log.ts';
import { itemFailureOf, ofWrite, type Reply, unreadable, type VendorAnswers } from './item-outcome.ts';
import type { Asked, Missing } from './item-target.ts';

export interface TargetNeeds {
  readonly caller: TargetCaller;
  /** Read at each use, so a rotated secret needs no restart. */
  readSecret(ref: SecretRef): Promise<string>;
  /** For a target whose token expires. Default: the token of the settings. */
  readonly tokens?: TokenSource;
  /** For a vendor that makes secrets. */
  readonly kept?: KeptSecrets;
  now(): Date;
}

export interface ItemNeeds extends TargetNeeds {
  readonly log: DetailLog;
}

/** Shorter words of the header, such as Bearer, are not secret and may occur in any answer. */
const MIN_TOKEN_LENGTH = 8;

interface ItemRequest extends Omit<TargetRequest, 'headers' | 'body'> {
  readonly headers?: TargetRequest['headers'];
  /** Sent as JSON. */
  readonly body?: unknown;
  /** The body as it is sent, instead of `body`: JSON, unless the headers say another type. */
  readonly content?: string | undefined;
  /** Whether an answer that is not JSON is complete, too. */
  readonly takesText?: boolean;
}

export interface Calls {
  /** The answer, as `schema` reads it. */
  ask<T>(request: ItemRequest, schema: z.ZodType<T>): Promise<Asked<T>>;
  askWhole<T>(request: ItemRequest, schema: z.ZodType<T>): Promise<Asked<WithHeaders<T>>>;
  /** The vendor's time in its first answer; undefined if it has none. */
  vendorTime(): Date | undefined;
}

interface WithHeaders<T> {
  readonly value: T;
  readonly headers: AnswerHeaders;
}

/** An answer, changed by `of`; a failure stays. */
export async function mapAsked<From, To>(
  asking: Asked<From> | Promise<Asked<From>>,
  of: (value: From) => To,
): Promise<Asked<To>> {
  const asked = await asking;
  return asked.status === 'ok' ? { status: 'ok', value: of(asked.value) } : asked;
}

/** For an answer whose content does not matter: the call succeeded, and the item is in the state `to`. */
export function moved(to: string, note?: string) {
  return z.unknown().transform(() => ({ to, ...(note !== undefined && { note }) }));
}

/** For a call whose answer does not matter. */
export const accepted = z.unknown().transform(() => undefined);

export type Speaker = VendorAnswers & { headersOf(token: string): TargetRequest['headers'] };

/** Those of the target's grant, or of its settings. */
export function tokensOf({ tokens, readSecret }: TargetNeeds, ref?: SecretRef): TokenSource {
  return tokens ?? tokenFrom(ref, readSecret);
}

/** Calls with this token, if there is one; a failure if it cannot be read, because that may be fixed while the delivery waits. */
export async function connect(
  vendor: Speaker,
  ref: SecretRef | undefined,
  needs: TargetNeeds,
  context: CallContext,
): Promise<Calls | TargetFailure> {
  const tokens = tokensOf(needs, ref);
  const first = await tokens.read();
  if (typeof first !== 'string') return first;
  let token = first;
  let vendorTime: Date | undefined;

  const askWith = async <T>(
    { method, path, headers: own, body, content, secrets: given = [], takesText = false, ...more }: ItemRequest,
    schema: z.ZodType<T>,
  ): Promise<Asked<WithHeaders<T>>> => {
    const headers = vendor.headersOf(token);
    const secrets = [token, ...given, ...(headers.authorization ?? '').split(' ')].filter(
      ({ length }) => length >= MIN_TOKEN_LENGTH,
    );
    const call = `${`${method} ${path.replace(/\?.*$/, '')}`.trim()} of ${vendor.name}`;
    const written = content ?? (body === undefined ? undefined : JSON.stringify(body));
    const type: TargetRequest['headers'] = written === undefined ? {} : { 'content-type': 'application/json' };
    const all = { ...headers, ...type, ...own };
    const sent = written === undefined ? {} : { body: written };
    const followsMoves = method === 'GET' && vendor.followsMoves === true;
    const request = { ...more, method, path, headers: all, followsMoves, secrets, ...sent };
    const judged = await sendJudged(vendor, call, request, context, needs);
    if (judged.status !== 'judged') return judged;
    const { reply, failure, cutOff = failure } = judged;
    if (cutOff !== undefined) return cutOff;
    // An empty answer may be complete; a page of HTML with a 200 is not the vendor's answer.
    const isReadable = takesText || reply.body !== undefined || reply.text.trim() === '';
    const read = schema.safeParse(reply.body);
    if (!read.success) return unreadable(reply, call, lackOf(read.error));
    if (!isReadable) return unreadable(reply, call);
    return { status: 'ok', value: { value: read.data, headers: reply.headers } };
  };
  const askWhole: Calls['askWhole'] = async (request, schema) => {
    const asked = await renewing(tokens, token, (present) => {
      token = present;
      return askWith(request, schema);
    });
    if (asked.status === 'ok') vendorTime ??= dateOf(asked.value.headers);
    return asked;
  };
  return {
    askWhole,
    vendorTime: () => vendorTime,
    ask: (request, schema) => mapAsked(askWhole(request, schema), ({ value }) => value),
  };
}

/** Calls with this token, and again with another one if it is refused: a token may have been withdrawn before its time. */
export async function renewing<Answer extends { readonly status: string; readonly reason?: string }>(
  tokens: TokenSource,
  first: string,
  call: (token: string) => Promise<Answer>,
): Promise<Answer | TargetFailure> {
  for (let token = first; ; ) {
    const answer = await call(token);
    if (answer.status !== 'disabled' || answer.reason !== 'TOKEN_REFUSED') return answer;
    const renewed = await tokens.renew(token); // a refused call changed nothing
    if (renewed === undefined) return answer;
    if (typeof renewed !== 'string') return renewed;
    token = renewed;
  }
}

/** What the answer lacks, if the schema says so in words of its own. */
function lackOf({ issues }: z.ZodError): string {
  const own = issues.find(({ code }) => code === 'custom');
  return own === undefined ? '' : `: ${own.message}`;
}

interface Judged {
  readonly status: 'judged';
  /** Its text is empty if the body is incomplete. */
  readonly reply: Reply;
  readonly failure: TargetFailure | Missing | undefined;
  /** Why the body is incomplete. */
  readonly cutOff?: TargetFailure;
}

/** A failure if there is no answer. `call`: for messages. All calls pause if the answer asks for it, in whatever way. */
async function sendJudged(
  answers: VendorAnswers,
  call: string,
  request: TargetRequest,
  context: CallContext,
  { caller, now }: Pick<TargetNeeds, 'caller' | 'now'>,
): Promise<Judged | TargetFailure> {
  const { method, isRead = method === 'GET' || method === 'HEAD' } = request;
  const left = <F extends TargetFailure | Missing | undefined>(failure: F) => (isRead ? failure : ofWrite(failure));
  let judged: Judged | undefined;
  const judge = ({ httpStatus, headers }: Head, text: string): Judged => {
    const reply: Reply = { httpStatus, headers, text, body: httpStatus === 204 ? null : jsonOf(text) };
    return { status: 'judged', reply, failure: left(itemFailureOf(answers, reply, call, now().getTime())) };
  };
  const answered = await caller.send(request, context, (whole) => {
    judged = judge(whole, whole.text);
    const { failure } = judged;
    return failure?.status === 'later' && failure.isLimited ? failure.retryAfterMs : undefined;
  });
  if (answered.status === 'failed') return left(answered.failure);
  if (answered.status === 'cut-off') return { ...judge(answered, ''), cutOff: left(answered.failure) };
  return judged ?? judge(answered, answered.text);
}

interface EventHow {
  /** For messages. */
  readonly call: string;
  readonly readsBody?: (httpStatus: number) => boolean;
  /** What to check if there is nothing at the address. */
  readonly place?: string;
}

/**
 * For a target that receives events and has no items: the status of the answer decides, however its body ends, unless the body
 * of such a status is read.
 */
export async function sendEvent(
  answers: VendorAnswers,
  request: TargetRequest,
  context: CallContext,
  needs: Pick<TargetNeeds, 'caller' | 'now'>,
  { call, readsBody = () => false, place = 'the address' }: EventHow,
): Promise<DeliveryOutcome> {
  const judged = await sendJudged(answers, call, request, context, needs);
  if (judged.status !== 'judged') return judged;
  const { reply, failure, cutOff } = judged;
  const isRead = readsBody(reply.httpStatus);
  if (cutOff !== undefined && isRead) return cutOff;
  if (failure?.status === 'missing') {
    return { status: 'refused', reason: 'PLACE_MISSING', detail: `${failure.detail}; check ${place}` };
  }
  if (failure !== undefined) return failure;
  if (isRead && reply.body === undefined) return unreadable(reply, call);
  return { status: 'delivered', answer: answerOf(reply.httpStatus, reply.text) };
}

/** A time in whole seconds, `2026-03-01T12:00:00Z`: the one form that every vendor reads. */
export function isoSeconds(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z');
}
