/** The operations of the API about accounts. */
import { z } from 'zod';
import { budgetHistory } from '../../engine/ledger/scopes/budget-minutes.ts';
import { scopeNamed } from '../../engine/ledger/scopes/scopes.ts';
import { accountStates } from '../../operator/account-states.ts';
import { lastExamination } from '../../operator/examination.ts';
import { accountNamed } from '../../settings/settings.ts';
import { ACCOUNT_ACTIONS, actOnAccount } from '../actions/actions.ts';
import { defineEndpoint, type Endpoint } from './endpoint.ts';
import { done, requireAction } from './shapes.ts';

const ofAccount = z.object({ account: z.string() });
const WEEK_MINUTES = 7 * 24 * 60;

export const accountEndpoints: readonly Endpoint[] = [
  defineEndpoint({
    name: 'accounts',
    summary: 'Accounts: tenant and whether a person has to confirm it, budget, suspended, service down, dialect',
    route: 'GET /accounts',
    answer: z.object({ accounts: z.array(z.looseObject({ account: z.string() })) }),
    work: async ({ pool, settings }) => ({ accounts: await accountStates(pool, settings()) }),
  }),
  defineEndpoint({
    name: 'account-budget',
    summary: 'How the budget of an account was used: calls, 429 answers, waiting, and the rate, over time',
    route: 'GET /accounts/{account}/budget',
    params: ofAccount,
    query: z.object({
      minutes: z.coerce
        .number()
        .int()
        .min(1)
        .max(WEEK_MINUTES)
        .prefault(60)
        .describe('How many minutes to show, up to now.'),
      step: z.coerce.number().int().min(1).max(WEEK_MINUTES).prefault(1).describe('How many minutes one entry covers.'),
    }),
    answer: z.object({ budget: z.array(z.looseObject({ calls: z.number(), limited: z.number() })) }),
    async work({ pool, settings }, { params: { account }, query: { minutes, step } }) {
      accountNamed(settings(), account);
      const history = await budgetHistory(pool, [account], { minutes, stepMinutes: step });
      return { budget: history.get(account) ?? [] };
    },
  }),
  defineEndpoint({
    name: 'account-examination',
    summary: 'The last examination of the service of an account, and what is under way in this process',
    route: 'GET /accounts/{account}/examination',
    params: ofAccount,
    answer: z.looseObject({ state: z.looseObject({ status: z.string() }).nullable() }),
    async work({ pool, settings, examinations }, { params: { account } }) {
      accountNamed(settings(), account);
      const last = await lastExamination(pool, await scopeNamed(pool, account));
      return { state: examinations.stateOf(account) ?? null, at: last?.at ?? null, report: last?.report ?? null };
    },
  }),
  defineEndpoint({
    name: 'examine-account',
    summary: 'Examine the service of an account: at most 60 calls, which only read',
    route: 'POST /accounts/{account}/examine',
    params: ofAccount,
    answer: done,
    work: ({ examinations }, { taking, params }) => examinations.begin(params.account, taking),
  }),
  defineEndpoint({
    name: 'act-on-account',
    summary:
      'Try the refused key of an account at once, suspend the account or resume it, or say that it is the same tenant as before (rebind) or another one (fresh)',
    route: 'POST /accounts/{account}/{action}',
    params: ofAccount.extend({ action: z.enum(ACCOUNT_ACTIONS) }),
    body: z.object({ reason: z.string().max(200).optional().describe('Why it is suspended.') }),
    answer: done,
    async work(needs, { taking, params: { account, action }, body }) {
      requireAction(action, 'suspend', body);
      return actOnAccount(needs, taking, action, account, body);
    },
  }),
];
