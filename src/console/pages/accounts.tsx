/** Accounts: which tenant each one is, whether it may be called, its budget now, and its dialect. */
import { z } from 'zod';
import { shellWord } from '../../base/reasons/template.ts';
import { type AccountState, accountStates } from '../../operator/account-states.ts';
import { formatRate } from '../../operator/words.ts';
import { budgetLimits } from '../../settings/settings.ts';
import { definePage, type PageContext } from '../page.ts';
import { Act, Chip, Command, Foreign, Time } from '../parts.tsx';

export const accounts = definePage({
  path: '/accounts',
  params: z.object({}),
  query: z.object({}),
  async show(context) {
    const states = await accountStates(context.pool, context.settings);
    return {
      title: 'Accounts',
      tab: 'accounts',
      command: 'accounts',
      head: <h1>Accounts</h1>,
      body: (
        <ul class="cards">
          {states.map((state) => (
            <Account state={state} context={context} />
          ))}
        </ul>
      ),
    };
  },
});

function Account({ state, context }: { readonly state: AccountState; readonly context: PageContext }) {
  const { account, url, allowed, identity, suspended, down, dialect } = state;
  return (
    <li class="card">
      <div class="card-head">
        <strong>{account}</strong>
        {url === null && <Chip tone="dim">not in the settings</Chip>}
        {suspended && <Chip tone="bad">suspended</Chip>}
        {down && <Chip tone="bad">service down</Chip>}
        {url !== null && !suspended && !down && <Chip tone="good">no problem</Chip>}
      </div>
      {[suspended, down].map(
        (problem) =>
          problem && (
            <p>
              Since <Time at={problem.since} />: <Foreign text={problem.message} most={600} />
            </p>
          ),
      )}
      {suspended && (
        <p class="fix">
          <b>Fix</b> Lockstep tries the key again by itself. The account resumes when the service accepts it.
        </p>
      )}
      {suspended && context.person.role === 'operator' && (
        <Act path={`/accounts/${encodeURIComponent(account)}/try-key`} label="Try the key now" />
      )}
      <dl class="facts">
        {url !== null && (
          <>
            <dt>Address</dt>
            <dd>
              <Foreign text={url} most={200} />
            </dd>
          </>
        )}
        <dt>Tenant</dt>
        <dd>{identity === null ? 'not used yet' : <Identity identity={identity} />}</dd>
        {allowed !== null && (
          <>
            <dt>Budget</dt>
            <dd>
              {allowed} <RateNow account={account} context={context} />
            </dd>
          </>
        )}
        <dt>Dialect</dt>
        <dd>
          {Object.keys(dialect).length === 0
            ? 'detected'
            : Object.entries(dialect).map(([path, value]) => (
                <p>
                  <code>{path}</code> <Foreign text={value} most={100} />
                </p>
              ))}
          {Object.keys(dialect).length > 0 && <p class="dim">Everything else is detected.</p>}
        </dd>
      </dl>
      {url !== null && <Command line={context.hint(`doctor --account ${shellWord(account)}`)} />}
    </li>
  );
}

function Identity({ identity }: { readonly identity: NonNullable<AccountState['identity']> }) {
  const { scope, tenant, origins, boundAt } = identity;
  return (
    <>
      <Foreign text={scope} most={100} />
      {tenant !== null && (
        <>
          {', id '}
          <Foreign text={tenant} most={100} />
        </>
      )}
      {origins.length > 0 && (
        <>
          {' at '}
          <Foreign text={origins.join(', ')} most={300} />
        </>
      )}
      {' since '}
      <Time at={boundAt} />
    </>
  );
}

function RateNow({ account, context }: { readonly account: string; readonly context: PageContext }) {
  const now = context.budgets().get(account)?.ratePerSecond;
  const settings = context.settings.accounts[account];
  if (now === undefined || !settings) return null;
  return (
    <span class="gauge">
      <meter min="0" max={budgetLimits(settings).ratePerSecond} value={now} aria-label={`Rate of ${account} now`} />
      <small class="dim">{formatRate(now)} now</small>
    </span>
  );
}
