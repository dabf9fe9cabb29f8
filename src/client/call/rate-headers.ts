/**
 * What an answer's headers say about the service's limit. Pure: headers and the time in, a hint out; budget/hints.ts
 * decides what follows. The formats in use:
 *
 * - `RateLimit-Limit`, `-Remaining`, `-Reset`, with a policy as `100, 100;w=60` (draft-ietf-httpapi-ratelimit-headers-02)
 * - `RateLimit: limit=100, remaining=50, reset=30` with `RateLimit-Policy: 100;w=60` (the same, 06)
 * - `RateLimit: "default";r=50;t=30` with `RateLimit-Policy: "default";q=100;w=60` (the same, 08 and later)
 * - `X-RateLimit-*` and `X-Rate-Limit-*`, which have no specification: their reset is seconds, or an epoch time in
 *   seconds or milliseconds.
 *
 * Malformed values count as missing; a reset is at most 15 minutes. Of several policies the tightest counts.
 */
import type { RateHint } from '../budget/budget.ts';
import { MAX_HINT_MS } from '../budget/hints.ts';
import type { Head } from '../http/exchange.ts';

const SECOND = 1000;
/** A larger reset is a time, not a duration: this is 2001 in seconds. */
const EPOCH_S = 1e9;
const EPOCH_MS = 1e12;
/** Longer headers are ignored, because their text comes from the service. */
const MAX_LENGTH = 1000;
const PREFIXES = ['ratelimit', 'x-ratelimit', 'x-rate-limit'];

/** Every answer with a limit has one of these headers. */
const TELLING = [
  'ratelimit',
  'ratelimit-policy',
  ...PREFIXES.flatMap((name) => [`${name}-limit`, `${name}-remaining`]),
];

/**
 * Undefined if the headers say nothing about a limit. An epoch reset is measured against the service's own Date if that is
 * readable.
 */
export function rateHintOf({ headers, arrivedAtMs }: Pick<Head, 'headers' | 'arrivedAtMs'>): RateHint | undefined {
  if (!TELLING.some((name) => headers[name] !== undefined)) return undefined;
  const textOf = (name: string) => {
    const value = headers[name];
    return (Array.isArray(value) ? value.join(', ') : (value ?? '')).slice(0, MAX_LENGTH);
  };
  const nowMs = Number.isNaN(Date.parse(textOf('date'))) ? arrivedAtMs : Date.parse(textOf('date'));
  const left = combined(textOf('ratelimit'), nowMs) ?? separate(textOf, nowMs);
  const policies = [textOf('ratelimit-policy'), ...PREFIXES.map((prefix) => textOf(`${prefix}-limit`))];
  const policy = tightestPolicy(policies.flatMap(itemsOf));
  return left === undefined && policy === undefined ? undefined : { ...left, ...policy };
}

type Left = Pick<RateHint, 'remaining' | 'resetMs'>;

/** The combined header, in its two forms. */
function combined(text: string, nowMs: number): Left | undefined {
  const items = itemsOf(text);
  const lefts = items.map(({ parameters }) => leftOf(parameters.get('r'), parameters.get('t'), nowMs));
  const dictionary = new Map(items.flatMap(({ name, parameters }) => [...pairOf(name), ...parameters]));
  lefts.push(leftOf(dictionary.get('remaining'), dictionary.get('reset'), nowMs));
  return lefts.filter((left) => left !== undefined).sort((a, b) => pace(a) - pace(b))[0];
}

function separate(textOf: (name: string) => string, nowMs: number): Left | undefined {
  for (const prefix of PREFIXES) {
    const left = leftOf(textOf(`${prefix}-remaining`), textOf(`${prefix}-reset`), nowMs);
    if (left !== undefined) return left;
  }
  return undefined;
}

function leftOf(remainingText: string | undefined, resetText: string | undefined, nowMs: number): Left | undefined {
  const remaining = numberIn(remainingText);
  const reset = numberIn(resetText);
  if (remaining === undefined || reset === undefined) return undefined;
  return { remaining, resetMs: Math.min(Math.max(0, resetInMs(reset, nowMs)), MAX_HINT_MS) };
}

function resetInMs(reset: number, nowMs: number): number {
  if (reset > EPOCH_MS) return reset - nowMs;
  return reset > EPOCH_S ? reset * SECOND - nowMs : reset * SECOND;
}

function tightestPolicy(items: readonly Item[]): Pick<RateHint, 'limit' | 'windowMs'> | undefined {
  let tightest: { readonly limit: number; readonly windowMs: number } | undefined;
  for (const { name, parameters } of items) {
    const limit = numberIn(parameters.get('q') ?? name);
    const windowS = numberIn(parameters.get('w'));
    if (!limit || !windowS || windowS * SECOND > MAX_HINT_MS) continue; // for a longer window only the remaining calls count
    const policy = { limit, windowMs: windowS * SECOND };
    if (tightest === undefined || limit / policy.windowMs < tightest.limit / tightest.windowMs) tightest = policy;
  }
  return tightest;
}

interface Item {
  readonly name: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** A structured-field list (RFC 9651), as far as numbers need it: `name;a=1;b=2, …`; a quoted name may hold commas. */
function itemsOf(text: string): Item[] {
  return (text.match(/(?:"[^"]*"|[^,"])+/g) ?? []).map((item) => {
    const [name = '', ...parameters] = (item.match(/(?:"[^"]*"|[^;"])+/g) ?? []).map((part) => part.trim());
    return { name, parameters: new Map(parameters.flatMap(pairOf)) };
  });
}

function pairOf(text: string): [string, string][] {
  const [, name, value] = /^([a-z]+)\s*=\s*(.*)$/i.exec(text) ?? [];
  return name === undefined || value === undefined ? [] : [[name.toLowerCase(), value]];
}

function numberIn(text: string | undefined): number | undefined {
  const plain = text?.trim() ?? '';
  return /^\d{1,15}(\.\d{1,9})?$/.test(plain) ? Number(plain) : undefined;
}

function pace({ remaining = 0, resetMs = 0 }: Left): number {
  return remaining / Math.max(resetMs, 1);
}
