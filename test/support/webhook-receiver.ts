/**
 * A receiver of webhooks as Standard Webhooks specifies it: it accepts only correct calls, and says what is wrong with the
 * others.
 */
import type { ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { type Reply, type SeenRequest, startHttpServer, type TestServer } from './http-server.ts';

export interface WebhookReceiver extends TestServer {
  /** The address of the hook, with the path and the query that the receiver insists on. */
  readonly hook: string;
  /** Everything that was wrong; empty if nothing was. */
  readonly problems: readonly string[];
  /** The bodies of the calls, in their order. */
  readonly events: readonly unknown[];
}

const PATH = '/hooks/lockstep';
const QUERY = 'team=ops';
/** Node's client adds the first three. */
const HEADERS = ['connection', 'content-length', 'host', 'user-agent', 'accept', 'content-type'];
const SIGNED = ['webhook-id', 'webhook-signature', 'webhook-timestamp'];

/** `answer` is given to calls that are right; the others get 400. */
export async function startWebhookReceiver(
  secret: string,
  answer: Reply | ((request: SeenRequest, response: ServerResponse) => Reply | undefined) = { status: 204 },
): Promise<WebhookReceiver> {
  const problems: string[] = [];
  const events: unknown[] = [];
  const server = await startHttpServer((request, response) => {
    const found = problemsOf(request, secret);
    problems.push(...found);
    if (found.length > 0) return { status: 400, body: found.join('; ') };
    events.push(JSON.parse(request.body));
    return typeof answer === 'function' ? answer(request, response) : answer;
  });
  return { ...server, hook: `${server.url}${PATH}?${QUERY}`, problems, events };
}

function problemsOf({ method, path, query, headers, body }: SeenRequest, secret: string): string[] {
  const problems: string[] = [];
  if (method !== 'POST') problems.push(`method ${method}`);
  if (path !== PATH || query.toString() !== QUERY) problems.push(`path ${path}?${query}`);
  if (headers['content-type'] !== 'application/json') problems.push(`content-type ${headers['content-type']}`);
  const unknown = Object.keys(headers).filter((name) => !HEADERS.includes(name) && !SIGNED.includes(name));
  if (unknown.length > 0) problems.push(`headers ${unknown}`);
  const signed = Object.fromEntries(SIGNED.map((name) => [name, String(headers[name] ?? '')]));
  try {
    const isText = !secret.startsWith('whsec_');
    new Webhook(secret, isText ? { format: 'raw' } : {}).verify(body, signed);
  } catch (error) {
    problems.push(String(error));
  }
  return problems;
}
