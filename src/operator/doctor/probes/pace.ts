/** What the calls of the examination showed besides their content: rate limits, the service's clock, latency, and caches. */
import { plural } from '../../../base/counts.ts';
import { formatRate } from '../../format.ts';
import { headerIn } from '../answer-words.ts';
import type { Trace } from '../caller.ts';
import { certain, type Examination, type Finding, type Probe, unknown } from '../probe.ts';

const SECOND = 1_000;
/** A Date header has whole seconds, and a difference below a minute is harmless. */
const SKEW_TO_FIX_MS = 60 * SECOND;

export const pace: Probe = {
  name: 'rate, clock, latency and caches',
  gaps: ['rate-limit', 'clock', 'latency', 'caches'],
  run: async (exam) => [rate(exam), clock(exam.calls.traces()), latency(exam), caches(exam.calls.traces())],
};

function rate({ account, calls }: Examination): Finding {
  const gap = 'rate-limit';
  const does =
    account.ratePerSecond === undefined
      ? 'finds the limit of this key by itself (budget.mode: discover)'
      : `makes at most ${formatRate(account.ratePerSecond)} with this key, and slows down when the service asks for it`;
  const sent = new Map<string, string>();
  for (const trace of calls.traces()) {
    for (const name of Object.keys(trace.headers ?? {})) {
      if (/rate-?limit|retry-after/.test(name)) sent.set(name, headerIn(trace, name) ?? '');
    }
  }
  const headers = [...sent].map(([name, value]) => `${name}: ${value}`).join(', ');
  if (calls.limited() > 0) {
    const found = `limited calls: ${calls.limited()} of ${calls.made()}${headers === '' ? '' : ` (last: ${headers})`}`;
    const needs = `lower accounts.${account.name}.budget to what the service allows, or find out what else uses this key`;
    return certain(gap, found, does, { needs });
  }
  if (headers !== '') return certain(gap, `no call was limited; the service sends ${headers}`, does);
  return unknown(gap, `no call of ${calls.made()} was limited, and no header announces a limit`, does);
}

/**
 * Each Date header narrows the difference down: the service's clock showed that second at some time between the request
 * and the answer.
 */
export function skewOf(traces: readonly Trace[]): { readonly fromMs: number; readonly toMs: number } | undefined {
  let skew: { fromMs: number; toMs: number } | undefined;
  for (const trace of traces) {
    const date = Date.parse(headerIn(trace, 'date') ?? '');
    const isCached = headerIn(trace, 'age') !== undefined;
    if (Number.isNaN(date) || isCached || trace.arrivedAtMs === undefined) continue;
    const fromMs = date - trace.arrivedAtMs;
    const toMs = date + SECOND - (trace.arrivedAtMs - trace.durationMs);
    const narrowed: { fromMs: number; toMs: number } = {
      fromMs: Math.max(skew?.fromMs ?? fromMs, fromMs),
      toMs: Math.min(skew?.toMs ?? toMs, toMs),
    };
    // If several machines with different clocks answer, the last clock is used.
    skew = narrowed.fromMs <= narrowed.toMs ? narrowed : { fromMs, toMs };
  }
  return skew;
}

function clock(traces: readonly Trace[]): Finding {
  const gap = 'clock';
  const does = 'measures a date in Retry-After against the service’s own clock';
  const skew = skewOf(traces);
  if (skew === undefined) return unknown(gap, 'no answer has a Date header', does);
  if (skew.fromMs <= 0 && skew.toMs >= 0) return certain(gap, 'matches this machine’s clock to the second', does);
  const middleMs = (skew.fromMs + skew.toMs) / 2;
  const found = `${(Math.abs(middleMs) / SECOND).toFixed(1)} s ${middleMs > 0 ? 'ahead of' : 'behind'} this machine’s clock`;
  const needs = 'set this machine’s clock by NTP, or tell the service’s operator that theirs is wrong';
  return certain(gap, found, does, Math.abs(middleMs) > SKEW_TO_FIX_MS ? { needs } : {});
}

function latency({ account, calls }: Examination): Finding {
  const gap = 'latency';
  const sorted = calls
    .traces()
    .map(({ durationMs }) => durationMs)
    .sort((a, b) => a - b);
  const median = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
  const most = (account.concurrency * SECOND) / Math.max(1, median);
  const found = `${Math.round(median)} ms (median of ${plural(sorted.length, 'call')}); the slowest took ${Math.round(sorted.at(-1) ?? 0)} ms`;
  const does = `keeps at most ${plural(account.concurrency, 'call')} in flight, which allows up to ${formatRate(most)}`;
  if (account.ratePerSecond === undefined || most >= account.ratePerSecond) return certain(gap, found, does);
  const needs = `raise accounts.${account.name}.budget.concurrency to use the whole rate of ${formatRate(account.ratePerSecond)}`;
  return certain(gap, found, does, { needs });
}

function caches(traces: readonly Trace[]): Finding {
  const does = 'reads again later what a cache has answered: it may lack new records';
  const ages = traces.map((trace) => Number(headerIn(trace, 'age') ?? 0)).filter((age) => age > 0);
  if (ages.length === 0) return unknown('caches', 'no answer says that it comes from a cache', does);
  const found = `${plural(ages.length, 'answer')} of ${traces.length} came from a cache, up to ${Math.max(...ages)} s old`;
  return certain('caches', found, does, { needs: 'let the calls of Lockstep bypass the cache' });
}
