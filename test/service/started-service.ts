/** The service over a database of its own, with one tenant, and calls by the names of the operations table. */
import type pg from 'pg';
import { Agent, request } from 'undici';
import type { Operation } from '../../src/contract/operation.ts';
import { type OperationName, operations } from '../../src/contract/operations.ts';
import type { ConnectionLimits } from '../../src/service/limits.ts';
import { createKey, ensureTenant } from '../../src/service/tenants.ts';
import type { BehaviourOptions } from '../../src/service/testbed/behaviour.ts';
import { freshDatabase } from '../support/database.ts';
import { jsonIn } from '../support/json-in.ts';
import { type CountedService, startCountedService } from '../support/traffic.ts';

export interface Sent {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, unknown>>;
  /** A text is sent as it is. */
  readonly body?: unknown;
  readonly method?: string;
  readonly prefix?: string;
  /** Null: without a key. */
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The body parsed; undefined if it is not JSON. Typed loosely: the assertions say what it has to be. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what an assertion then checks
  readonly json: any;
}

export interface StartedService {
  readonly pool: pg.Pool;
  readonly url: string;
  readonly service: CountedService;
  readonly tenantId: number;
  readonly key: string;
  call(name: OperationName, sent?: Sent): Promise<Received>;
  send(path: string, sent: Sent): Promise<Received>;
  /** The content of a call that has to succeed. */
  // biome-ignore lint/suspicious/noExplicitAny: as `json` above
  content(name: OperationName, sent?: Sent): Promise<any>;
  /** The id of a new record, which the API does not tell: the newest of its kind in the commit log. */
  create(name: OperationName, body: unknown): Promise<number>;
  /** Another service over the same database. */
  another(behaviour: BehaviourOptions): Promise<StartedService>;
  close(): Promise<void>;
}

export async function startedService(
  behaviour: BehaviourOptions = {},
  limits: Partial<ConnectionLimits> = {},
): Promise<StartedService> {
  const database = await freshDatabase();
  const started = await serviceOver(database.pool, behaviour, limits);
  return {
    ...started,
    close: async () => {
      await started.close();
      await database.close();
    },
  };
}

/** The service over a database that the caller closes. */
export async function serviceOver(
  pool: pg.Pool,
  behaviour: BehaviourOptions = {},
  limits: Partial<ConnectionLimits> = {},
): Promise<StartedService> {
  const service = await startCountedService({ pool, behaviour, limits });
  const { id: tenantId } = await ensureTenant(pool, 'first');
  const { key } = await createKey(pool, tenantId, { key: 'key-of-the-first-tenant' });
  const dispatcher = new Agent();
  const others: StartedService[] = [];

  async function send(path: string, sent: Sent): Promise<Received> {
    const { body, query = {}, method = 'GET', headers = {} } = sent;
    const sentKey = sent.key === undefined ? key : sent.key;
    const url = new URL(path, service.url);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
    const answer = await request(url, {
      dispatcher,
      // as: a test may send any method
      method: method as 'GET',
      headers: {
        ...(sentKey === null ? {} : { API_KEY: sentKey }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, headers: answer.headers, text, json: jsonIn(text) };
  }

  async function call(name: OperationName, sent: Sent = {}): Promise<Received> {
    const operation: Operation = operations[name];
    const path = operation.path.replace(/\{(\w+)\}/g, (_, param: string) => String(sent.params?.[param]));
    return send((sent.prefix ?? '/api/v1') + path, { method: operation.method, ...sent });
  }

  async function content(name: OperationName, sent: Sent = {}): Promise<unknown> {
    const received = await call(name, sent);
    if (received.status !== 200) throw new Error(`${name} answered ${received.status}: ${received.text}`);
    return received.json.content;
  }

  return {
    pool,
    url: service.url,
    service,
    tenantId,
    key,
    call,
    send,
    content,
    async create(name, body) {
      await content(name, { body });
      const { rows } = await pool.query(
        'select record_id from service.commits where operation = $1 order by seq desc',
        [name],
      );
      return Number(rows[0].record_id);
    },
    async another(different) {
      const started = await serviceOver(pool, different);
      others.push(started);
      return started;
    },
    async close() {
      await Promise.all(others.map((other) => other.close()));
      await dispatcher.destroy();
      await service.close();
    },
  };
}
