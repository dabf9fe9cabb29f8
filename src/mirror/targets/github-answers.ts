/** How GitHub is called, and what its answers mean: for issues, hooks and tokens. */
import { z } from 'zod';
import type { TargetFailure } from '../../contract/target.ts';
import { limited, type Reply, waitOf } from './item-outcome.ts';

const message = z.object({ message: z.string() }).transform((body) => body.message);

export function githubVendor(tokenRemedy: string) {
  return {
    name: 'GitHub',
    tokenRemedy,
    judge,
    message,
    headersOf: (token: string) => ({
      authorization: `Bearer ${token}`,
      accept: 'application/vnd.github+json',
      'x-github-api-version': '2022-11-28',
    }),
  };
}

function judge(reply: Reply, nowMs: number): TargetFailure | undefined {
  const said = message.safeParse(reply.body).data ?? '';
  const limit = limitOf(reply, said, nowMs);
  if (limit !== undefined) return limited(`GitHub limits the calls of this token: ${said}`, limit.ms);
  if (reply.httpStatus !== 403 || !/archived|read-only/i.test(said)) return undefined;
  return { status: 'refused', reason: 'READ_ONLY', detail: `GitHub: ${said}` };
}

function limitOf(reply: Reply, said: string, nowMs: number): { readonly ms: number | undefined } | undefined {
  const { httpStatus, headers } = reply;
  if (httpStatus !== 403 && httpStatus !== 429) return undefined;
  const wait = waitOf(reply, nowMs);
  if (wait !== undefined) return { ms: wait };
  const reset = Number(headers['x-ratelimit-reset']);
  if (headers['x-ratelimit-remaining'] === '0' && Number.isFinite(reset)) {
    return { ms: Math.max(reset * 1000 - nowMs, 1000) };
  }
  const isLimit = httpStatus === 429 || /rate limit|abuse detection/i.test(said);
  return isLimit ? { ms: undefined } : undefined;
}
