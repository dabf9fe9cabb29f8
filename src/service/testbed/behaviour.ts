/**
 * How the service answers where its contract is silent: the defaults are our documented choices (src/contract/gaps.ts);
 * every other value is a choice that another implementation may have made. A client has to work with all of them, so
 * the service can simulate each one. `faults`, `rateLimit`, `latencyMs` and `readLagMs` simulate failures.
 */
import { z } from 'zod';

export const RECORD_KINDS = ['contact', 'customer', 'order', 'task', 'subtask', 'pipeline'] as const;
const wait = z.number().int().min(0);

/** Faults of one request. Before and after mean before and after the commit. */
export const FAULT_KINDS = [
  'reset-before', // the connection breaks, nothing was written
  'reset-after', // written, and the connection breaks instead of an answer
  'hang-before', // nothing is written, and there is no answer
  'hang-after', // written, and there is no answer
  '5xx-before', // a 500, 502 or 503, nothing was written
  '5xx-after', // written, and a 500, 502 or 503 is answered
  'truncate', // written, and the connection breaks in the middle of the answer
  'late-commit', // answered with a 504 or a reset first, written `lateMs` later
] as const;

export const faultsSchema = z.strictObject({
  /** The same seed gives the same sequence of faults. */
  seed: z.number().int().default(1),
  /** Share of the eligible requests that get a fault, 0 to 1. */
  rate: z.number().min(0).max(1),
  kinds: z.array(z.enum(FAULT_KINDS)).min(1),
  /** No faults in reads. */
  onlyWrites: z.boolean().default(true),
  /** Faults only in these operations; default: in all operations. */
  operations: z.array(z.string()).optional(),
  /** The maximum number of faults. */
  limit: z.number().int().min(0).optional(),
  lateMs: wait.default(1_000),
});

const rateLimitSchema = z.strictObject({
  requestsPerSecond: z.number().positive(),
  burst: z.number().int().min(1).default(1),
  retryAfter: z.enum(['seconds', 'date', 'none']).default('seconds'),
});

export const behaviourSchema = z.strictObject({
  /**
   * The member with a record's id; `kind_id` is `contact_id`, `customer_id`, … (an order keeps `id`: its `order_id` is
   * a label).
   */
  idField: z.union([z.enum(['id', 'kind_id']), z.partialRecord(z.enum(RECORD_KINDS), z.string().min(1))]).default('id'),
  idType: z.enum(['number', 'string']).default('number'),
  /** Where a list is: `bare` even without only_body, in `content`, or at a path such as `content.data.items`. */
  listShape: z
    .union([z.enum(['bare', 'content']), z.strictObject({ path: z.string().regex(/^[\w-]+(\.[\w-]+)*$/) })])
    .default('content'),
  /** `unstable`: records near each other change positions from one request to the next. */
  order: z.enum(['oldest', 'newest', 'unstable']).default('oldest'),
  maxRowsPerPage: z.number().int().min(1).default(1_000),
  defaultRowsPerPage: z.number().int().min(1).default(100),
  /** Every page is the first page; with `ignoreRowsPerPage`, one answer has all records. */
  ignorePaging: z.boolean().default(false),
  ignoreRowsPerPage: z.boolean().default(false),
  tasksFirstPage: z.union([z.literal(0), z.literal(1)]).default(0),
  /** What creates and updates answer: nothing at all, an envelope with `content` null, `{id}`, or the record. */
  createAnswers: z.enum(['nothing', 'envelope', 'id', 'record']).default('envelope'),
  /**
   * The form of a refusal: its status with an envelope, HTTP 200 with a failing envelope, or its status with HTML or an
   * empty body.
   */
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
  /** Lists and searches show only records that were created at least this long ago. */
  readLagMs: wait.default(0),
  /** One token bucket per API key; absent: no limit. */
  rateLimit: rateLimitSchema.optional(),
  /** Sends RateLimit-Limit, -Remaining and -Reset if there is a `rateLimit`. */
  rateLimitHeaders: z.boolean().default(false),
  latencyMs: wait.default(0),
  faults: faultsSchema.optional(),
});

export type Behaviour = z.output<typeof behaviourSchema>;
/** Any subset of the behaviour; the rest has the defaults. */
export type BehaviourOptions = z.input<typeof behaviourSchema>;
export type RecordKind = (typeof RECORD_KINDS)[number];
export type FaultKind = (typeof FAULT_KINDS)[number];
export type Faults = z.output<typeof faultsSchema>;
export type RateLimit = z.output<typeof rateLimitSchema>;
