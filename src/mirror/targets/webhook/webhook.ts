/** Webhooks, as Standard Webhooks specifies them: signed POSTs, and signed calls back about a task. */
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { LongInteger } from '../../../client/call/json.ts';
import { isRedirect } from '../../../client/call/redirect.ts';
import type { CallContext, DeliveryOutcome, HookRequest, HookVerdict, Target } from '../../../contract/target.ts';
import type { SettingsOf } from '../../../settings/schema-target.ts';
import { jsonOf } from '../calls/call-answers.ts';
import { secretUnread } from '../calls/secret-unread.ts';
import { partsOf } from '../calls/secret-url.ts';
import { refused, signatureHeaders, signingKey, verifyStandardWebhook } from '../calls/signature.ts';
import { withHeaders } from '../calls/with-headers.ts';
import { reach } from '../findings.ts';
import { sendEvent, type TargetNeeds } from '../items/item-calls.ts';
import { type Reply, untilTime, type VendorAnswers, waitOf } from '../items/item-outcome.ts';
import { plainItem } from '../items/wanted-state.ts';
import { type Content, contents } from './webhook-content.ts';

/** Less is no reason for a refusal: Standard Webhooks allows five minutes. */
const CLOCK_NOTED_MS = 4 * 60_000;

interface Secrets {
  readonly keys: readonly Buffer[];
  /** The secrets as written, with their prefix. */
  readonly texts: readonly string[];
}

/** A call back may be about anything; only calls about a task are read. */
const aboutTask = z.object({ data: z.object({ task: z.unknown().refine((task) => task !== undefined) }) });
const hookTask = z.object({
  id: z.union([z.string().min(1), z.int(), z.instanceof(LongInteger)]).transform(String),
  isCompleted: z.boolean(),
});

/** Throws SECRET_MISSING, SECRET_INVALID, TARGET_SECRET_SHORT or TARGET_SECRET_INVALID, exit code 2. */
export async function openWebhook(settings: SettingsOf<'webhook'>, needs: TargetNeeds): Promise<Target> {
  const where = `targets.${settings.name}`;
  const { post, readSecrets } = await openPoster(settings, withHeaders(needs, settings.headers), where);
  const content = contents(settings);
  return {
    async deliver(delivery, context) {
      const written = content.of(delivery);
      return written.status === 'ok' ? post(delivery.id, written, context) : written;
    },
    test(context) {
      const id = `msg_${randomBytes(18).toString('base64url')}`;
      return post(id, content.test(id, new Date()), context);
    },
    async readHook(request, at) {
      const { keys } = await readSecrets();
      const verified = verifyStandardWebhook(request, keys, at);
      if (verified.status === 'refused') return verified;
      const verdict = readItems(request);
      const id = request.headers['webhook-id'];
      return verdict.status === 'accepted' && id !== undefined ? { ...verdict, id } : verdict;
    },
    check: (context) => reach(needs.caller, context),
    hooks: {
      byHand: (url) => [
        `Let your program call POST ${url} when it completes or reopens a task.`,
        `  Sign the call with the secret of ${where}, as Standard Webhooks specifies.`,
        '  Body: {"data": {"task": {"id": "12", "isCompleted": true}}}',
      ],
    },
    close: () => needs.caller.close(),
  };
}

export interface Poster {
  /** Sends a signed message; never rejects for the receiver's answer. `id`: the same in all attempts. */
  post(id: string, content: Omit<Content, 'status'>, context: CallContext): Promise<DeliveryOutcome>;
  readSecrets(): Promise<Secrets>;
}

/** `where`: the settings that name the receiver, such as targets.ops-hook. Throws as `openWebhook`. */
export async function openPoster(
  settings: Pick<SettingsOf<'webhook'>, 'url' | 'secret' | 'previousSecret'>,
  needs: TargetNeeds,
  where: string,
): Promise<Poster> {
  const answers = answersOf(where);
  /** Read at each use, so a rotated secret needs no restart. */
  const readSecrets = async (): Promise<Secrets> => {
    const refs = [settings.secret, ...(settings.previousSecret === undefined ? [] : [settings.previousSecret])];
    const texts = await Promise.all(refs.map((ref) => needs.readSecret(ref)));
    return { texts, keys: texts.map((text, index) => signingKey(text, refs[index]?.where ?? '')) };
  };
  const urlSecrets = partsOf(settings.url.reveal());
  // A secret that cannot be used is reported when the worker starts, not by each delivery.
  await readSecrets();

  return {
    readSecrets,
    async post(id, { headers: own, body }, context) {
      const secrets = await readSecrets().catch(secretUnread); // the delivery waits, because the secret may be put back
      if ('status' in secrets) return secrets;
      const headers = { ...own, ...signatureHeaders({ id, timestamp: needs.now(), body }, secrets.keys) };
      const hidden = [...secrets.texts, ...urlSecrets];
      const request = { method: 'POST', path: '', headers, body, secrets: hidden } as const;
      return sendEvent(answers, request, context, needs, { call: 'POST' });
    },
  };
}

/**
 * The meaning of the receiver's answer. Standard Webhooks: 2xx is a success, 410 is the end, and everything else is retried,
 * because a receiver's 404 or 401 is more often a failed deployment than a verdict on the event.
 */
function answersOf(where: string): VendorAnswers {
  return {
    name: 'the receiver',
    tokenRemedy: '',
    message: z.never(), // the answers are of any form
    judge(reply, nowMs) {
      const { httpStatus } = reply;
      if (httpStatus >= 200 && httpStatus < 300) return { status: 'ok' };
      if (httpStatus === 408 || httpStatus === 429 || httpStatus >= 500) return undefined;
      const detail = `the receiver answers HTTP ${httpStatus}${remedyOf(httpStatus, where)}${clockNote(reply, nowMs)}`;
      if (httpStatus === 410) return { status: 'disabled', reason: 'GONE', detail };
      const wait = waitOf(reply, nowMs);
      const reason = isRedirect(httpStatus) ? 'REDIRECTED' : 'NOT_ACCEPTED';
      return { status: 'later', reason, detail, ...(wait !== undefined && { retryAfterMs: wait }) };
    },
  };
}

function remedyOf(httpStatus: number, where: string): string {
  if (isRedirect(httpStatus))
    return `, a redirect, which is never followed: set ${where}.url to the address that it leads to`;
  if (httpStatus === 401 || httpStatus === 403) return `: check that it has the secret in ${where}.secret`;
  if (httpStatus === 404 || httpStatus === 405) return `: check ${where}.url`;
  if (httpStatus === 410) return `: it accepts no more deliveries; set ${where}.url to its new address, or remove it`;
  return '';
}

/** Receivers refuse a signed time that is not their own. */
function clockNote(reply: Reply, nowMs: number): string {
  const aheadMs = untilTime(nowMs, reply, nowMs);
  if (![400, 401, 403].includes(reply.httpStatus) || Math.abs(aheadMs) < CLOCK_NOTED_MS) return '';
  const minutes = Math.round(Math.abs(aheadMs) / 60_000);
  return `; the clock of this machine is ${minutes} minutes ${aheadMs > 0 ? 'ahead of' : 'behind'} that of the receiver: correct the one that is wrong`;
}

function readItems({ body }: HookRequest): HookVerdict {
  const parsed = jsonOf(body);
  if (parsed === undefined) return refused('the body is not JSON', 400);
  const about = aboutTask.safeParse(parsed);
  if (!about.success) return { status: 'accepted', items: [] };
  const task = hookTask.safeParse(about.data.data.task);
  if (!task.success) return refused('data.task is not { "id": …, "isCompleted": true or false }', 400);
  const { id, isCompleted } = task.data;
  return { status: 'accepted', items: [plainItem(id, isCompleted)] };
}
