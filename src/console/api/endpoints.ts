/** The operations of the API: they do what the pages do, with the same functions. */
import { z } from 'zod';
import { VERDICTS } from '../../engine/ledger/rows.ts';
import { type Run, readRun } from '../../engine/ledger/runs.ts';
import { reasonsOf } from '../../engine/ledger/views/row-groups.ts';
import { pageOfRows } from '../../engine/ledger/views/row-pages.ts';
import { throughputOf } from '../../engine/ledger/views/run-figures.ts';
import { pageOfRuns } from '../../engine/ledger/views/run-list.ts';
import { phaseTimes } from '../../engine/ledger/views/run-phases.ts';
import { checkMapping, mappedSync } from '../../operator/check-mapping.ts';
import { hintsFor } from '../../operator/hints.ts';
import { problemSections } from '../../operator/problem-rows.ts';
import { findRow, storyResult } from '../../operator/row-words.ts';
import { reportRun } from '../../operator/run-report.ts';
import { listSyncs } from '../../operator/sync-list.ts';
import { actOnRun, actOnSync, RUN_ACTIONS, SYNC_ACTIONS } from '../actions/actions.ts';
import { sharedWhileOpen } from '../live/open-run-reads.ts';
import type { ConsoleNeeds } from '../needs.ts';
import { accountOf } from '../records/parts.tsx';
import { liveReadOptions } from '../records/read.ts';
import { accountEndpoints } from './account-endpoints.ts';
import { deliveryEndpoints } from './delivery-endpoints.ts';
import { defineEndpoint, type Endpoint } from './endpoint.ts';
import { rowQuery, runQuery, toRowFilter, toRunFilter } from './filters.ts';
import { linkEndpoints } from './link-endpoints.ts';
import { planEndpoints } from './plan-endpoints.ts';
import { recordEndpoints } from './record-endpoints.ts';
import { reviewEndpoints } from './review-endpoints.ts';
import { done, limit, next, requireAction } from './shapes.ts';
import { systemEndpoints } from './system-endpoints.ts';
import { uploadEndpoints } from './upload-endpoints.ts';

const ofRun = z.object({ run: z.string().describe('Id of the run.') });
const counts = z.record(z.enum(['in', ...VERDICTS]), z.number()).describe('Rows by verdict; `in` is their sum.');
const report = z
  .looseObject({ run: z.string(), sync: z.string(), status: z.string(), state: z.string(), counts })
  .describe('The report of a run, as `lockstep runs show --json` prints it.');

export const endpoints: readonly Endpoint[] = [
  ...systemEndpoints,
  defineEndpoint({
    name: 'runs',
    summary: 'Runs, the newest first',
    route: 'GET /runs',
    query: runQuery.extend({ limit }),
    answer: z.object({ runs: z.array(report), next }),
    async work({ pool, settings }, { query }) {
      const how = { limit: query.limit, after: query.after, fold: !query.all };
      const { entries, next } = await pageOfRuns(pool, toRunFilter(query), how);
      const reports = entries.map(async ({ run, folded, since }) => ({
        ...(await reported({ pool, settings }, run)),
        folded,
        since,
      }));
      return { runs: await Promise.all(reports), next: next ?? null };
    },
  }),
  defineEndpoint({
    name: 'run',
    summary:
      'One run: its report, phases, rows sent over time, notes, reasons, and the rows that need a person by reason',
    route: 'GET /runs/{run}',
    params: ofRun,
    answer: report,
    async work({ pool, settings, hint }, { params }) {
      const run = await readRun(pool, params.run);
      const read = async () => {
        const shown = await reported({ pool, settings }, run);
        const [problems, phases, throughput, reasons] = await Promise.all([
          problemSections(pool, shown, hintsFor(hint, run)),
          phaseTimes(pool, run),
          throughputOf(pool, run.id),
          reasonsOf(pool, run.id),
        ]);
        return { ...shown, phases, throughput: throughput ?? null, notes: run.notes, reasons, problems };
      };
      return sharedWhileOpen(settings(), 'report', { run, read });
    },
  }),
  defineEndpoint({
    name: 'rows',
    summary: 'The rows of a run, in the order they were seen',
    route: 'GET /runs/{run}/rows',
    params: ofRun,
    query: rowQuery.extend({ limit }),
    answer: z.object({
      rows: z.array(z.looseObject({ n: z.number(), sourceId: z.string(), verdict: z.string() })),
      next,
    }),
    async work({ pool }, { params, query }) {
      const run = await readRun(pool, params.run);
      const page = await pageOfRows(pool, run.id, toRowFilter(query, run), { limit: query.limit, after: query.after });
      return { rows: page.rows, next: page.next === undefined ? null : String(page.next) };
    },
  }),
  defineEndpoint({
    name: 'row',
    summary: 'One row: its input, match, attempts and verdict',
    route: 'GET /runs/{run}/rows/{row}',
    params: ofRun.extend({ row: z.string().describe('Line of the file, id of the contact, or number of the row.') }),
    answer: z.looseObject({ n: z.number(), state: z.string() }),
    async work({ pool, hint }, { params }) {
      const { story, hints } = await findRow(pool, params.run, params.row, hint);
      return storyResult(story, hints);
    },
  }),
  ...planEndpoints,
  defineEndpoint({
    name: 'act-on-run',
    summary: 'Cancel a run, resume (or approve) it, retry what failed, or acknowledge its problems',
    route: 'POST /runs/{run}/{action}',
    params: ofRun.extend({ action: z.enum(RUN_ACTIONS) }),
    body: z.object({
      plan: z
        .string()
        .optional()
        .describe('To approve only this plan, as `plan` of the run named it. Default: its plan now.'),
      first: z
        .number()
        .int()
        .min(1)
        .optional()
        .describe(
          'To approve only this many orders of a load, from the first one. The load then waits for approval of the others.',
        ),
    }),
    answer: done,
    async work(needs, { taking, params: { run, action }, body }) {
      requireAction(action, 'resume', body);
      return actOnRun(needs, taking, action, run, { seen: body.plan, first: body.first });
    },
  }),
  defineEndpoint({
    name: 'syncs',
    summary: 'The syncs of the settings: schedule, next starts, last run',
    route: 'GET /syncs',
    answer: z.object({ syncs: z.array(z.looseObject({ sync: z.string() })) }),
    async work({ pool, settings }) {
      const listed = await listSyncs(pool, settings());
      return {
        syncs: listed.map(({ sync: { name, type, account, schedule }, ...rest }) => ({
          sync: name,
          type,
          account,
          schedule,
          ...rest,
        })),
      };
    },
  }),
  defineEndpoint({
    name: 'mapping',
    summary: 'What the mapping of a sync of contacts makes of ten contacts, read live',
    route: 'GET /syncs/{sync}/mapping',
    params: z.object({ sync: z.string() }),
    answer: z.looseObject({ sync: z.string(), contacts: z.array(z.looseObject({ contact: z.string() })) }),
    async work(needs, { params }) {
      const sync = mappedSync(needs.settings(), params.sync);
      return { ...(await checkMapping(sync, await accountOf(needs, sync.account), liveReadOptions())) };
    },
  }),
  defineEndpoint({
    name: 'act-on-sync',
    summary: 'Run a sync now, make a dry run, or pause and resume its schedule',
    route: 'POST /syncs/{sync}/{action}',
    params: z.object({ sync: z.string(), action: z.enum(SYNC_ACTIONS) }),
    body: z.object({ reason: z.string().max(200).optional().describe('Why it is paused.') }),
    answer: done,
    async work(needs, { taking, params: { sync, action }, body }) {
      requireAction(action, 'pause', body);
      return actOnSync(needs, taking, action, sync, body);
    },
  }),
  ...accountEndpoints,
  ...reviewEndpoints,
  ...deliveryEndpoints,
  ...linkEndpoints,
  ...recordEndpoints,
  ...uploadEndpoints,
];

async function reported({ pool, settings }: Pick<ConsoleNeeds, 'pool' | 'settings'>, run: Run) {
  const { account, lane, phase, title, createdAt, endedAt } = run;
  const report = await reportRun(pool, run, settings());
  return { ...report, title, account, lane, phase: phase ?? null, startedAt: createdAt, endedAt: endedAt ?? null };
}
