/** What the pages of accounts share: the state, what prevents calls, and the rate now. */
import type { AccountState } from '../../operator/account-states.ts';
import { accountPath } from '../../operator/page-paths.ts';
import type { PageContext } from '../page.ts';
import { Act } from '../parts/inputs.tsx';
import { Chip, Time } from '../parts/parts.tsx';
import { Words } from '../parts/words.tsx';

const WELL = { tone: 'good', children: 'no problem' } as const;
/** Whether it works is not known. */
const UNUSED = { tone: 'dim', children: 'not used yet' } as const;

export function AccountChips({
  state: { url, identity, suspended, pausedUntil, down, unconfirmed },
}: {
  readonly state: AccountState;
}) {
  const isWell = url !== null && !suspended && !pausedUntil && !down && !unconfirmed;
  return (
    <>
      {url === null && <Chip tone="dim">not in the settings</Chip>}
      {suspended && <Chip tone={suspended.code === 'KEY_REFUSED' ? 'bad' : 'warn'}>suspended</Chip>}
      {pausedUntil && !suspended && <PauseAsked until={pausedUntil} />}
      {down && <Chip tone="bad">service down</Chip>}
      {unconfirmed && <Chip tone="warn">to be confirmed</Chip>}
      {isWell && <Chip {...(identity ? WELL : UNUSED)} />}
    </>
  );
}

export function PauseAsked({ until }: { readonly until: Date }) {
  return (
    <>
      <Chip tone="warn">waits for the rate limit</Chip> until <Time at={until} exact />
    </>
  );
}

/** Whether a worker tries the refused key now. */
export function isTried(suspended: AccountState['suspended']): boolean {
  return suspended?.triedAt != null && suspended.triedAt.getTime() <= Date.now();
}

/** Why the account is not called, and what ends that. */
export function AccountProblems({
  state: { account, suspended, down, unconfirmed },
  context: { canAct },
}: {
  readonly state: AccountState;
  readonly context: PageContext;
}) {
  const path = accountPath(account);
  return (
    <>
      {[suspended, down].map(
        (problem) =>
          problem && (
            <p class="notice warn">
              Since <Time at={problem.since} />: <Words text={problem.message} most={600} />
            </p>
          ),
      )}
      {suspended?.triedAt && (
        <p class="dim">
          A worker tries the key{' '}
          {isTried(suspended) ? (
            'now.'
          ) : (
            <>
              again at <Time at={suspended.triedAt} exact />.
            </>
          )}
        </p>
      )}
      {suspended?.code === 'KEY_REFUSED' && canAct && <Act path={`${path}/try-key`} label="Try the key now" />}
      {suspended?.code === 'ACCOUNT_SUSPENDED' && canAct && <Act path={`${path}/resume`} label="Resume the account" />}
      {unconfirmed && (
        <p class="notice warn">
          <Words text={unconfirmed.message} /> <a href={`/runs/${unconfirmed.run}`}>See the paused run</a>
        </p>
      )}
      {unconfirmed && canAct && (
        <div class="acts">
          <Act path={`${path}/rebind`} label="It is the same tenant: continue its runs" />
          <form class="acts" method="post" action={`${path}/fresh`}>
            <label class="check">
              <input id={`fresh-${account}`} type="checkbox" required />
              Leave its links and history behind, and cancel its unfinished runs:
            </label>
            <button type="submit">It is another tenant</button>
          </form>
        </div>
      )}
    </>
  );
}
