/** Traces of a run, as a receiver of OpenTelemetry gets them over HTTP. */
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { startHttpServer } from '../support/http-server.ts';
import { commandsIn } from './commands.ts';
import { type E2eWorkspace, KEY, openWorkspace } from './workspace.ts';

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}

let workspace: E2eWorkspace | undefined;
afterEach(async () => {
  await workspace?.close();
  workspace = undefined;
});

async function startReceiver() {
  const server = await startHttpServer({ body: {} });
  onTestFinished(() => server.close());
  const spans = (): Span[] =>
    server.requests.flatMap(({ body }) =>
      JSON.parse(body).resourceSpans.flatMap((resource: { scopeSpans: { spans: Span[] }[] }) =>
        resource.scopeSpans.flatMap((scope) => scope.spans),
      ),
    );
  return { ...server, spans };
}

test('a run is one trace of its jobs, calls, requests and queries, without secrets and content of records', async () => {
  workspace = await openWorkspace({ contacts: 30 });
  const receiver = await startReceiver();
  const otel = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test' };
  const { cwd, env, database, url } = workspace;
  const { json } = await commandsIn({ cwd, env: { ...env, ...otel } }).run('run', 'nightly');

  const spans = receiver.spans();
  const whole = spans.find(({ name }) => name === 'run contacts');
  expect(whole?.attributes).toContainEqual({ key: 'lockstep.run', value: { stringValue: json.run } });
  expect(spans.flatMap(({ attributes }) => attributes.map(({ key }) => key))).not.toContain('error.type');
  const parentOf = (name: string | RegExp) => {
    const span = spans.find((one) => one.traceId === whole?.traceId && one.name.match(name));
    return spans.find(({ spanId }) => spanId === span?.parentSpanId)?.name;
  };
  expect(parentOf('job scan-contacts')).toBe('run contacts');
  expect(parentOf('call contacts.getall')).toMatch(/^job /);
  expect(parentOf(`GET ${new URL(url).host}`)).toMatch(/^call /);
  expect(parentOf(/^insert ledger\.inputs/)).toMatch(/^job /);

  const sent = receiver.requests.map(({ body }) => body).join('');
  expect(sent).toContain('deployment.environment');
  const people = await database.pool.query<{ fields: Record<string, string> }>('select fields from service.contacts');
  const secrets = [KEY, 'rows_per_page', '/api/v1', '$1', ...people.rows.flatMap(({ fields }) => fields.email ?? [])];
  for (const secret of secrets) expect(sent).not.toContain(secret);
});

test('a receiver that is away does not change the result of a run', async () => {
  workspace = await openWorkspace({ contacts: 5 });
  const receiver = await startReceiver();
  await receiver.close();
  const env = { ...workspace.env, OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url };
  const ended = await commandsIn({ cwd: workspace.cwd, env }).run('run', 'nightly');
  expect(ended.code).toBe(0);
  expect(ended.stderr.match(/traces cannot be exported/g)).toHaveLength(1);
});
