/** Examinations of services that people start here: each continues if the page is closed, and its report is in the ledger. */
import type { Progress } from '../operator/doctor/examine.ts';
import { accountNamed } from '../settings/settings.ts';
import { type Done, keeping, type Taking } from './actions/actions.ts';
import { type Failure, pageFailure } from './failures.ts';
import type { ConsoleNeeds } from './needs.ts';

export type Examining =
  | { readonly status: 'under-way'; readonly progress: Progress | undefined }
  /** It could not begin. */
  | { readonly status: 'failed'; readonly failure: Failure };

export interface Examinations {
  /** Starts one, unless one of this account is under way. @throws LockstepError CONSOLE_NOT_ALLOWED, SETTINGS_NAME_UNKNOWN */
  begin(account: string, taking: Taking): Promise<Done>;
  /** What this process does; undefined: nothing. */
  stateOf(account: string): Examining | undefined;
  /** Stops those under way; they leave no report. */
  close(): Promise<void>;
}

type Needs = Pick<ConsoleNeeds, 'pool' | 'settings' | 'examine' | 'database' | 'log'>;

export function createExaminations(needs: Needs): Examinations {
  const { settings, examine, database, log } = needs;
  const states = new Map<string, Examining>();
  const underWay = new Set<Promise<void>>();
  const closing = new AbortController();
  const { signal } = closing;

  async function work(account: string): Promise<void> {
    try {
      const onProgress = (progress: Progress) => states.set(account, { status: 'under-way', progress });
      await examine(account, { writes: false, signal, onProgress });
      states.delete(account);
    } catch (error) {
      const failure = pageFailure(error, database);
      if (failure.httpStatus >= 500) log?.error({ err: error }, 'a service could not be examined');
      states.set(account, { status: 'failed', failure });
    }
  }

  return {
    begin: (account, taking) =>
      keeping(needs, taking, 'examine-account', account, async () => {
        accountNamed(settings(), account);
        if (states.get(account)?.status === 'under-way')
          return { said: `The service of ${account} is being examined already.`, refused: 'UNDER_WAY' };
        states.set(account, { status: 'under-way', progress: undefined });
        const working = work(account).finally(() => underWay.delete(working));
        underWay.add(working);
        return { said: `The examination of ${account} has begun. It takes up to a minute.` };
      }),
    stateOf: (account) => states.get(account),
    async close() {
      closing.abort();
      await Promise.all(underWay);
    },
  };
}
