/**
 * Issues of GitHub, or of a GitHub Enterprise server.
 *
 * Sources: docs.github.com/en/rest/issues/issues, …/rest/using-the-rest-api/best-practices-for-using-the-rest-api and
 * …/rate-limits-for-the-rest-api. Pull requests are issues to this API, share their numbers, and are left alone.
 */
import { z } from 'zod';
import type { GithubTarget } from '../settings/targets/github.ts';
import { readGithubHook } from './github-hook.ts';
import { githubItemId, githubItemsIn, parseGithubItem, webHostOf } from './github-items.ts';
import { isoSeconds } from './iso-time.ts';
import { type Calls, nothing, type TargetNeeds } from './item-calls.ts';
import { limited, placeMissing, type Reply, type Vendor, waitOf } from './item-outcome.ts';
import { type Creation, itemTarget, type Read } from './item-target.ts';
import { textOf, titleOf } from './item-text.ts';
import { markerOf } from './marker.ts';
import type { Delivery, ItemState, Target } from './target.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** An issue of ours that was not touched for longer is not looked for: its creation has long been settled. */
const FIND_WITHIN_MS = 30 * DAY_MS;
const PER_PAGE = 100;
const MAX_PAGES = 5;

const issue = z.object({
  number: z.int().positive(),
  state: z.enum(['open', 'closed']),
  state_reason: z.string().nullish(),
  body: z.string().nullish(),
  pull_request: z.unknown().optional(),
});

const vendor: Vendor = {
  name: 'GitHub',
  tokenRemedy:
    "check this target's token: it has expired, was revoked, or lacks the permission Issues: read and write (classic tokens: the scope repo)",
  judge(reply, nowMs) {
    const limit = limitOf(reply, nowMs);
    if (limit !== undefined)
      return limited(`GitHub limits the calls of this token: ${messageOf(reply.body)}`, limit.ms);
    if (reply.httpStatus !== 403 || !/archived|read-only/i.test(messageOf(reply.body) ?? '')) return undefined;
    return { status: 'refused', reason: 'READ_ONLY', detail: `GitHub: ${messageOf(reply.body)}` };
  },
  messageOf,
};

export function openGithub(settings: GithubTarget, needs: TargetNeeds): Target {
  const connection = {
    vendor,
    token: settings.token,
    headersOf: (token: string) => ({
      authorization: `Bearer ${token}`,
      accept: 'application/vnd.github+json',
      'x-github-api-version': '2022-11-28',
    }),
  };
  const place = { owner: settings.owner, repo: settings.repo };
  const system = {
    connection,
    noun: 'GitHub issue',
    howToLink: 'name it in the text of the task by its address or as GH: owner/repo#12',
    columns: settings.columns,
    read,
    async write(calls: Calls, item: ItemState, wanted: { readonly status: string }) {
      const path = pathOf(item.itemId);
      if (path === undefined) return notAnItem(item.itemId);
      const isDone = wanted.status === 'completed';
      const body = isDone
        ? { state: 'closed', state_reason: 'completed' }
        : { state: 'open', state_reason: 'reopened' };
      const asked = await calls.ask({ method: 'PATCH', path, body }, nothing);
      return asked.status === 'ok' ? { status: 'written' as const, to: body.state } : asked;
    },
    creation: settings.create ? creationIn(settings) : undefined,
  };
  return itemTarget(system, needs, {
    itemsIn: (text) => githubItemsIn(text, { ...place, webHost: webHostOf(settings.url) }),
    readHook: (request, now) => readGithubHook(request, settings.hookSecret, needs, now),
  });
}

async function read(calls: Calls, itemId: string): Promise<Read<ItemState>> {
  const path = pathOf(itemId);
  if (path === undefined) return notAnItem(itemId);
  const asked = await calls.ask({ method: 'GET', path }, issue);
  if (asked.status !== 'ok') return asked;
  if (asked.value.pull_request === undefined) return { status: 'found', item: toItem(itemId, asked.value) };
  const detail = `${itemId} is a pull request, not an issue: link the task with an issue`;
  return { status: 'refused', reason: 'NOT_AN_ISSUE', detail };
}

function creationIn({ owner = '', repo = '', labels }: GithubTarget): Creation<ItemState> {
  const path = `/repos/${owner}/${repo}/issues`;
  const place = `repository as ${owner}/${repo}`;
  const commentOf = (delivery: Delivery) => `<!-- ${markerOf(delivery)} -->`;

  return {
    // The list is read from copies that may lag behind by seconds.
    settleMs: 60_000,
    async find(calls, delivery) {
      const since = isoSeconds(new Date(delivery.seenAt.getTime() - FIND_WITHIN_MS));
      const comment = commentOf(delivery);
      for (let page = 1; page <= MAX_PAGES; page++) {
        const query = new URLSearchParams({
          state: 'all',
          sort: 'created',
          direction: 'desc',
          since,
          per_page: String(PER_PAGE),
          page: String(page),
        });
        const asked = await calls.ask({ method: 'GET', path: `${path}?${query}` }, z.array(issue));
        if (asked.status === 'missing') return placeMissing(vendor, place, asked);
        if (asked.status !== 'ok') return asked;
        const found = asked.value.find(
          (each) => each.pull_request === undefined && each.body?.trimEnd().endsWith(comment),
        );
        if (found !== undefined)
          return { status: 'found', item: toItem(githubItemId(owner, repo, found.number), found) };
        if (asked.value.length < PER_PAGE) break;
      }
      return { status: 'missing', detail: `no issue with ${comment}` };
    },
    async add(calls, delivery) {
      const body = `${textOf(delivery.task)}\n\n${commentOf(delivery)}`.trimStart();
      const given = { title: titleOf(delivery.task), body, ...(labels.length > 0 && { labels }) };
      const asked = await calls.ask({ method: 'POST', path, body: given }, issue);
      if (asked.status === 'missing') return placeMissing(vendor, place, asked);
      return asked.status === 'ok' ? { status: 'added', itemId: githubItemId(owner, repo, asked.value.number) } : asked;
    },
  };
}

/** `status` tells "closed (not_planned)" from "closed (completed)": both are closed, and neither is written again. */
function toItem(itemId: string, { state, state_reason }: z.output<typeof issue>): ItemState {
  const why = state === 'closed' && typeof state_reason === 'string' ? ` (${state_reason})` : '';
  return { itemId, isCompleted: state === 'closed', status: `${state}${why}` };
}

function pathOf(itemId: string): string | undefined {
  const item = parseGithubItem(itemId);
  return item && `/repos/${item.owner}/${item.repo}/issues/${item.number}`;
}

function notAnItem(itemId: string) {
  const detail = `"${itemId}" does not name a GitHub issue: link it as owner/repo#12`;
  return { status: 'refused' as const, reason: 'ITEM_ID_INVALID', detail };
}

function limitOf(reply: Reply, nowMs: number): { readonly ms: number | undefined } | undefined {
  const { httpStatus, headers, body } = reply;
  if (httpStatus !== 403 && httpStatus !== 429) return undefined;
  const wait = waitOf(reply, nowMs);
  if (wait !== undefined) return { ms: wait };
  const reset = Number(headers['x-ratelimit-reset']);
  if (headers['x-ratelimit-remaining'] === '0' && Number.isFinite(reset)) {
    return { ms: Math.max(reset * 1000 - nowMs, 1000) };
  }
  const isLimit = httpStatus === 429 || /rate limit|abuse detection/i.test(messageOf(body) ?? '');
  return isLimit ? { ms: undefined } : undefined;
}

function messageOf(body: unknown): string | undefined {
  const read = z.object({ message: z.string() }).safeParse(body);
  return read.success ? read.data.message : undefined;
}
