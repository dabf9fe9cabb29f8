/** The forms that act on runs, syncs and accounts. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { plural } from '../../base/counts.ts';
import { LockstepError } from '../../base/errors.ts';
import { awaitsApproval } from '../../engine/ledger/approval.ts';
import { readRun } from '../../engine/ledger/runs.ts';
import { accountPath } from '../../operator/page-paths.ts';
import { planOf } from '../../operator/run-plan.ts';
import { readLoad } from '../../syncs/orders/begin-load.ts';
import {
  ACCOUNT_ACTIONS,
  actOnAccount,
  actOnRun,
  actOnSync,
  CONFIRMED_ACTIONS,
  RUN_ACTIONS,
  SYNC_ACTIONS,
} from '../actions/actions.ts';
import type { ConsoleNeeds } from '../needs.ts';
import { isLarge } from '../pages/run-load.tsx';
import { readGiven } from '../read-given.ts';
import type { SharedNeeds } from '../shared-needs.ts';
import { say } from './flash-message.ts';
import { onForm, submittedForm, tell } from './forms.ts';

const ofRun = z.object({ run: z.string(), action: z.enum(RUN_ACTIONS) });
const ofSync = z.object({ sync: z.string(), action: z.enum(SYNC_ACTIONS) });
const ofAccount = z.object({ account: z.string() });
const ofRuns = z.object({ action: z.enum(CONFIRMED_ACTIONS) });
const firstOrders = z.coerce.number().int().min(1).optional();
const why = z.object({ reason: z.string().trim().max(200).optional() });

export function addActionForms(app: FastifyInstance, needs: SharedNeeds): void {
  onForm(app, '/runs/:run/:action', async ({ taking, params, given, reply }) => {
    const { run, action } = readGiven(ofRun, params);
    const first = readGiven(firstOrders, given.first);
    const isAsked = action === 'resume' && first === undefined && (await isTyped(needs, run));
    if (isAsked) return `/runs/${encodeURIComponent(run)}/approve`;
    await tell(reply, needs, () => actOnRun(needs, taking, action, run, { seen: given.plan ?? '', first }));
    return `/runs/${encodeURIComponent(run)}`;
  });
  onForm(app, '/syncs/:sync/:action', async ({ taking, params, given, reply }) => {
    const { sync, action } = readGiven(ofSync, params);
    const done = await tell(reply, needs, () => actOnSync(needs, taking, action, sync, readGiven(why, given)));
    return done?.run === undefined ? '/syncs' : `/runs/${done.run}`;
  });
  onForm(app, '/accounts/:account/examine', async ({ taking, params, reply }) => {
    const { account } = readGiven(ofAccount, params);
    await tell(reply, needs, () => needs.examinations.begin(account, taking));
    return accountPath(account);
  });
  onForm(app, '/accounts/:account/:action', async ({ taking, params, given, reply }) => {
    const { account, action } = readGiven(ofAccount.extend({ action: z.enum(ACCOUNT_ACTIONS) }), params);
    await tell(reply, needs, () => actOnAccount(needs, taking, action, account, readGiven(why, given)));
    return accountPath(account);
  });
  onForm(app, '/confirm/:action', async ({ taking, params, given, request, reply }) => {
    const { action } = readGiven(ofRuns, params);
    const how = { declines: given.kind === 'decline' }; // what the page has asked about, though the run may have changed
    const [first = '', ...rest] = submittedForm(request).getAll('run');
    if (rest.length === 0) {
      const done = await tell(reply, needs, () => actOnRun(needs, taking, action, first, how));
      return `/runs/${encodeURIComponent(done?.run ?? first)}`;
    }
    const refused: string[] = [];
    for (const id of [first, ...rest]) {
      try {
        const done = await actOnRun(needs, taking, action, id, how);
        if (done.refused !== undefined) refused.push(done.said);
      } catch (error) {
        if (!(error instanceof LockstepError)) throw error;
        refused.push(error.message);
      }
    }
    const words = { cancel: 'cancelled', retry: 'retried', acknowledge: 'acknowledged' }[action];
    const text = [`${plural(1 + rest.length - refused.length, 'run')} ${words}.`, ...refused].join(' ');
    say(reply, { tone: refused.length === 0 ? 'good' : 'bad', text });
    return '/runs';
  });
}

/** Whether a person approves the run only by typing how many orders it writes: a page that is open since before may not ask. */
async function isTyped({ pool, settings }: ConsoleNeeds, id: string): Promise<boolean> {
  const run = await readRun(pool, id);
  if (!awaitsApproval(run) || (await readLoad(pool, id)) === undefined) return false;
  return isLarge(await planOf(pool, run, settings()));
}
