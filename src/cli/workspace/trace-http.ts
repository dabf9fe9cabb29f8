/** A span for each HTTP request of undici, with its host only: the path of a webhook may be a secret. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type Span, SpanKind, type SpanOptions } from '@opentelemetry/api';

/** What undici says about a request: https://undici.nodejs.org/#/docs/api/DiagnosticsChannel */
interface Message {
  readonly request: { readonly method: string; readonly origin: string | URL };
  readonly response?: { readonly statusCode: number };
  readonly error?: unknown;
}

/** Returns what ends it. */
export function traceHttp({
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
