/** `import { openClient } from 'lockstep/client'`: every operation of the service's contract as a typed method. */
import { z } from 'zod';
import { wrongUse } from '../base/errors.ts';
import { optionProblems } from '../base/options.ts';
import { type Kind, kindOf } from '../contract/kinds.ts';
import { PREFIXES, type Prefix } from '../contract/operation.ts';
import { type OperationName, type OperationTable, operationNames, operations } from '../contract/operations.ts';
import { type CallOptions, createClient } from './call/client.ts';
import { listIn, recordIn } from './call/decode.ts';
import { dialectSchema } from './call/dialect.ts';
import type { Applied, Limited, NotSent, Outcome, Refused, Unknown } from './call/outcome.ts';
import { createOwnPace } from './own-pace.ts';

export type { Applied, Limited, NotSent, Refused, Unknown };

export interface TypedClientConfig {
  /** Address of the service, without the prefix of its routes. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Maximum calls a second of this client, above 0. Processes that use the same key have to share them. */
  readonly requestsPerSecond: number;
  /** Maximum calls in flight, at least 1. Default: 8. */
  readonly concurrency?: number;
  /** For a whole call, 1 to 3,600,000. Default: 15,000. */
  readonly timeoutMs?: number;
  /** Sent as Authorization beside the API key. */
  readonly authorization?: { readonly scheme: string; readonly token: string };
  /** Default: auto, which tries the other prefix if a route is missing. */
  readonly prefix?: 'auto' | Prefix;
  /** How the service answers where its contract is silent (docs/gaps.md). Default: detected from its answers. */
  readonly dialect?: z.input<typeof dialectSchema>;
}

/** A timer cannot be set to Infinity: it would end at once. */
const timeoutMs = z.number().min(1).max(3_600_000);
const callOptions = z.strictObject({
  path: z.unknown().optional(),
  query: z.unknown().optional(),
  body: z.unknown().optional(),
  signal: z.instanceof(AbortSignal).optional(),
  timeoutMs: timeoutMs.optional(),
});

/** Checked at run time too: a rate that is not a number would be no limit. */
const configSchema = z.strictObject({
  baseUrl: z.string(),
  apiKey: z.string(),
  authorization: z.strictObject({ scheme: z.string(), token: z.string() }).optional(),
  requestsPerSecond: z.number().positive(),
  concurrency: z.int().min(1).default(8),
  timeoutMs: timeoutMs.default(15_000),
  prefix: z.enum(['auto', ...PREFIXES]).default('auto'),
  dialect: dialectSchema.prefault({}),
});

type BodyOf<Row> = Row extends { body: infer Body } ? Body : undefined;

/** One member of the input: optional if everything in it is, and absent if the operation has no such input. */
type Part<Name extends string, Schema> = Schema extends z.ZodObject
  ? [keyof Schema['shape']] extends [never]
    ? unknown
    : Partial<z.output<Schema>> extends z.output<Schema>
      ? { readonly [K in Name]?: z.output<Schema> }
      : { readonly [K in Name]: z.output<Schema> }
  : unknown;

/** What a call of an operation takes. */
export type InputOf<N extends OperationName> = Part<'path', OperationTable[N]['params']> &
  Part<'query', OperationTable[N]['query']> &
  Part<'body', BodyOf<OperationTable[N]>> & { readonly signal?: AbortSignal; readonly timeoutMs?: number };

/** Answers differ between services, so every member of a record is optional. */
type Loose<T> = T extends readonly (infer Item)[] ? readonly Partial<Item>[] : Partial<T>;

/** The records of a list, the record of a get; otherwise the answer without its envelope. */
export type ContentOf<N extends OperationName> = OperationTable[N] extends { result: infer R extends z.ZodType }
  ? Loose<z.output<R>>
  : unknown;

export type OutcomeOf<N extends OperationName> =
  | (Omit<Applied, 'content'> & { readonly content: ContentOf<N> })
  | Refused
  | Limited
  | NotSent
  | Unknown;

/**
 * Never rejects for a failure of the network or the service: that is an outcome. Retries nothing, except what `client.ts` repeats.
 * @throws LockstepError CLIENT_OPTIONS_INVALID
 */
type Method<N extends OperationName> =
  Partial<InputOf<N>> extends InputOf<N>
    ? (input?: InputOf<N>) => Promise<OutcomeOf<N>>
    : (input: InputOf<N>) => Promise<OutcomeOf<N>>;

type Methods = {
  readonly [K in Kind]: {
    readonly [N in OperationName as N extends `${K}.${infer Name}` ? Name : never]: Method<N>;
  };
};

export interface TypedClient extends Methods {
  /** Waits for the calls in flight. Idempotent. */
  close(): Promise<void>;
}

/** @throws LockstepError CLIENT_OPTIONS_INVALID, BASE_URL_INVALID, API_KEY_INVALID or AUTHORIZATION_INVALID */
export function openClient(config: TypedClientConfig): TypedClient {
  const { requestsPerSecond, ...options } = checked('openClient', configSchema, config);
  const { baseUrl, concurrency, dialect } = options;
  const budget = createOwnPace({ requestsPerSecond, concurrency });
  const client = createClient({ ...options, account: baseUrl, budget });

  async function call(name: OperationName, input: Omit<CallOptions, 'lane'> = {}): Promise<Outcome> {
    checked(name, callOptions, input);
    const outcome = await client.call(name, { ...input, lane: 'interactive' });
    if (outcome.status !== 'applied') return outcome;
    const { list, result }: { list?: 'paged' | 'all'; result?: z.ZodType } = operations[name];
    if (list !== undefined) {
      const found = listIn(outcome.content, dialect, kindOf(name), {
        of: 'content',
        isPage: input.query !== undefined,
      });
      if (found) return { ...outcome, content: found.list };
      return { status: 'unknown', reason: 'no-list', message: `${name}: the answer holds no list of records` };
    }
    const record = result && recordIn(outcome.content, dialect, kindOf(name));
    return record ? { ...outcome, content: record } : outcome;
  }

  const methods: Record<string, Record<string, unknown>> = {};
  for (const name of operationNames) {
    const kind = kindOf(name);
    methods[kind] ??= {};
    methods[kind][name.slice(kind.length + 1)] = (input?: Omit<CallOptions, 'lane'>) => call(name, input);
  }
  // Safe: the loop above added a method for each operation, under the first half of its name.
  return { ...(methods as unknown as Methods), close: () => client.close() };
}

function checked<Schema extends z.ZodType>(method: string, schema: Schema, options: unknown): z.output<Schema> {
  const parsed = schema.safeParse(options);
  if (parsed.success) return parsed.data;
  throw wrongUse(`${method} cannot use its options: ${optionProblems(parsed.error)}`, 'CLIENT_OPTIONS_INVALID');
}
