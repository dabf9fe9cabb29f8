/** What the pages of accounts share: the state, what prevents calls, and the rate now. */
import { safeLimits } from '../../client/budget/safe-limits.ts';
import type { AccountState } from '../../operator/account-states.ts';
import { formatRate } from '../../operator/format.ts';
import { budgetLimits } from '../../settings/settings.ts';
import type { PageContext } from '../page.ts';
import { Act, Chip, Foreign, Time } from '../parts/parts.tsx';

const WELL = { tone: 'good', children: 'no problem' } as const;
/** Whether it works is not known. */
const UNUSED = { tone: 'dim', children: 'not used yet' } as const;

export function AccountChips({ state: { url, identity, suspended, down } }: { readonly state: AccountState }) {
  return (
    <>
      {url === null && <Chip tone="dim">not in the settings</Chip>}
      {suspended && <Chip tone={suspended.code === 'KEY_REFUSED' ? 'bad' : 'warn'}>suspended</Chip>}
      {down && <Chip tone="bad">service down</Chip>}
      {url !== null && !suspended && !down && <Chip {...(identity ? WELL : UNUSED)} />}
    </>
  );
}

/** Why the account is not called, and what ends that. */
export function AccountProblems({
  state: { account, suspended, down },
  context: { person },
}: {
  readonly state: AccountState;
  readonly context: PageContext;
}) {
  const path = `/accounts/${encodeURIComponent(account)}`;
  const canAct = person.role === 'operator';
  return (
    <>
      {[suspended, down].map(
        (problem) =>
          problem && (
            <p>
              Since <Time at={problem.since} />: <Foreign text={problem.message} most={600} />
            </p>
          ),
      )}
      {suspended?.code === 'KEY_REFUSED' && (
        <>
          <p>Lockstep tries the key again by itself, and the account resumes when the service accepts it.</p>
          {canAct && <Act path={`${path}/try-key`} label="Try the key now" />}
        </>
      )}
      {suspended?.code === 'ACCOUNT_SUSPENDED' && canAct && <Act path={`${path}/resume`} label="Resume the account" />}
    </>
  );
}

/** What the budget allows now, if this process uses it and has slowed down. */
export function RateNow({ account, context }: { readonly account: string; readonly context: PageContext }) {
  const now = context.budgets().get(account)?.ratePerSecond;
  const settings = context.settings.accounts[account];
  const most = settings && safeLimits(budgetLimits(settings)).pace.ratePerSecond;
  if (now === undefined || most === undefined || formatRate(now) === formatRate(most)) return null;
  return <small class="dim">now at most {formatRate(now)}</small>;
}
