/** A channel of a chat, reached by an incoming webhook: one message for each change, or one for the changes of a run. */
import { z } from 'zod';
import { shortened } from '../../../base/texts.ts';
import { isRedirect } from '../../../client/call/redirect.ts';
import type { CallContext, Delivery, DeliveryOutcome, Target } from '../../../contract/target.ts';
import type { SettingsOf } from '../../../settings/schema-target.ts';
import type { TargetCaller } from '../calls/caller.ts';
import { reach } from '../findings.ts';
import { sendEvent } from '../items/item-calls.ts';
import {
  isMarkup,
  limitedFailure,
  type Reply,
  serverFailed,
  unreadable,
  type VendorAnswers,
  waitOf,
} from '../items/item-outcome.ts';
import { taskTitle } from '../items/item-text.ts';
import { renderer, viewOf } from '../render.ts';
import { createGathering } from './gathering.ts';

/** What a chat makes of lines of plain text: the body of the call. Nothing in a line may be markup or mention a person. */
export type BodyOf = (lines: readonly string[]) => unknown;

export interface ChatNeeds {
  readonly caller: TargetCaller;
  /** How long a digest waits for further changes. */
  readonly quietMs?: number;
}

const TEST = 'Test message of Lockstep: the changes of tasks arrive here.';
/** The most changes in one message. */
export const MOST_IN_DIGEST = 100;
/** A scan queues its changes in portions, with the reads of a page between them. */
const QUIET_MS = 3_000;
const LONGEST_MS = 30_000;
const MAX_LINE = 500;
/** Characters of an answer that a detail shows. */
const MAX_SAID = 100;
/** Teams allows about 28 KB for a message, with all of its JSON; less if it counts two bytes for each character. */
const MAX_BYTES = 18_000;

/** A workflow of Slack can refuse a message with a 200. */
const notOk = z.object({ ok: z.literal(false), error: z.string().catch('') });
const flowError = z.object({ error: z.object({ code: z.string() }) });

/** What words of an answer mean, whatever its status is. */
const MEANINGS: readonly (readonly [words: RegExp, httpStatus: number])[] = [
  [/^rate_?limited$|^message_limit_exceeded$/, 429],
  [/^(internal_error|fatal_error|service_unavailable|request_timeout)$/, 503],
  [
    /^(no_(service|service_id|active_hooks|team)|team_disabled|account_inactive|(channel_)?is_archived|channel_not_found)$/,
    410,
  ],
  [/^(invalid_(token|auth)|token_revoked|action_prohibited|posting_to_general_channel_denied)$/, 410],
  [/^WorkflowTriggerIsNotEnabled$/, 410], // a workflow that is turned off
];
/** Teams can answer 200 with the status of the channel in a sentence. */
const STATUS_WITHIN = /\breturned HTTP error (\d{3})\b/;

interface Gathered {
  readonly line: string;
  readonly mayDispatch: CallContext['mayDispatch'];
}

type Line = { readonly status: 'ok'; readonly text: string } | Extract<DeliveryOutcome, { status: 'refused' }>;

/** Sends lines as one message. `system`: the name of the chat, for messages. `where`: the settings of its address. */
export function chatPoster(system: string, where: string, bodyOf: BodyOf, caller: TargetCaller) {
  const answers = answersOf(system, where);
  return async (lines: readonly string[], context: CallContext): Promise<DeliveryOutcome> => {
    const body = JSON.stringify(bodyOf(lines));
    const headers = { 'content-type': 'application/json' };
    const request = { method: 'POST', path: '', headers, body } as const;
    return sendEvent(answers, request, context, { caller, now: () => new Date() }, { call: `POST to ${system}` });
  };
}

/** `system`: the name of the chat, for messages. */
export function chatTarget(
  system: string,
  settings: SettingsOf<'slack' | 'teams'>,
  bodyOf: BodyOf,
  { caller, quietMs = QUIET_MS }: ChatNeeds,
): Target {
  const where = `targets.${settings.name}`;
  const render = renderer({ text: settings.text, place: 'text', where: `${where}.text` });
  const send = chatPoster(system, `${where}.url`, bodyOf, caller);
  const gathering = createGathering({ quietMs, longestMs: LONGEST_MS, most: MOST_IN_DIGEST, send: sendDigest });

  async function sendDigest(gathered: readonly Gathered[], signal: AbortSignal): Promise<DeliveryOutcome> {
    const context = { signal, mayDispatch: () => gathered.every(({ mayDispatch = () => true }) => mayDispatch()) };
    const lines = gathered.map(({ line }) => line);
    if (lines.length === 1) return send(lines, context);
    const outcome = await send(fitting([`${lines.length} changes:`, ...lines], bodyOf), context);
    return outcome.status === 'delivered'
      ? { ...outcome, detail: `one message with ${lines.length} changes` }
      : outcome;
  }

  function lineOf(delivery: Delivery): Line {
    const rendered = render(viewOf(delivery));
    if (rendered.status !== 'ok') return rendered;
    const line = rendered.text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();
    return { status: 'ok', text: shortened(line === '' ? taskTitle(delivery.task) : line, MAX_LINE) };
  }

  return {
    async deliver(delivery, context) {
      const line = lineOf(delivery);
      if (line.status !== 'ok') return line;
      if (!settings.digest) return send([line.text], context);
      return gathering.add({ line: line.text, mayDispatch: context.mayDispatch }, context.signal);
    },
    test: (context) => send([TEST], context),
    check: (context) => reach(caller, context),
    close: () => caller.close(),
  };
}

/** As many lines as fit into one message; the last says how many do not. */
function fitting(lines: readonly string[], bodyOf: BodyOf): readonly string[] {
  let fits = lines;
  for (let count = lines.length - 1; Buffer.byteLength(JSON.stringify(bodyOf(fits))) > MAX_BYTES; count--) {
    fits = [...lines.slice(0, count), `and ${lines.length - count} more`];
  }
  return fits;
}

function answersOf(system: string, where: string): VendorAnswers {
  const remedy = `${system} accepts no more messages at this address: turn its workflow on again if it has one, or create the webhook again, and put its address where ${where} says`;
  return {
    name: system,
    tokenRemedy: remedy,
    judge(reply, nowMs) {
      const { httpStatus, text } = reply;
      const says = `HTTP ${httpStatus}${text === '' ? '' : ` (${text.slice(0, MAX_SAID)})`}`;
      const meant = meantStatus(reply);
      const isPage = !isRedirect(meant) && meant !== 429 && meant < 500 && isMarkup(reply);
      if (isPage)
        return { ...unreadable(reply, `POST to ${system}`), detail: `${system}: HTTP ${httpStatus}: ${PAGE}` };
      if (meant >= 200 && meant < 300) return undefined;
      if (meant === 429) return limitedFailure(`${system}: ${says}`, waitOf(reply, nowMs));
      if ([401, 403, 404, 410].includes(meant)) {
        return { status: 'disabled', reason: 'GONE', detail: `${says}: ${remedy}` };
      }
      if (meant === 400 || (meant < 500 && meant !== httpStatus)) {
        return { status: 'refused', reason: 'REJECTED', detail: says };
      }
      return meant === httpStatus ? undefined : serverFailed(reply, `${system}: ${says}`, nowMs);
    },
    message: z.never(), // the answers are texts, and stored as they are
  };
}

const PAGE = 'the answer is a web page, not the answer of a chat: check the address, and that no proxy answers instead';

/** The HTTP status that fits what the answer says. */
function meantStatus({ httpStatus, text, body }: Reply): number {
  const within = STATUS_WITHIN.exec(text)?.[1];
  if (within !== undefined) return Number(within);
  const refusal = notOk.safeParse(body).data;
  const words = refusal?.error ?? flowError.safeParse(body).data?.error.code ?? text.trim();
  const [, meant = refusal === undefined || httpStatus >= 300 ? httpStatus : 400] =
    MEANINGS.find(([pattern]) => pattern.test(words)) ?? [];
  return meant;
}
