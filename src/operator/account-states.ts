/** What an operator reads about accounts: which tenant each one is, whether it may be called, and what its settings say. */
import { autoDialect, type Dialect } from '../client/call/dialect.ts';
import { UNCONFIRMED } from '../engine/ledger/run-remedy.ts';
import { runsWhere } from '../engine/ledger/runs.ts';
import { lastRates, pausesAsked } from '../engine/ledger/scopes/budget-minutes.ts';
import { downServices } from '../engine/ledger/scopes/down-services.ts';
import { type ListedAccount, listAccounts } from '../engine/ledger/scopes/scopes.ts';
import { type Suspension, suspensionOf } from '../engine/ledger/scopes/suspensions.ts';
import type { Settings } from '../settings/settings.ts';
import type { Queryable } from '../storage/queryable.ts';
import { budgetWords } from './run-report.ts';

export interface AccountState {
  readonly account: string;
  /** As in the settings; `embedded` for the embedded service, null if the account is not in the settings. */
  readonly url: string | null;
  /** Such as `at most 20 calls a second`; null if the account is not in the settings. */
  readonly allowed: string | null;
  /** Calls a second when it was last used; null if it was not used for a week. */
  readonly ratePerSecond: number | null;
  /** Until when its service asks to wait (429); null if it does not. */
  readonly pausedUntil: Date | null;
  /** Null if it was never used. */
  readonly identity: Pick<ListedAccount, 'scope' | 'tenant' | 'origins' | 'boundAt'> | null;
  readonly suspended: Pick<Suspension, 'code' | 'message' | 'since' | 'triedAt'> | null;
  readonly down: { readonly message: string; readonly since: Date } | null;
  /** The last run that waits until a person has confirmed which tenant the account is. */
  readonly unconfirmed: { readonly run: string; readonly message: string } | null;
  /** What the settings say about the dialect, by path; everything else is detected. */
  readonly dialect: Readonly<Record<string, string>>;
}

const WAITS = `scope = $1 and status = 'paused' and error_code = any($2)`;

/** The accounts of the settings, then those that were used before. */
export async function accountStates(db: Queryable, { accounts }: Settings): Promise<readonly AccountState[]> {
  const [known, down] = [await listAccounts(db), await downServices(db)];
  const names = [...new Set([...Object.keys(accounts), ...known.map(({ name }) => name)])];
  const [rates, pauses] = [await lastRates(db, names), await pausesAsked(db, names)];
  return Promise.all(
    names.map(async (account) => {
      const settings = accounts[account];
      const identity = known.find(({ name }) => name === account);
      const suspension = await suspensionOf(db, identity?.scope ?? account);
      const [waiting] = (await runsWhere(db, WAITS, [identity?.scope ?? account, UNCONFIRMED])).toReversed();
      const service = down.find((one) => one.account === account);
      return {
        account,
        url: settings ? (settings.url ?? 'embedded') : null,
        allowed: settings ? budgetWords(settings, rates.get(account)) : null,
        ratePerSecond: rates.get(account) ?? null,
        pausedUntil: pauses.get(account) ?? null,
        identity: identity ?? null,
        suspended: suspension ?? null,
        down: service ? { message: service.message, since: service.since } : null,
        unconfirmed: waiting ? { run: waiting.id, message: waiting.error ?? '' } : null,
        dialect: settings ? chosen(settings.dialect, autoDialect) : {},
      };
    }),
  );
}

/** The values that differ from the default, by path. */
function chosen(value: Dialect, usual: Dialect): Readonly<Record<string, string>> {
  const defaults = new Map(Object.entries(flat(usual)));
  return Object.fromEntries(Object.entries(flat(value)).filter(([path, text]) => defaults.get(path) !== text));
}

function flat(value: object, prefix = ''): Readonly<Record<string, string>> {
  const pairs = Object.entries(value).flatMap(([name, part]) =>
    typeof part === 'object' && part !== null
      ? Object.entries(flat(part, `${prefix}${name}.`))
      : [[`${prefix}${name}`, String(part)] as const],
  );
  return Object.fromEntries(pairs);
}
