/** One account: whether it may be called, its budget over time, its tenant and dialect, and what the doctor found. */
import { z } from 'zod';
import { plural } from '../../base/counts.ts';
import { shellWord } from '../../base/reasons/template.ts';
import { type BudgetMinute, budgetHistory } from '../../engine/ledger/scopes/budget-minutes.ts';
import { scopeNamed } from '../../engine/ledger/scopes/scopes.ts';
import { type AccountState, accountStates } from '../../operator/account-states.ts';
import { lastExamination } from '../../operator/examination.ts';
import { accountPath } from '../../operator/page-paths.ts';
import { accountNamed } from '../../settings/settings.ts';
import { originOf } from '../../settings/shared-accounts.ts';
import { definePage } from '../page.ts';
import { OverTime } from '../parts/charts.tsx';
import { Act, Field } from '../parts/inputs.tsx';
import { addressOf, Crumbs, Facts, Foreign, Section, Time } from '../parts/parts.tsx';
import { AccountChips, AccountProblems, isTried } from './account-parts.tsx';
import { Examined } from './examination.tsx';

/** What can be shown of the budget, and in which steps. */
const RANGES = {
  hour: { title: 'Last hour', minutes: 60, stepMinutes: 1 },
  day: { title: 'Last 24 hours', minutes: 24 * 60, stepMinutes: 15 },
  week: { title: 'Last 7 days', minutes: 7 * 24 * 60, stepMinutes: 120 },
} as const;
type Range = keyof typeof RANGES;

export const account = definePage({
  path: '/accounts/:account',
  params: z.object({ account: z.string() }),
  query: z.object({ range: z.enum(['hour', 'day', 'week']).prefault('day') }),
  async show(context, { params: { account: name }, query: { range } }) {
    const { pool, settings, examinations } = context;
    const state = (await accountStates(pool, settings)).find((one) => one.account === name);
    if (!state) throw accountNamed(settings, name); // throws: neither the settings nor the ledger has it
    const scope = await scopeNamed(pool, name);
    const history = (await budgetHistory(pool, [name], RANGES[range])).get(name);
    const examining = examinations.stateOf(name);
    const canAct = context.canAct && state.url !== null;
    return {
      title: name,
      tab: 'accounts',
      command: state.url === null ? 'accounts' : `doctor --account ${shellWord(name)} --all`,
      isBusy: examining?.status === 'under-way' || isTried(state.suspended),
      assets: ['uplot.css', 'uplot.js', 'chart.js'],
      head: (
        <>
          <Crumbs to={{ '/accounts': 'Accounts' }} />
          <h1>{name}</h1>
        </>
      ),
      body: (
        <>
          <p>
            <AccountChips state={state} />
          </p>
          <AccountProblems state={state} context={context} />
          <AccountFacts state={state} />
          <Section title="Budget" side={<Ranges account={name} shown={range} />}>
            {history === undefined ? (
              <p class="dim">No call in this time.</p>
            ) : (
              <Used history={history} range={range} />
            )}
          </Section>
          <Section
            title="Examination of the service"
            side={
              canAct &&
              state.suspended?.code !== 'ACCOUNT_SUSPENDED' &&
              examining?.status !== 'under-way' && (
                <Act path={`${accountPath(name)}/examine`} label="Examine the service now" />
              )
            }
          >
            <Examined name={name} examining={examining} last={await lastExamination(pool, scope)} context={context} />
          </Section>
          {canAct && state.suspended === null && <SuspendForm account={name} />}
        </>
      ),
    };
  },
});

function AccountFacts({ state }: { readonly state: AccountState }) {
  const { url, allowed, identity, dialect } = state;
  const chosen = Object.entries(dialect);
  return (
    <Facts
      of={{
        Address: (
          <Foreign text={url === 'embedded' ? 'the embedded service' : (url ?? 'not in the settings')} most={200} />
        ),
        Tenant: identity === null ? 'not used yet' : <Identity identity={identity} url={url} />,
        Budget: allowed,
        Dialect: [
          chosen.map(([path, value]) => (
            <p>
              <code>{path}</code> <Foreign text={value} most={100} />
            </p>
          )),
          chosen.length === 0 ? 'detected' : <p class="dim">Everything else is detected.</p>,
        ],
      }}
    />
  );
}

interface IdentityProps {
  readonly identity: NonNullable<AccountState['identity']>;
  readonly url: string | null;
}

/** With the addresses at which it was seen, besides that of the settings. */
function Identity({ identity: { scope, tenant, origins, boundAt }, url }: IdentityProps) {
  const own = url === null || url === 'embedded' ? url : originOf(url);
  const others = origins.filter((origin) => origin !== own);
  const words = [scope, ...(tenant === null ? [] : [`id ${tenant}`])].join(', ');
  return (
    <>
      <Foreign text={others.length === 0 ? words : `${words}, also at ${others.join(', ')}`} most={400} />
      {' since '}
      <Time at={boundAt} />
    </>
  );
}

function Ranges({ account: name, shown }: { readonly account: string; readonly shown: Range }) {
  return (
    <nav class="ranges" aria-label="Time that is shown">
      {(Object.keys(RANGES) as Range[]).map((range) => (
        <a
          id={`range-${range}`}
          href={addressOf(accountPath(name), { range })}
          aria-current={range === shown ? 'page' : undefined}
        >
          {RANGES[range].title}
        </a>
      ))}
    </nav>
  );
}

function Used({ history, range }: { readonly history: readonly BudgetMinute[]; readonly range: Range }) {
  const seconds = RANGES[range].stepMinutes * 60;
  const [calls, limited] = (['calls', 'limited'] as const).map((name) =>
    history.reduce((sum, minute) => sum + minute[name], 0),
  );
  return (
    <>
      <p>
        {plural(calls ?? 0, 'call')}
        {limited ? `; the service asked to slow down ${plural(limited, 'time')}` : ''}.
      </p>
      <OverTime
        columns={['Calls a second', 'Allowed a second', 'Calls waiting', 'Asked to slow down']}
        rows={history.map(({ at, calls, perSecond, waitedMs, limited }) => ({
          at,
          values: [calls / seconds, perSecond, waitedMs / 1_000 / seconds, limited],
        }))}
      />
    </>
  );
}

function SuspendForm({ account: name }: { readonly account: string }) {
  return (
    <Section title="Suspend the account">
      <p>Its runs wait until someone resumes it: calls in flight end, and no new call is sent.</p>
      <form class="filters" method="post" action={`${accountPath(name)}/suspend`}>
        <Field grows label="Reason (optional)" id="suspend-reason" name="reason" maxlength={200} />
        <button type="submit">Suspend</button>
      </form>
    </Section>
  );
}
