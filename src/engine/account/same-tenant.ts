/** Whether the service shows the records of the tenant that a run began with, and of no other account's tenant. */
import { elapsedMs } from '../../base/clock.ts';
import { formatCount } from '../../base/counts.ts';
import { idOf } from '../../client/call/dialect.ts';
import { mayBeSame, type RecordKeys } from '../../client/lists/record-keys.ts';
import { listOf, type WholeKind } from '../../contract/kinds.ts';
import {
  keepTenant,
  keepUnlessElsewhere,
  tenantOf,
  type Witness,
  type WitnessedKind,
} from '../ledger/scopes/witnesses.ts';
import { hasSent, sentSoFar } from '../ledger/sent-so-far.ts';
import type { JobContext } from '../worker/job.ts';
import { RunPaused } from './failure.ts';
import { ENOUGH, type Recognised, recogniseRecords, unlessAway, waysOn } from './identity.ts';
import { lookUp } from './look-up.ts';
import { readsOf } from './reads.ts';
import { readWholeList } from './whole-list.ts';

/** So many of the records that are known of another account must be in the list, or all of them. */
const FEW_SHARED = 4;
/** People may remove so many records at any time. */
export const FEW_GONE = 2;
/** While a run continues, so many known records are read from time to time. */
const GLANCED_AT = 2;
/** Between these reads lies this time, or that of so many calls if it is longer: at most one call in a hundred is such a read. */
const GLANCE_MS = 10_000;
const GLANCE_CALLS = 200;

const OTHER_OR_RESTORED = 'It may be another tenant, or a service that was restored from a backup.';

export function identityUnclear(account: string, what: string, sent: string, cause = OTHER_OR_RESTORED): RunPaused {
  const message = `The service of account "${account}" ${what}. ${cause} ${sent} ${waysOn(account)}`;
  return new RunPaused('IDENTITY_UNCLEAR', message);
}

type Asking = Pick<JobContext<unknown>, 'pool' | 'run' | 'account' | 'signal'>;

/** Records of the service are missing. */
export async function wentBack(
  { account, pool, run }: Asking,
  kind: WitnessedKind,
  missing: number,
  known: number,
): Promise<RunPaused> {
  const again =
    kind === 'customers' ? ' The next sync of contacts then creates customers for their contacts again.' : '';
  return new RunPaused(
    'SERVICE_WENT_BACK',
    `The service of account "${account.name}" no longer shows ${formatCount(missing)} of ${formatCount(known)} ${kind} that were checked. ` +
      `It may have been restored from a backup, be another tenant, or have answered an incomplete list. ${await sentSoFar(pool, run.id)} ` +
      `If it shows them again: \`lockstep runs resume ${run.id}\`. If it is the same tenant, and they are deleted: ` +
      `\`lockstep accounts rebind ${account.name}\`.${again} If it is a different tenant: \`lockstep accounts fresh ${account.name}\`.`,
  );
}

/**
 * Looks some known records up by their ids. `what`: what makes it unclear, for the message.
 * @throws RunPaused IDENTITY_UNCLEAR, or SERVICE_WENT_BACK if none of a kind is there; RetryLater if the service is away
 */
export async function requireSameTenant(asking: Asking, what?: string): Promise<Recognised> {
  const { pool, run, account } = asking;
  const recognised = await recognise(asking);
  const { asked, missing, others, isOther } = recognised;
  if (isOther) {
    const found = `${others} of ${asked.length} known records are other records now`;
    const words = what === undefined ? `has changed: ${found}` : `${what}, and ${found}`;
    throw identityUnclear(account.name, words, await sentSoFar(pool, run.id));
  }
  for (const kind of ['customers', 'orders'] as const) {
    const gone = missing.filter((record) => record.kind === kind).map(({ id }) => id);
    const isNoneLeft = asked.every((record) => record.kind !== kind || missing.includes(record));
    if (gone.length > FEW_GONE && isNoneLeft && !(await mayBeListed(asking, kind, new Set(gone)))) {
      throw await wentBack(asking, kind, gone.length, gone.length);
    }
  }
  return recognised;
}

/**
 * Whether records that are not found by their ids may exist all the same: the list shows one of them, or the service does not find its
 * listed records by their ids either. @throws Stop
 */
async function mayBeListed(asking: Asking, kind: WholeKind, ids: ReadonlySet<string>): Promise<boolean> {
  const { account } = asking;
  let control: string | undefined;
  let isListed = false;
  await readWholeList(account, listOf(kind), {
    ...readsOf(asking),
    onRecords: async (records) => {
      for (const record of records) {
        const id = idOf(record, kind, account.dialect);
        control ??= id;
        isListed ||= id !== undefined && ids.has(id);
      }
    },
  });
  if (isListed || control === undefined) return isListed;
  return (await lookUp(account, kind, control, { ...readsOf(asking), lane: 'interactive' })).status === 'not-found';
}

/** `tenants`: those that the records name. @throws RunPaused IDENTITY_UNCLEAR */
export async function checkTenant({ pool, run, account }: Asking, tenants: ReadonlySet<string>): Promise<void> {
  const [tenant] = tenants;
  if (tenant === undefined || tenants.size > 1) return;
  const before = await tenantOf(pool, run.scope);
  if (before === tenant) return;
  const other = before === undefined ? await keepTenant(pool, run.scope, tenant) : undefined;
  if (before === undefined && other === undefined) return;
  const sent = await sentSoFar(pool, run.id);
  if (before !== undefined) {
    throw identityUnclear(
      account.name,
      `shows the records of tenant ${tenant}; until now it was tenant ${before}`,
      sent,
    );
  }
  const what = `shows the records of tenant ${tenant}, which is known as "${other}" with another key`;
  throw identityUnclear(account.name, what, sent, 'It may be that tenant, or another one with the same number.');
}

/**
 * Two keys or addresses of one tenant would be two accounts that both write the same records. Many services name no tenant in their
 * records; the records themselves show it. `found`: other records of the list. @throws RunPaused IDENTITY_UNCLEAR
 */
export async function keepFirstWitnesses(
  { pool, run, account }: Asking,
  resource: WitnessedKind,
  witnesses: readonly Witness[],
  found: ReadonlyMap<string, RecordKeys>,
): Promise<void> {
  const shown = new Map([...found, ...witnesses.map(({ id, keys }) => [id, keys] as const)]);
  const other = await keepUnlessElsewhere(pool, run.scope, resource, witnesses, (elsewhere) => {
    const scopes = [...new Set(elsewhere.map(({ scope }) => scope))];
    return scopes.find((scope) =>
      areShown(
        shown,
        elsewhere.filter((one) => one.scope === scope),
      ),
    );
  });
  if (other === undefined) return;
  const what = `shows the ${resource} of account "${other}", which has another key or address`;
  const cause = 'It may be the same tenant, or another one with equal records.';
  throw identityUnclear(account.name, what, await sentSoFar(pool, run.id), cause);
}

function areShown(shown: ReadonlyMap<string, RecordKeys>, known: readonly Witness[]): boolean {
  const shared = known.filter(({ id }) => shown.has(id));
  const same = shared.filter(({ id, keys }) => mayBeSame(keys, shown.get(id) ?? {}));
  return shared.length >= Math.min(known.length, FEW_SHARED) && same.length >= shared.length * ENOUGH;
}

/** @throws RunPaused IDENTITY_UNCLEAR; RetryLater if the service is away */
export type ContinueCheck = (asking: Asking) => Promise<void>;

/**
 * Checks the tenant of a run that has sent rows before this process continues it: once if another process has begun it, perhaps
 * days ago; after each outage, because the service may have been restarted with other data; and again after the check has
 * paused it. The address and the key do not show that another tenant answers now. While the run continues without an outage, two
 * records show every 10 s whether a whole check is needed.
 */
export function createContinueCheck(nowMs = elapsedMs): ContinueCheck {
  const checks = new Map<string, { readonly atMs: number; readonly areFound: boolean }>();
  return async (asking) => {
    const { pool, run, account } = asking;
    const pauseMs = Math.max(GLANCE_MS, (GLANCE_CALLS / account.ratePerSecond) * 1000);
    const last = run.failingSince === undefined ? checks.get(run.id) : undefined;
    if (last !== undefined && nowMs() - last.atMs < pauseMs) return;
    if (last !== undefined) checks.set(run.id, { ...last, atMs: nowMs() }); // for jobs of the run in parallel
    let areFound = last?.areFound ?? false;
    if (await hasSent(pool, run.id)) {
      const glanced = last && (await recognise(asking, GLANCED_AT));
      if (glanced === undefined || glanced.others > 0 || (areFound && glanced.same === 0)) {
        checks.delete(run.id);
        areFound = (await requireSameTenant(asking)).same > 0;
      } else areFound ||= glanced.same > 0;
    }
    checks.set(run.id, { atMs: nowMs(), areFound });
  };
}

function recognise(asking: Asking, most?: number): Promise<Recognised> {
  const { pool, run, account } = asking;
  return recogniseRecords(pool, account, run.scope, { ignore: unlessAway, onCalls: readsOf(asking).onCalls, most });
}
