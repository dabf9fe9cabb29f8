/**
 * How the service answers where its contract is silent: the defaults are our documented choices (src/contract/gaps.ts),
 * every other value is a choice another implementation may have made. A client has to work with all of them, so the
 * service can play each one; `faults`, `rateLimit`, `latencyMs` and `readLagMs` let it play a bad day as well.
 */
import { z } from 'zod';

export const RECORD_KINDS = ['contact', 'customer', 'order', 'task', 'subtask', 'pipeline'] as const;
const wait = z.number().int().min(0);

/** What may go wrong with one request; before and after are said of the commit. */
export const FAULT_KINDS = [
  'reset-before', // the connection breaks, nothing was written
  'reset-after', // written, and the connection breaks instead of an answer
  'hang-before', // nothing is written and nothing is answered
  'hang-after', // written, and nothing is answered
  '5xx-before', // a 500, 502 or 503, nothing was written
  '5xx-after', // written, and a 500, 502 or 503 is answered
  'truncate', // written, and the connection breaks in the middle of the answer
  'late-commit', // answered with a 504 or a reset first, written `lateMs` later
] as const;

export const faultsSchema = z.strictObject({
  /** The same seed gives the same sequence of faults. */
  seed: z.number().int().default(1),
  /** Share of the eligible requests that go wrong, 0 to 1. */
  rate: z.number().min(0).max(1),
  kinds: z.array(z.enum(FAULT_KINDS)).min(1),
  /** Leaves reads alone. */
  onlyWrites: z.boolean().default(true),
  /** Leaves every other operation alone; default: none is left alone. */
  operations: z.array(z.string()).optional(),
  /** Stops after so many faults. */
  limit: z.number().int().min(0).optional(),
  lateMs: wait.default(1_000),
});

const rateLimitSchema = z.strictObject({
  requestsPerSecond: z.number().positive(),
  burst: z.number().int().min(1).default(1),
  /** The form of Retry-After on a 429. */
  retryAfter: z.enum(['seconds', 'date', 'none']).default('seconds'),
});

export const behaviourSchema = z.strictObject({
  /** The member that carries a record's id; `kind_id` is `contact_id`, `customer_id`, … (an order keeps `id`: its `order_id` is a label). */
  idField: z.union([z.enum(['id', 'kind_id']), z.partialRecord(z.enum(RECORD_KINDS), z.string().min(1))]).default('id'),
  idType: z.enum(['number', 'string']).default('number'),
  /** Where a list stands: `bare` even without only_body, in `content`, or at a path such as `content.data.items`. */
  listShape: z
    .union([z.enum(['bare', 'content']), z.strictObject({ path: z.string().regex(/^[\w-]+(\.[\w-]+)*$/) })])
    .default('content'),
  /** `unstable`: records near each other change places from one request to the next. */
  order: z.enum(['oldest', 'newest', 'unstable']).default('oldest'),
  maxRowsPerPage: z.number().int().min(1).default(1_000),
  defaultRowsPerPage: z.number().int().min(1).default(100),
  /** Every page is the first one; together with `ignoreRowsPerPage`, all records in one answer. */
  ignorePaging: z.boolean().default(false),
  ignoreRowsPerPage: z.boolean().default(false),
  tasksFirstPage: z.union([z.literal(0), z.literal(1)]).default(0),
  /** What creates and updates answer: nothing at all, an envelope with `content` null, `{id}`, or the record. */
  createAnswers: z.enum(['nothing', 'envelope', 'id', 'record']).default('envelope'),
  /** How a refusal looks: its status with an envelope, HTTP 200 with a failing envelope, its status with HTML or with nothing. */
  errors: z.enum(['status', 'envelope200', 'html', 'empty']).default('status'),
  booleans01: z.boolean().default(false),
  amountsAsStrings: z.boolean().default(false),
  prefixes: z
    .array(z.enum(['/api/v1', '/v1']))
    .min(1)
    .default(['/api/v1', '/v1']),
  completeMethods: z
    .array(z.enum(['GET', 'PUT']))
    .min(1)
    .default(['GET', 'PUT']),
  importBody: z
    .enum(['contact_id', 'id', 'contact_ids', 'refused-400', 'refused-404', 'refused-405'])
    .default('contact_id'),
  importTwice: z.enum(['create', 'refuse']).default('create'),
  customersCarryContactId: z.boolean().default(true),
  requiredAuthorization: z.strictObject({ scheme: z.string().min(1), token: z.string().min(1) }).optional(),
  /** Lists and searches show only what was created at least so long ago. */
  readLagMs: wait.default(0),
  /** One token bucket per API key; absent: no limit. */
  rateLimit: rateLimitSchema.optional(),
  /** Sends RateLimit-Limit, -Remaining and -Reset where there is a `rateLimit`. */
  rateLimitHeaders: z.boolean().default(false),
  latencyMs: wait.default(0),
  faults: faultsSchema.optional(),
});

export type Behaviour = z.output<typeof behaviourSchema>;
/** What may be given: any subset, the rest are the defaults. */
export type BehaviourOptions = z.input<typeof behaviourSchema>;
export type RecordKind = (typeof RECORD_KINDS)[number];
export type FaultKind = (typeof FAULT_KINDS)[number];
export type Faults = z.output<typeof faultsSchema>;
export type RateLimit = z.output<typeof rateLimitSchema>;
