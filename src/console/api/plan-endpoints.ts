/** The operations of the API about what a run would write: its plan, and the lines of a load that a person can correct. */
import { z } from 'zod';
import { changesIn, pageOfShown } from '../../engine/ledger/matching/shown-writes.ts';
import { readRun } from '../../engine/ledger/runs.ts';
import { requireOperator } from '../access/guard.ts';
import { correctLoad } from '../loads/correct.ts';
import { badFile, badOrders, cellKey } from '../loads/fixes.ts';
import { defineEndpoint, type Endpoint } from './endpoint.ts';
import { ARE_UPDATES, planQuery } from './filters.ts';
import { afterNumber, limit, next, pageOf } from './shapes.ts';

const ofRun = z.object({ run: z.string().describe('Id of the run.') });
const column = z.number().int().min(1).describe('Number of the column, from 1.');

export const planEndpoints: readonly Endpoint[] = [
  defineEndpoint({
    name: 'plan',
    summary: 'All that a run writes, as it was shown for its approval',
    route: 'GET /runs/{run}/plan',
    params: ofRun,
    query: planQuery.extend({ limit }),
    answer: z.object({
      plan: z.string().nullable().describe('Send it with the approval (act-on-run, resume).'),
      writes: z.array(
        z.looseObject({
          n: z.number(),
          source: z.string(),
          action: z.enum(['create', 'update']),
          changes: z.array(z.object({ field: z.string(), from: z.unknown().optional(), to: z.unknown() })),
        }),
      ),
      next,
    }),
    async work({ pool }, { params, query: { kind, limit, after } }) {
      const run = await readRun(pool, params.run);
      const found = await pageOfShown(pool, run.id, { areUpdates: ARE_UPDATES[kind], after, limit: limit + 1 });
      const { shown, next } = pageOf(found, limit, ({ n }) => String(n));
      const writes = shown.map((write) => {
        const { n, source, label, record, customer, customerName, was } = write;
        const action = was === null ? 'create' : 'update';
        return { n, source, label, action, record, customer, customerName, changes: changesIn(write) };
      });
      return { plan: run.planId ?? null, writes, next };
    },
  }),
  defineEndpoint({
    name: 'refused-lines',
    summary: 'The lines of a load that were not accepted, to correct',
    route: 'GET /runs/{run}/refused',
    params: ofRun,
    query: z.object({ limit, after: afterNumber }),
    answer: z.object({
      columns: z.array(z.string()),
      orders: z.number().describe('All orders that were not accepted.'),
      lines: z.array(
        z.object({
          line: z.number(),
          cells: z.array(z.string()),
          order: z.string(),
          reason: z.string().nullable(),
          why: z.string(),
          remedy: z.string().nullable(),
          column: column
            .nullable()
            .describe('The first cell that is wrong; null if it is not single cells of this line.'),
        }),
      ),
      next,
    }),
    async work({ pool }, { taking, params, query: { limit, after = -1 } }) {
      requireOperator(taking.person);
      const { columns } = await badFile(pool, params.run);
      const { lines, count, nextFrom } = await badOrders(pool, params.run, { limit, from: after + 1 });
      return {
        columns,
        orders: count,
        lines: lines.map(({ label, wrong, problems, ...line }) => ({
          ...line,
          order: label,
          why: problems.map(({ why }) => why).join(' '),
          remedy: [...new Set(problems.flatMap(({ remedy }) => remedy ?? []))].join(' ') || null,
          column: wrong[0] === undefined ? null : wrong[0] + 1,
        })),
        next: nextFrom === undefined ? null : String(nextFrom - 1),
      };
    },
  }),
  defineEndpoint({
    name: 'correct-lines',
    summary:
      'Make a new file of the lines that were not accepted, corrected. If the load waits for approval, it is declined',
    route: 'POST /runs/{run}/corrections',
    params: ofRun,
    body: z.object({
      cells: z
        .array(z.strictObject({ line: z.number().int().min(1), column, text: z.string().max(10_000) }))
        .prefault([])
        .describe(
          'New texts of cells. A line whose cells are all emptied is left out, even if it also has cells with a line break, with more than 300 characters, or in a file of more than 40 columns those that fill no field.',
        ),
      replace: z
        .strictObject({ column, find: z.string().describe('Empty: fill the empty cells.'), put: z.string() })
        .optional()
        .describe('Replaces a text in all cells of a column.'),
      createCustomers: z.boolean().prefault(false).describe('Create the customers that are missing.'),
    }),
    answer: z.object({
      upload: z.string().describe('The new file: see upload-state and load-upload.'),
      name: z.string(),
      form: z.record(z.string(), z.string()).describe('The choices of the load, for upload-state and load-upload.'),
    }),
    async work(needs, { taking, params, body: { cells, replace, createCustomers } }) {
      const fixes = {
        cells: new Map(cells.map(({ line, column, text }) => [cellKey(line, column - 1), text])),
        replacement: replace && { ...replace, column: replace.column - 1 },
      };
      const corrected = await correctLoad(needs, taking, params.run, { fixes, createsCustomers: createCustomers });
      return { upload: corrected.upload.id, name: corrected.upload.name, form: corrected.form };
    },
  }),
];
