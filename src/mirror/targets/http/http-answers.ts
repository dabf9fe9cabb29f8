/** What the answers of a system mean, by the rules in the settings of an http target. Pure. */
import { z } from 'zod';
import { isPage } from '../../../client/call/decode.ts';
import type { TargetFailure } from '../../../contract/target.ts';
import type { SettingsOf } from '../../../settings/schema-target.ts';
import type { HttpAnswers } from '../../../settings/target-http.ts';
import {
  isConflict,
  limited,
  type Reply,
  tokenRefused,
  unreadable,
  type VendorAnswers,
  waitOf,
} from '../items/item-outcome.ts';
import type { Missing } from '../items/item-target.ts';
import { valueAt } from './json-pointer.ts';

/** `name`: the host of the system. */
export function httpAnswers(
  { name: target, answers: rules, oauthClient }: SettingsOf<'http'>,
  name: string,
): VendorAnswers {
  const message = z.unknown().transform((body, context): string => {
    const said = rules.message === undefined ? undefined : valueAt(body, rules.message);
    if (said === undefined || said === null) {
      context.addIssue({ code: 'custom', message: 'no explanation' });
      return z.NEVER;
    }
    return typeof said === 'string' ? said : JSON.stringify(said);
  });

  const tokenRemedy = oauthClient
    ? `check targets.${target}.oauthClient`
    : `check the secrets in targets.${target}.headers`;

  function pageRemedy(httpStatus: number): string {
    return `a web page, such as one to sign in: check the url, and ${tokenRemedy}; if the page means that the call succeeded, list ${httpStatus} in targets.${target}.answers.applied`;
  }

  function judge(reply: Reply, nowMs: number): TargetFailure | Missing | { readonly status: 'ok' } | undefined {
    const { httpStatus, body } = reply;
    // Some systems explain an error in plain text, which the pointer "" leads to.
    const code = rules.code === undefined ? undefined : valueAt(body ?? reply.text, rules.code);
    const isOneOf = (list: HttpAnswers['applied']) =>
      list.some((one) => one === httpStatus || one === String(code ?? ''));
    const said = message.safeParse(body).data;
    const shown = `${name}: HTTP ${httpStatus}${isScalar(code) ? `, ${code}` : ''}${said === undefined ? '' : `: ${said}`}`;
    const by = (rule: string) => `${shown} (answers.${rule} of ${target})`;
    const wait = waitOf(reply, nowMs);
    if (isOneOf(rules.applied)) return { status: 'ok' };
    if (isOneOf(rules.missing)) return { status: 'missing', detail: by('missing') };
    if (isOneOf(rules.disabled)) return tokenRefused(tokenRemedy, by('disabled'));
    if (isOneOf(rules.limited)) return limited(by('limited'), wait);
    if (isOneOf(rules.retry)) {
      const after = wait !== undefined && { retryAfterMs: wait };
      const reason = isConflict(httpStatus) ? 'CONFLICT' : 'SERVER_ERROR';
      return { status: 'later', reason, detail: by('retry'), ...after };
    }
    if (isOneOf(rules.refused)) return { status: 'refused', reason: 'REJECTED', detail: by('refused') };
    if (httpStatus < 200 || httpStatus > 299) return undefined;
    const isError = rules.error !== undefined && isSet(valueAt(body, rules.error));
    const isFailure = rules.success !== undefined && valueAt(body, rules.success) === false;
    if (isPage(reply.text)) return { ...unreadable(reply, name), detail: `${shown}: ${pageRemedy(httpStatus)}` };
    if (!isError && !isFailure) return { status: 'ok' };
    return { status: 'refused', reason: 'REJECTED', detail: by(isError ? 'error' : 'success') };
  }

  return { name, tokenRemedy, judge, message };
}

/** Many systems always have the member, and leave it empty. */
export function isSet(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return value !== undefined && value !== null && value !== false && value !== '';
}

function isScalar(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}
