/** How GitHub is called, and what its answers mean: for issues, hooks and tokens. */
import { z } from 'zod';
import type { TargetFailure } from '../../../contract/target.ts';
import { limitedFailure, type Reply, tokenRefused, untilTime, waitOf } from '../items/item-outcome.ts';

const explanation = z.union([
  z.string(),
  z.object({ message: z.string() }).transform((error) => error.message),
  z.object({ field: z.string(), code: z.string() }).transform(({ field, code }) => `${field}: ${code}`),
]);
/** `errors` says what "Validation Failed" means. */
const message = z
  .object({ message: z.string(), errors: z.array(explanation).catch([]) })
  .transform((body) => [body.message, ...body.errors].join('; '));

export function githubVendor(tokenRemedy: string) {
  const pauseOf = growingPause();
  return {
    name: 'GitHub',
    followsMoves: true, // of a renamed repository, or an issue that was transferred
    tokenRemedy,
    judge: (reply: Reply, nowMs: number) => judge(reply, nowMs, pauseOf, tokenRemedy),
    message,
    alwaysExplains: true,
    headersOf: (token: string) => ({
      authorization: `Bearer ${token}`,
      accept: 'application/vnd.github+json',
      'x-github-api-version': '2022-11-28',
    }),
  };
}

const FIRST_PAUSE_MS = 60_000;
const LONGEST_PAUSE_MS = 60 * 60_000;

/** The pause of a limit that names no time: longer each time, while the calls after it are limited, too. */
function growingPause(): (nowMs: number) => number {
  let [untilMs, pauseMs] = [Number.NEGATIVE_INFINITY, 0];
  return (nowMs) => {
    if (nowMs < untilMs) return untilMs - nowMs; // a call that was in flight
    const isLasting = nowMs < untilMs + pauseMs;
    pauseMs = isLasting ? Math.min(2 * pauseMs, LONGEST_PAUSE_MS) : FIRST_PAUSE_MS;
    untilMs = nowMs + pauseMs;
    return pauseMs;
  };
}

/** Whom GitHub refuses whatever is called: the user of the token, or the installation of the app. */
const ALL_REFUSED = /suspended|email address must be verified/i;

function judge(
  reply: Reply,
  nowMs: number,
  pauseOf: (nowMs: number) => number,
  tokenRemedy: string,
): TargetFailure | undefined {
  const said = message.safeParse(reply.body).data ?? '';
  const limit = limitOf(reply, said, nowMs);
  if (limit !== undefined)
    return limitedFailure(`GitHub limits the calls of this token: ${said}`, limit.ms ?? pauseOf(nowMs));
  if (reply.httpStatus === 403 && ALL_REFUSED.test(said)) return tokenRefused(tokenRemedy, `GitHub: HTTP 403: ${said}`);
  if ([301, 307, 308].includes(reply.httpStatus) && said !== '') {
    const remedy =
      "set owner and repo of this target to the new name of the repository (or the target's url), then replay";
    return { status: 'refused', reason: 'MOVED', detail: `GitHub: HTTP ${reply.httpStatus}: ${said}; ${remedy}` };
  }
  if (reply.httpStatus === 410 && /disabled/i.test(said)) {
    const remedy = 'enable Issues in the settings of the repository, then replay';
    return { status: 'refused', reason: 'ISSUES_DISABLED', detail: `GitHub: ${said}; ${remedy}` };
  }
  if (reply.httpStatus !== 403 || !/archived|read-only|is locked/i.test(said)) return undefined;
  const remedy = 'take the repository out of the archive, unlock the issue, or link an issue elsewhere, then replay';
  return { status: 'refused', reason: 'READ_ONLY', detail: `GitHub: ${said}; ${remedy}` };
}

function limitOf(reply: Reply, said: string, nowMs: number): { readonly ms: number | undefined } | undefined {
  const { httpStatus, headers } = reply;
  // The limit of new content: https://github.com/cli/cli/issues/4801
  if (httpStatus === 422 && /submitted too quickly/i.test(said)) return { ms: waitOf(reply, nowMs) };
  if (httpStatus !== 403 && httpStatus !== 429) return undefined;
  const wait = waitOf(reply, nowMs);
  if (wait !== undefined) return { ms: wait };
  const reset = Number(headers['x-ratelimit-reset']);
  if (headers['x-ratelimit-remaining'] === '0' && Number.isFinite(reset)) {
    return { ms: Math.max(untilTime(reset * 1000, reply, nowMs), 1000) };
  }
  // After many refused tokens GitHub refuses good ones too, for a while.
  const isLimit = httpStatus === 429 || /rate limit|abuse detection|login attempts exceeded/i.test(said);
  return isLimit ? { ms: undefined } : undefined;
}
