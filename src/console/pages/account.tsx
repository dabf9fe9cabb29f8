/** One account: whether it may be called, its budget over time, its tenant and dialect, and what the doctor found. */
import { z } from 'zod';
import { shellWord } from '../../base/reasons/template.ts';
import { type BudgetMinute, budgetHistory } from '../../engine/ledger/budget-minutes.ts';
import { scopeNamed } from '../../engine/ledger/scopes.ts';
import { type AccountState, accountStates } from '../../operator/account-states.ts';
import { lastExamination, type Report } from '../../operator/examination.ts';
import {
  askedLines,
  attentionOf,
  isUnprobed,
  leftLines,
  probedFindings,
  settingsYaml,
  verdictOf,
} from '../../operator/examination-words.ts';
import { formatCount, plural } from '../../operator/words.ts';
import { accountNamed } from '../../settings/settings.ts';
import type { Examining } from '../examinations.ts';
import { definePage, type PageContext } from '../page.ts';
import { Act, addressOf, Chip, Command, Foreign, Head, Section, Time, Words } from '../parts.tsx';
import { AccountChips, AccountProblems, RateNow } from './account-parts.tsx';

export function accountPath(account: string): string {
  return `/accounts/${encodeURIComponent(account)}`;
}

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
    const { pool, settings, person, examinations } = context;
    const state = (await accountStates(pool, settings)).find((one) => one.account === name);
    if (!state) throw accountNamed(settings, name); // throws: neither the settings nor the ledger has it
    const scope = await scopeNamed(pool, name);
    const history = (await budgetHistory(pool, [scope], RANGES[range])).get(scope);
    const examining = examinations.stateOf(name);
    const canAct = person.role === 'operator' && state.url !== null;
    return {
      title: name,
      tab: 'accounts',
      command: `doctor --account ${shellWord(name)} --all`,
      isBusy: examining?.status === 'under-way',
      assets: ['uplot.css', 'uplot.js', 'chart.js'],
      head: (
        <>
          <p class="crumbs">
            <a href="/accounts">Accounts</a>
          </p>
          <h1>{name}</h1>
        </>
      ),
      body: (
        <>
          <p>
            <AccountChips state={state} />
          </p>
          <AccountProblems state={state} context={context} />
          <Facts state={state} context={context} />
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

function Facts({ state, context }: { readonly state: AccountState; readonly context: PageContext }) {
  const { account: name, url, allowed, identity, dialect } = state;
  const chosen = Object.entries(dialect);
  return (
    <dl class="facts">
      <dt>Address</dt>
      <dd>
        <Foreign text={url ?? 'not in the settings'} most={200} />
      </dd>
      <dt>Tenant</dt>
      <dd>{identity === null ? 'not used yet' : <Identity identity={identity} />}</dd>
      {allowed !== null && (
        <>
          <dt>Budget</dt>
          <dd>
            {allowed} <RateNow account={name} context={context} />
          </dd>
        </>
      )}
      <dt>Dialect</dt>
      <dd>
        {chosen.map(([path, value]) => (
          <p>
            <code>{path}</code> <Foreign text={value} most={100} />
          </p>
        ))}
        {chosen.length === 0 ? 'detected' : <p class="dim">Everything else is detected.</p>}
      </dd>
    </dl>
  );
}

function Identity({ identity }: { readonly identity: NonNullable<AccountState['identity']> }) {
  const { scope, tenant, origins, boundAt } = identity;
  const words = [scope, ...(tenant === null ? [] : [`id ${tenant}`])].join(', ');
  return (
    <>
      <Foreign text={origins.length === 0 ? words : `${words} at ${origins.join(', ')}`} most={400} />
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

/** The script draws the table as a chart and folds it. */
function Used({ history, range }: { readonly history: readonly BudgetMinute[]; readonly range: Range }) {
  const seconds = RANGES[range].stepMinutes * 60;
  const [calls, limited] = (['calls', 'limited'] as const).map((name) =>
    history.reduce((sum, minute) => sum + minute[name], 0),
  );
  return (
    <>
      <p>
        {plural(calls ?? 0, 'call')}, {plural(limited ?? 0, 'time')} the service answered “too many requests”.
      </p>
      <details class="plotted" open>
        <summary>As a table</summary>
        <div class="wide">
          <table class="list">
            <Head
              columns={[
                'From',
                { title: 'Calls a second', as: 'number' },
                { title: 'Allowed a second', as: 'number' },
                { title: 'Calls waiting', as: 'number' },
                { title: 'Limits met', as: 'number' },
              ]}
            />
            <tbody>
              {history.map(({ at, calls, perSecond, waitedMs, limited }) => (
                <tr>
                  <td class="nowrap">
                    <Time at={at} />
                  </td>
                  <Figure value={calls / seconds} />
                  <Figure value={perSecond} />
                  <Figure value={waitedMs / 1_000 / seconds} />
                  <Figure value={limited} />
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </>
  );
}

function Figure({ value }: { readonly value: number | null }) {
  if (value === null) return <td class="number">–</td>;
  return (
    <td class="number" data-value={value}>
      {value > 0 && value < 100 && !Number.isInteger(value) ? value.toFixed(2) : formatCount(value)}
    </td>
  );
}

interface ExaminedProps {
  readonly name: string;
  readonly examining: Examining | undefined;
  readonly last: { readonly at: Date; readonly report: Report } | undefined;
  readonly context: PageContext;
}

function Examined({ name, examining, last, context: { hint } }: ExaminedProps) {
  const progress = examining?.status === 'under-way' ? examining.progress : undefined;
  return (
    <>
      {examining?.status === 'under-way' && (
        <p role="status">
          <Chip tone="busy">under way</Chip>{' '}
          {progress &&
            `examining ${progress.probe}, step ${progress.step} of ${progress.steps}, ${plural(progress.calls, 'call')} so far`}
        </p>
      )}
      {examining?.status === 'failed' && (
        <p class="notice warn">
          The last examination could not begin: <Words text={examining.failure.message} most={800} />
        </p>
      )}
      {last === undefined ? (
        <p class="dim">
          The service has not been examined yet. An examination makes at most 60 calls within the budget, and only
          reads.
        </p>
      ) : (
        <ReportShown name={name} at={last.at} report={last.report} hint={hint} />
      )}
    </>
  );
}

interface ReportProps {
  readonly name: string;
  readonly at: Date;
  readonly report: Report;
  readonly hint: PageContext['hint'];
}

function ReportShown({ name, at, report, hint }: ReportProps) {
  const { tone, usable, rest } = verdictOf(report);
  const [needing, left, yaml] = [attentionOf(report), leftLines(report), settingsYaml(report)];
  const unprobed = report.findings.filter(isUnprobed);
  return (
    <>
      <p>
        <Chip tone={tone}>{tone === 'good' ? 'usable' : tone === 'warn' ? 'needs a person' : 'not usable'}</Chip>{' '}
        <Foreign text={`${usable} ${rest}`} most={600} />
      </p>
      <p class="dim">
        <Time at={at} exact />. <Foreign text={askedLines(report).join(' ')} most={600} />
      </p>
      {needing.length > 0 && (
        <ul class="notes">
          {needing.map(({ about, needs }) => (
            <li>
              <strong>{about}</strong>: <Words text={needs} most={600} />
            </li>
          ))}
        </ul>
      )}
      {left.length > 0 && (
        <>
          <p>These test records remain, because the API cannot delete. Remove them by hand:</p>
          <ul class="notes">
            {left.map((line) => (
              <li>
                <Foreign text={line} most={300} />
              </li>
            ))}
          </ul>
        </>
      )}
      <details>
        <summary id="findings">All findings with their evidence</summary>
        <div class="wide">
          <table class="list">
            <Head columns={['Question', 'Found', 'Confidence', 'The worker']} />
            <tbody>
              {probedFindings(report).map(({ gap, kinds, found, confidence, does }) => (
                <tr>
                  <td>
                    {gap}
                    {kinds.length > 0 && <small class="dim"> {kinds.join(', ')}</small>}
                  </td>
                  <td>
                    <Words text={found} most={400} />
                  </td>
                  <td>
                    <Chip tone={confidence === 'certain' ? 'good' : 'dim'}>{confidence}</Chip>
                  </td>
                  <td>
                    <Words text={does} most={300} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        {unprobed.length > 0 && (
          <p class="dim">Not determined: {unprobed.map(({ gap }) => gap).join(', ')}. The worker does what is safe.</p>
        )}
      </details>
      {yaml !== '' && (
        <details>
          <summary id="found-settings">Settings for these findings</summary>
          <pre class="source">{yaml}</pre>
          <p>This examines the service again and writes them into the file:</p>
          <Command line={hint(`doctor --account ${shellWord(name)} --save`)} />
        </details>
      )}
    </>
  );
}

function SuspendForm({ account: name }: { readonly account: string }) {
  return (
    <Section title="Suspend the account">
      <p>Its runs wait until someone resumes it: calls in flight end, and no new call is sent.</p>
      <form class="filters" method="post" action={`${accountPath(name)}/suspend`}>
        <label class="grows">
          Reason (optional)
          <input id="suspend-reason" name="reason" maxlength={200} />
        </label>
        <button type="submit">Suspend</button>
      </form>
    </Section>
  );
}
