/** The settings of one sync, by its type. */
import { z } from 'zod';
import { ENCODINGS } from '../csv/encoding.ts';
import { FIELDS } from '../csv/fields.ts';
import { contactFilter } from './contact-filter.ts';
import { checkContactMap, contactMap } from './contact-map.ts';
import { duration, formatDuration } from './durations.ts';
import { choice, exactlyOneOf, flag, nonEmpty, share, textAs, unlessKeysAreUnknown } from './fields.ts';
import { typeKeyOf } from './guesses.ts';
import { cronProblem, type Schedule, shortestGapMs, timezoneProblem } from './schedules.ts';

const cron = textAs((text) => cronProblem(text) ?? { value: text }).describe(
  'Cron expression of 5 fields (or 6, seconds first), such as "0 2 * * *".',
);

const timezone = textAs((text) => timezoneProblem(text) ?? { value: text }).describe(
  'IANA time zone that the cron expression is read in. Default: UTC.',
);

const schedule = z
  .strictObject({
    cron: cron.optional(),
    timezone: timezone.optional(),
    every: duration({ minMs: 1000 }).optional().describe('Interval between two starts, such as 5m.'),
    missed: choice(['run-once', 'skip'], 'run-once').describe(
      'After starts were missed: start once as soon as possible, or wait for the next start. Default: run-once.',
    ),
    jitter: duration({ minMs: 0 })
      .prefault('0s')
      .describe(
        'Delays each start by up to this time, always the same for one sync, so that syncs with the same schedule do not start together. Default: 0s.',
      ),
  })
  .check(exactlyOneOf(['cron', 'every']))
  .refine(({ every, timezone }) => every === undefined || timezone === undefined, {
    error: 'timezone is only for cron; remove it, or use cron instead of an interval',
    path: ['timezone'],
    when: unlessKeysAreUnknown,
  })
  .superRefine(({ cron, every, jitter }, context) => {
    if (jitter === 0 || (cron === undefined && every === undefined)) return;
    const gapMs = every ?? shortestGapMs(cron ?? z.NEVER);
    if (jitter < gapMs) return;
    const message = `expected less than the time between two starts, ${formatDuration(gapMs)}`;
    context.addIssue({ code: 'custom', message, path: ['jitter'] });
  })
  .meta({ oneOf: [{ required: ['cron'] }, { required: ['every'] }] })
  .transform(({ cron, timezone, every, missed, jitter: jitterMs }): Schedule => {
    if (every !== undefined) return { kind: 'every', everyMs: every, missed, jitterMs };
    return { kind: 'cron', cron: cron ?? z.NEVER, timezone: timezone ?? 'UTC', missed, jitterMs };
  });

const common = {
  account: z.string().describe('Name of the account to work on.'),
  schedule: schedule
    .optional()
    .describe('When it runs automatically. Without a schedule it runs only by `lockstep run`.'),
};

/** When `who`, whose rows are `what`, waits for a person. */
const guards = (who: string, what: string, all: string) => ({
  approveAbove: z
    .int()
    .min(0)
    .optional()
    .describe(`${who} that would write more ${what} than this pauses for approval. Default: no limit.`),
  approveAboveShare: share.optional().describe(`The same as a share of all ${all}, such as 0.2. Default: no limit.`),
});

/** `name` may be listed and always comes last. */
const MATCH_KEYS = ['email', 'phone', 'name'] as const;
export type MatchKey = (typeof MATCH_KEYS)[number];

export const contactsOptions = z
  .strictObject({
    rowsPerPage: z.int().min(1).max(10_000).prefault(500).describe('Contacts requested per page. Default: 500.'),
    importWith: choice(['auto', 'import', 'create'], 'auto').describe(
      'Operation that makes a customer of a contact: customers.import, customers.create, or auto for the one that works. Default: auto.',
    ),
    onChange: choice(['update', 'ignore'], 'update').describe(
      'What to do when an imported contact changes. Default: update its customer.',
    ),
    matchBy: z
      .array(z.enum(MATCH_KEYS))
      .min(1, 'needs at least one of email, phone, name')
      .refine((fields) => new Set(fields).size === fields.length, 'the same field is listed twice')
      .prefault(['email', 'phone'])
      .describe(
        'Fields that match a contact with an existing customer, the strongest first; name is full name and organization. Default: [email, phone].',
      ),
    ...guards('A run', 'contacts', 'contacts'),
    map: contactMap
      .optional()
      .describe(
        'Where fields of the customer come from: { phone_number: { from: phone, transform: { phone: DE } } }; none: never written. Other fields are as the contact has them. See docs/contacts.md.',
      ),
    where: contactFilter
      .optional()
      .describe(
        'Which contacts are imported: { country: [DE, AT] }; all conditions have to hold. Default: all contacts.',
      ),
  })
  .superRefine(checkContactMap);

const pipelineId = z.union([z.int().min(0).transform(String), z.string().trim().min(1)]);

export const tasksOptions = z.strictObject({
  subtasks: flag.describe('Mirror subtasks too. Default: false.'),
  subtasksShare: share
    .prefault(0.05)
    .describe('Share of the unchanged tasks whose subtasks are read in one scan, with one call each. Default: 0.05.'),
  backfill: flag.describe(
    'Also deliver what the first scan finds. Default: false, the first scan is only the baseline.',
  ),
  pipelines: z
    .union([z.boolean(), z.array(pipelineId).min(1, 'needs at least one pipeline, or true for all pipelines')])
    .prefault(false)
    .describe('Mirror the cards of pipelines too: true for all pipelines, or a list of their ids. Default: false.'),
  doneColumns: z
    .array(z.string().trim().min(1))
    .prefault([])
    .describe('Names of the columns whose cards count as completed; case is ignored. Default: none.'),
  onConflict: choice(['service', 'target'], 'service').describe(
    'Whose state is used if a task and its item have both changed. Default: service.',
  ),
  poll: z
    .array(z.string())
    .prefault([])
    .describe('Targets whose linked items each run reads, to apply changes made there. Default: none.'),
  pollShare: share
    .prefault(1)
    .describe('Share of the linked items that one run reads, in turn, at most 500 per target. Default: 1.'),
  reconcile: flag.describe(
    'Each run reads all linked items and repairs items that differ from their tasks. Default: false.',
  ),
});

/** What to do with an existing order: leave it unchanged, update it if it differs, or reject its row. */
export const EXISTING = ['skip', 'update', 'fail'] as const;

export const ordersOptions = z.strictObject({
  folder: nonEmpty.describe(
    'Folder whose CSV files are loaded once each, and then moved to its subfolder done or failed; relative to this file.',
  ),
  existing: choice(EXISTING, 'skip').describe(
    'What to do with an order that exists: skip it, update it, or reject its row (fail). Default: skip.',
  ),
  createCustomers: flag.describe('Create missing customers. Default: false, rows without a customer are rejected.'),
  map: z
    .partialRecord(z.enum(FIELDS), z.string())
    .optional()
    .describe(
      'Columns by field, if they are not found by their names, or "" if no column has it: { order_id: Bestell-Nr., amount: "" }.',
    ),
  encoding: z
    .enum(ENCODINGS)
    .optional()
    .describe('Encoding of the files, such as windows-1250. Default: detected for each file.'),
  decimal: z.enum(['.', ',']).optional().describe('Decimal sign of the amounts. Default: detected for each file.'),
  accounting: flag.describe('Read (12.00) and 12.00- as minus 12. Default: false, such rows are invalid.'),
  ...guards('A load', 'orders', 'rows of its file'),
});

export const syncTypes = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('contacts').describe('Imports contacts as order customers.'),
    ...common,
    options: contactsOptions.prefault({}),
  }),
  z.strictObject({
    type: z.literal('tasks').describe('Mirrors the status of tasks to targets.'),
    ...common,
    targets: z
      .array(z.string())
      .min(1, 'needs at least one target')
      .refine((names) => new Set(names).size === names.length, 'the same target is listed twice')
      .describe('Names of the targets that receive the changes.'),
    options: tasksOptions.prefault({}),
  }),
  z.strictObject({
    type: z.literal('orders').describe('Loads the files of orders that appear in a folder.'),
    ...common,
    options: ordersOptions,
  }),
]);

export const sync = z.preprocess((given) => {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  const { [typeKeyOf(given as Record<string, unknown>)]: type, ...rest } = given as Record<string, unknown>;
  return type === undefined ? given : { type, ...rest };
}, syncTypes);
