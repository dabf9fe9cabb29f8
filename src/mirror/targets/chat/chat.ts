/** A channel of a chat, reached by an incoming webhook: one message for each change, or one for the changes of a run. */
import { z } from 'zod';
import type { CallContext, Delivery, DeliveryOutcome, Target } from '../../../contract/target.ts';
import type { SettingsOf } from '../../../settings/schema-target.ts';
import { answerOf } from '../calls/call-answers.ts';
import type { TargetCaller } from '../calls/caller.ts';
import { jsonOf } from '../calls/json.ts';
import { reach } from '../check-address.ts';
import { itemFailureOf, type Reply, unreadable, type VendorAnswers } from '../items/item-outcome.ts';
import { titleOf } from '../items/item-text.ts';
import { renderer, viewOf } from '../render.ts';
import { createGathering } from './gathering.ts';

/** What a chat makes of lines of plain text: the body of the call. Nothing in a line may be markup or mention a person. */
export type MessageOf = (lines: readonly string[]) => unknown;

export interface ChatNeeds {
  readonly caller: TargetCaller;
  /** How long a digest waits for further changes. */
  readonly quietMs?: number;
}

/** The most changes in one message. */
export const MOST_IN_DIGEST = 100;
/** A scan queues its changes in portions, with the reads of a page between them. */
const QUIET_MS = 3_000;
const LONGEST_MS = 30_000;
const MAX_LINE = 500;
/** Characters of an answer that a detail shows. */
const MAX_SAID = 100;
/** Teams allows 28 KB for a message, with all of its JSON. */
const MAX_BYTES = 12_000;

/** A workflow of Slack can refuse a message with a 200. */
const notOk = z.object({ ok: z.literal(false) });

type Line = { readonly status: 'ok'; readonly text: string } | Extract<DeliveryOutcome, { status: 'refused' }>;

/** Sends lines as one message. `system`: the name of the chat, for messages. `where`: the settings of its address. */
export function chatPoster(system: string, where: string, messageOf: MessageOf, caller: TargetCaller) {
  const answers = answersOf(system, where);
  return async (lines: readonly string[], context: CallContext): Promise<DeliveryOutcome> => {
    const body = JSON.stringify(messageOf(lines));
    const headers = { 'content-type': 'application/json' };
    const answered = await caller.send({ method: 'POST', path: '', headers, body }, context);
    if (answered.status === 'failed') return answered.failure;
    const text = answered.status === 'answered' ? answered.text : '';
    const reply: Reply = { ...answered, text, body: jsonOf(text) };
    const failure = itemFailureOf(answers, reply, `POST of ${system}`, Date.now());
    if (failure?.status === 'missing') throw new TypeError('judge has decided about 404 and 410');
    return failure ?? { status: 'delivered', answer: answerOf(reply.httpStatus, text) };
  };
}

/** `system`: the name of the chat, for messages. */
export function chatTarget(
  system: string,
  settings: SettingsOf<'slack' | 'teams'>,
  messageOf: MessageOf,
  { caller, quietMs = QUIET_MS }: ChatNeeds,
): Target {
  const where = `targets.${settings.name}`;
  const render = renderer({ text: settings.text, place: 'text', where: `${where}.text` });
  const send = chatPoster(system, `${where}.url`, messageOf, caller);
  const gathering = createGathering({ quietMs, longestMs: LONGEST_MS, most: MOST_IN_DIGEST, send: sendDigest });

  async function sendDigest(lines: readonly string[], signal: AbortSignal): Promise<DeliveryOutcome> {
    const [only] = lines;
    if (only !== undefined && lines.length === 1) return send([only], { signal });
    const outcome = await send([`${lines.length} changes:`, ...fitting(lines)], { signal });
    return outcome.status === 'delivered'
      ? { ...outcome, detail: `one message with ${lines.length} changes` }
      : outcome;
  }

  function lineOf(delivery: Delivery): Line {
    const rendered = render(viewOf(delivery));
    if (rendered.status !== 'ok') return rendered;
    const line = rendered.text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
    return { status: 'ok', text: [...(line === '' ? titleOf(delivery.task) : line)].slice(0, MAX_LINE).join('') };
  }

  return {
    async deliver(delivery, context) {
      const line = lineOf(delivery);
      if (line.status !== 'ok') return line;
      return settings.digest ? gathering.add(line.text, context.signal) : send([line.text], context);
    },
    check: (context) => reach(caller, context),
    close: () => caller.close(),
  };
}

/** As many lines as fit into one message; the last says how many do not. */
function fitting(lines: readonly string[]): readonly string[] {
  let bytes = 0;
  const count = lines.findIndex((line) => {
    bytes += Buffer.byteLength(line);
    return bytes > MAX_BYTES;
  });
  return count === -1 ? lines : [...lines.slice(0, count), `and ${lines.length - count} more`];
}

function answersOf(system: string, where: string): VendorAnswers {
  const remedy = `${system} accepts no more messages at this address: create the webhook again, and put its address where ${where} says`;
  return {
    name: system,
    tokenRemedy: remedy,
    judge(reply) {
      const { httpStatus, text } = reply;
      const says = `HTTP ${httpStatus}${text === '' ? '' : ` (${text.slice(0, MAX_SAID)})`}`;
      if (httpStatus >= 200 && httpStatus < 300) {
        if (/^\s*</.test(text)) return unreadable(reply, `POST of ${system}`);
        return notOk.safeParse(reply.body).success
          ? { status: 'refused', reason: 'REJECTED', detail: says }
          : undefined;
      }
      if (httpStatus === 400) return { status: 'refused', reason: 'REJECTED', detail: says };
      if (![401, 403, 404, 410].includes(httpStatus)) return undefined;
      return { status: 'disabled', reason: 'GONE', detail: `${says}: ${remedy}` };
    },
    message: z.never(), // the answers are texts, and stored as they are
  };
}
