/**
 * Traces for OpenTelemetry: a trace per run, with spans for its jobs, calls and queries, also if several processes work on it.
 * Spans have names, counts and codes. They have no header, body, path, query value or SQL parameter, and no text of an error.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import {
  type Context,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  RandomIdGenerator,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import { codeOf, messageOf } from '../../base/errors.ts';
import { inTime } from '../../base/in-time.ts';
import type { InSpan } from '../../base/trace-span.ts';
import { version } from '../../base/version.ts';
import type { Run } from '../../engine/ledger/runs.ts';
import type { Job } from '../../engine/worker/job.ts';

export interface Telemetry {
  readonly inSpan: InSpan;
  /** As `inSpan`, but only within another span: a process asks its database all the time. */
  readonly inQuery: InSpan;
  /** The same jobs; each does its work in a span. */
  traceJobs(jobs: readonly Job[]): readonly Job[];
  /** Adds the span of the whole run, if it has ended. */
  runStopped(run: Run): void;
  /** Exports what is left. */
  close(): Promise<void>;
}

/** How long a process that ends waits for a receiver that does not answer. */
const CLOSE_MS = 3_000;

interface Ids {
  readonly traceId: string;
  readonly spanId: string;
}

/** The exporter reads its settings, such as its endpoint, from the environment of the process. */
export function startTelemetry(env: NodeJS.Dict<string>, log: Logger): Telemetry {
  const failed = firstOnly((error) => log.error(`traces cannot be exported: ${messageOf(error)}`));
  diag.setLogger({ ...SILENT, error: failed, warn: failed }, DiagLogLevel.WARN);
  const random = new RandomIdGenerator();
  let given: Ids | undefined;
  const named = resourceFromAttributes({ 'service.name': 'lockstep', 'service.version': version() });
  const provider = new TracerProvider({
    resource: named.merge(detectResources({ detectors: [envDetector] })),
    // By the id of the trace alone, so that all processes that work on a run agree.
    sampler: new TraceIdRatioBasedSampler(ratioOf(env)),
    idGenerator: {
      generateTraceId: () => given?.traceId ?? random.generateTraceId(),
      generateSpanId: () => given?.spanId ?? random.generateSpanId(),
    },
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  });
  const tracer = provider.getTracer('lockstep', version());
  const current = new AsyncLocalStorage<Context>();
  const context = () => current.getStore() ?? ROOT_CONTEXT;

  async function within<T>(span: Span, work: () => Promise<T>, done?: (result: T) => void): Promise<T> {
    try {
      const result = await current.run(trace.setSpan(context(), span), work);
      done?.(result);
      return result;
    } catch (error) {
      fail(span, error);
      throw error;
    } finally {
      span.end();
    }
  }
  const inSpan: InSpan = (name, attributes, work, attributesOf) => {
    const span = tracer.startSpan(name, { attributes: { ...attributes } }, context());
    return within(span, work, (result) => span.setAttributes({ ...attributesOf?.(result) }));
  };
  function inJob<T>(run: Run, job: string, work: () => Promise<T>): Promise<T> {
    const whole = { ...idsOf(run), traceFlags: TraceFlags.SAMPLED, isRemote: true };
    const attributes = { ...attributesOf(run), 'lockstep.job': job };
    return within(tracer.startSpan(`job ${job}`, { attributes }, trace.setSpanContext(ROOT_CONTEXT, whole)), work);
  }
  const stopTracingHttp = traceHttp({ begin: (name, options) => tracer.startSpan(name, options, context()), fail });
  return {
    inSpan,
    inQuery: (...query) => (current.getStore() === undefined ? query[2]() : inSpan(...query)),
    traceJobs: (jobs) => jobs.map((job) => ({ ...job, run: (at) => inJob(at.run, job.name, () => job.run(at)) })),
    runStopped(run) {
      if (run.endedAt === undefined) return;
      const attributes = { ...attributesOf(run), 'lockstep.status': run.status, 'error.type': run.errorCode };
      given = idsOf(run);
      const span = tracer.startSpan(`run ${run.type}`, { startTime: run.createdAt, attributes }, ROOT_CONTEXT);
      given = undefined;
      if (run.status === 'failed') span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(run.endedAt);
    },
    async close() {
      stopTracingHttp();
      await inTime(provider.shutdown(), CLOSE_MS).catch(failed);
      diag.disable();
    },
  };
}

/** From its id: every process has the same, before there is a span of the run. */
function idsOf({ id }: Run): Ids {
  const hash = createHash('sha256').update(id).digest('hex');
  return { traceId: hash.slice(0, 32), spanId: hash.slice(32, 48) };
}

function attributesOf({ id, sync, type, account }: Run) {
  return { 'lockstep.run': id, 'lockstep.sync': sync, 'lockstep.type': type, 'lockstep.account': account };
}

/** The share of traces that is exported. */
function ratioOf({ OTEL_TRACES_SAMPLER: sampler = '', OTEL_TRACES_SAMPLER_ARG: share = '1' }: NodeJS.Dict<string>) {
  if (sampler.endsWith('always_off')) return 0;
  return sampler.endsWith('traceidratio') ? Number(share) : 1;
}

function fail(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute('error.type', codeOf(error) ?? (error instanceof Error ? error.name : 'unknown'));
}

/** While the receiver is away, there is a problem every few seconds. */
function firstOnly(tell: (problem: unknown) => void): (problem: unknown) => void {
  let isTold = false;
  return (problem) => {
    if (!isTold) tell(problem);
    isTold = true;
  };
}

const SILENT = { info: () => undefined, debug: () => undefined, verbose: () => undefined };

/** What undici says about a request: https://undici.nodejs.org/#/docs/api/DiagnosticsChannel */
interface Message {
  readonly request: { readonly method: string; readonly origin: string | URL };
  readonly response?: { readonly statusCode: number };
  readonly error?: unknown;
}

/** Returns what ends it. */
function traceHttp({
  begin,
  fail,
}: {
  readonly begin: (name: string, options: SpanOptions) => Span;
  readonly fail: (span: Span, error: unknown) => void;
}): () => void {
  const spans = new WeakMap<object, Span>();
  const on = (what: string, take: (message: Message) => void) => {
    const listener = (message: unknown) => take(message as Message); // safe: undici alone uses its channels
    subscribe(`undici:request:${what}`, listener);
    return () => unsubscribe(`undici:request:${what}`, listener);
  };
  const stops = [
    on('create', ({ request }) => {
      const { host } = new URL(request.origin);
      const attributes = { 'http.request.method': request.method, 'server.address': host };
      spans.set(request, begin(`${request.method} ${host}`, { kind: SpanKind.CLIENT, attributes }));
    }),
    on('headers', ({ request, response }) => {
      if (response) spans.get(request)?.setAttribute('http.response.status_code', response.statusCode);
    }),
    on('trailers', ({ request }) => spans.get(request)?.end()),
    on('error', ({ request, error }) => {
      const span = spans.get(request);
      if (!span) return;
      fail(span, error);
      span.end();
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}
