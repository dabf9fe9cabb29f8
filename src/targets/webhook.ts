/** Webhooks, as Standard Webhooks describes them: signed POSTs, and signed calls back that tell of a task. */
import { z } from 'zod';
import type { WebhookTarget } from '../settings/targets/webhook.ts';
import { answerOf, withoutSecrets } from './answers.ts';
import { secretUnread, type TargetNeeds } from './item-calls.ts';
import { jsonOf } from './json.ts';
import { signatureHeaders, signingKey, verifyStandardWebhook } from './signature.ts';
import type { Delivery, HookRequest, HookVerdict, Target } from './target.ts';
import { webhookOutcome } from './webhook-outcome.ts';

const MIN_SECRET_LENGTH = 4;

interface Secrets {
  readonly keys: readonly Buffer[];
  /** As they are written. */
  readonly texts: readonly string[];
}

/** A call back may be about anything; only one about a task is read. */
const aboutTask = z.object({ data: z.object({ task: z.unknown().refine((task) => task !== undefined) }) });
const hookTask = z.object({ id: z.union([z.string().min(1), z.int()]).transform(String), isCompleted: z.boolean() });

/** Throws SECRET_MISSING, SECRET_INVALID, TARGET_SECRET_SHORT or TARGET_SECRET_INVALID, exit code 2. */
export async function openWebhook(settings: WebhookTarget, needs: TargetNeeds): Promise<Target> {
  const { caller, now = () => new Date() } = needs;
  /** At each use, so that a rotated secret needs no restart. */
  const readSecrets = async (): Promise<Secrets> => {
    const refs = [settings.secret, ...(settings.previousSecret === undefined ? [] : [settings.previousSecret])];
    const texts = await Promise.all(refs.map((ref) => needs.readSecret(ref)));
    return { texts, keys: texts.map((text, index) => signingKey(text, refs[index]?.where ?? '')) };
  };
  // A secret that cannot be used is a matter for whoever starts the worker, not for each delivery.
  await readSecrets();

  return {
    async deliver(delivery, context) {
      const secrets = await readSecrets().catch(secretUnread); // it may come back, and the delivery waits for it
      if ('status' in secrets) return secrets;
      const body = bodyOf(delivery);
      const headers = {
        'content-type': 'application/json',
        ...signatureHeaders({ id: delivery.id, timestamp: now(), body }, secrets.keys),
      };
      const answered = await caller.send({ method: 'POST', path: '', headers, body }, context);
      const outcome = webhookOutcome(answered, settings.name);
      if (answered.status === 'not-sent' || answered.httpStatus === undefined) return outcome;
      // Before it is cut off: half a secret is one, too.
      const hidden = [...secrets.texts, ...secretsOf(settings.url.reveal())];
      const text = answered.status === 'answered' ? withoutSecrets(answered.text, hidden, MIN_SECRET_LENGTH) : '';
      return { ...outcome, answer: answerOf(answered.httpStatus, text) };
    },
    async readHook(request, at) {
      const { keys } = await readSecrets();
      const verified = verifyStandardWebhook(request, keys, at);
      if (verified.status === 'refused') return verified;
      const verdict = readItems(request);
      const id = request.headers['webhook-id'];
      return verdict.status === 'accepted' && id !== undefined ? { ...verdict, id } : verdict;
    },
    close: () => caller.close(),
  };
}

function bodyOf({ account, sequence, event, seenAt, task }: Delivery): string {
  const type = `${task.kind}.${event}`;
  return JSON.stringify({ type, timestamp: seenAt.toISOString(), data: { account, sequence, task } });
}

function readItems({ body }: HookRequest): HookVerdict {
  const refused = (reason: string) => ({ status: 'refused', httpStatus: 400, reason }) as const;
  const parsed = jsonOf(body);
  if (parsed === undefined) return refused('the body is no JSON');
  const about = aboutTask.safeParse(parsed);
  if (!about.success) return { status: 'accepted', items: [] };
  const task = hookTask.safeParse(about.data.data.task);
  if (!task.success) return refused('data.task is not { "id": …, "isCompleted": true or false }');
  const { id, isCompleted } = task.data;
  return { status: 'accepted', items: [{ itemId: id, isCompleted, status: isCompleted ? 'completed' : 'open' }] };
}

/** Every part of the URL that may be a secret: what stands in its path and its query, encoded and not. */
function secretsOf(url: string): string[] {
  const { pathname, search, searchParams } = new URL(url);
  const encoded = [`${pathname}${search}`, ...pathname.split('/'), ...search.slice(1).split(/[&=]/)];
  return [...encoded, ...pathname.split('/').map(decoded), ...searchParams.values()];
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // a lone % is allowed in a URL
  }
}
