/** What the answers of a system mean, by the rules in the settings of an http target. Pure. */
import { isWebPage } from '../../../client/call/decode.ts';
import type { TargetFailure } from '../../../contract/target.ts';
import type { SettingsOf } from '../../../settings/schema-target.ts';
import type { HttpAnswers } from '../../../settings/target-http.ts';
import {
  failedFor,
  isConflict,
  limitedFailure,
  type Reply,
  tokenRefused,
  unreadable,
  type VendorAnswers,
  waitOf,
} from '../items/item-outcome.ts';
import type { Missing } from '../items/item-target.ts';
import { reading, valueAt } from './json-pointer.ts';

type Judged = TargetFailure | Missing | { readonly status: 'ok' };
const OK = { status: 'ok' } as const;

/** The lists of the settings, in the order in which they decide. */
const RULES = ['applied', 'missing', 'disabled', 'limited', 'retry', 'refused'] as const;
type Rule = (typeof RULES)[number];

/** `name`: the host of the system. */
export function httpAnswers(
  { name: target, answers: rules, oauthClient }: SettingsOf<'http'>,
  name: string,
): VendorAnswers {
  const message = reading((body) => {
    const said = (rules.message === undefined ? undefined : valueAt(body, rules.message)) ?? undefined;
    return said === undefined || typeof said === 'string' ? said : JSON.stringify(said);
  }, 'it has no explanation');

  const tokenRemedy = oauthClient
    ? `check targets.${target}.oauthClient`
    : `check the secrets in targets.${target}.headers`;

  function pageRemedy(httpStatus: number): string {
    return `a web page, such as one to sign in: check the url, and ${tokenRemedy}; if the page means that the call succeeded, list ${httpStatus} in targets.${target}.answers.applied`;
  }

  function judge(reply: Reply, nowMs: number): Judged | undefined {
    const { httpStatus, body, text } = reply;
    // Some systems explain an error in plain text, which the pointer "" leads to.
    const code = rules.code === undefined ? undefined : valueAt(body ?? text, rules.code);
    const said = message.safeParse(body).data;
    const shown = `${name}: HTTP ${httpStatus}${isScalar(code) ? `, ${code}` : ''}${said === undefined ? '' : `: ${said}`}`;
    const by = (rule: string) => `${shown} (answers.${rule} of ${target})`;
    const rule = ruleFor(rules, httpStatus, code);
    if (rule !== undefined)
      return outcomeOf(rule, reply, { detail: by(rule), wait: waitOf(reply, nowMs), tokenRemedy });
    if (httpStatus < 200 || httpStatus > 299) return undefined;
    if (isWebPage(text)) return { ...unreadable(reply, name), detail: `${shown}: ${pageRemedy(httpStatus)}` };
    const failure = failureIn(rules, body);
    return failure === undefined ? OK : { status: 'refused', reason: 'REJECTED', detail: by(failure) };
  }

  return { name, tokenRemedy, judge, message };
}

/** The first list that has this status or this code of the system. */
function ruleFor(rules: HttpAnswers, httpStatus: number, code: unknown): Rule | undefined {
  return RULES.find((rule) => rules[rule].some((one) => one === httpStatus || one === String(code ?? '')));
}

function outcomeOf(
  rule: Rule,
  { httpStatus }: Reply,
  {
    detail,
    wait,
    tokenRemedy,
  }: { readonly detail: string; readonly wait: number | undefined; readonly tokenRemedy: string },
): Judged {
  switch (rule) {
    case 'applied':
      return OK;
    case 'missing':
      return { status: 'missing', detail };
    case 'disabled':
      return tokenRefused(tokenRemedy, detail);
    case 'limited':
      return limitedFailure(detail, wait);
    case 'retry':
      return failedFor(wait, isConflict(httpStatus) ? 'CONFLICT' : 'SERVER_ERROR', detail);
    case 'refused':
      return { status: 'refused', reason: 'REJECTED', detail };
    default:
      return rule satisfies never;
  }
}

/** The rule by which the body of a successful answer says that the call failed. */
function failureIn(rules: HttpAnswers, body: unknown): 'error' | 'success' | undefined {
  if (rules.error !== undefined && isSet(valueAt(body, rules.error))) return 'error';
  return rules.success !== undefined && valueAt(body, rules.success) === false ? 'success' : undefined;
}

/** Many systems always have the member, and leave it empty. */
export function isSet(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return value !== undefined && value !== null && value !== false && value !== '';
}

function isScalar(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}
