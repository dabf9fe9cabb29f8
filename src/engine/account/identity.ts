/**
 * Determines which tenant of which service an account is when it is opened, before anything is sent for it. The name in
 * the settings is not enough, because the address or the key may have changed since the ledger was written.
 *
 * | address and key | result |
 * |---|---|
 * | known for this account | it is the same tenant |
 * | known for another account | both accounts are one tenant and share everything |
 * | new, and nothing depends on the account | it follows the current settings |
 * | known address, new key | the same tenant if known records exist under their ids: the key was rotated |
 * | anything else | unclear: the operator decides |
 */
import type pg from 'pg';
import { LockstepError } from '../../base/errors.ts';
import { mayBeSame, recordKeys } from '../../client/lists/record-keys.ts';
import { originOf } from '../../settings/shared-accounts.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { inTransaction } from '../../storage/transaction.ts';
import { OF_OTHER_TENANT } from '../ledger/run-remedy.ts';
import { isUnfinished, type Run } from '../ledger/runs.ts';
import {
  addIdentity,
  bindAccount,
  dropIdentities,
  fingerprintOf,
  type Identity,
  isUnused,
  type Known,
  lockIdentities,
  newScope,
  whatIsKnown,
} from '../ledger/scopes/scopes.ts';
import { type KnownRecord, knownRecords } from '../ledger/scopes/witnesses.ts';
import { type Account, EMBEDDED } from './account.ts';
import { KeyRefused, RetryLater, RunPaused } from './failure.ts';
import { lookUp } from './look-up.ts';
import type { ReadOptions } from './reads.ts';

/** Which of the requested known records exist. */
export interface Recognised {
  readonly asked: readonly KnownRecord[];
  readonly missing: readonly KnownRecord[];
  /** How many are equal. */
  readonly same: number;
  /** How many are found by their ids, and are other records now. */
  readonly others: number;
  /** Whether these are several, and most of the requested ones of a kind: new records of another kind say nothing. */
  readonly isOther: boolean;
}

/** Asks the current service for records that a scope is known to have. */
export type Recognise = (scope: string) => Promise<Recognised>;

export type Resolved =
  | { readonly status: 'known'; readonly scope: string }
  | { readonly status: 'unclear'; readonly why: string };

/** The share of known records that has to be equal. */
export const ENOUGH = 0.8;
/** Of four kinds of records: three each. */
const MOST_ASKED = 12;
const RECOGNISING_MS = 30_000;

/** `secret`: the API key, or the tenant's name at the embedded service. */
export async function identityOf(db: Queryable, address: string, secret: string): Promise<Identity> {
  const origin = address === EMBEDDED ? address : originOf(address);
  return { address, origin, fingerprint: await fingerprintOf(db, secret) };
}

/** The account's scope, which the ledger uses from now on, or the reason why it is unclear. */
export async function resolveScope(
  pool: pg.Pool,
  account: string,
  identity: Identity,
  recognise: Recognise,
): Promise<Resolved> {
  const found = await whatIsKnown(pool, account, identity);
  const { bound, known, origins } = found;
  if (known !== undefined && known === bound) return { status: 'known', scope: known };
  if (known !== undefined && (bound === undefined || (await isUnused(pool, bound)))) {
    await bindAccount(pool, account, known);
    return { status: 'known', scope: known };
  }
  if (known !== undefined) {
    return { status: 'unclear', why: `its address and key belong to another known tenant, "${known}"` };
  }
  if (bound === undefined) return newcomer(pool, account, identity, found, recognise);
  const isFirstLook = origins.length === 0; // written by a ledger without identities
  if (isFirstLook || (await isUnused(pool, bound))) {
    await inTransaction(pool, async (db) => {
      await dropIdentities(db, bound);
      await addIdentity(db, bound, identity);
    });
    return { status: 'known', scope: bound };
  }
  if (!origins.includes(identity.origin)) {
    return { status: 'unclear', why: `its address is now ${identity.address}; it was ${origins.join(' and ')}` };
  }
  const { asked, same } = await recognise(bound);
  if (asked.length > 0 && same >= asked.length * ENOUGH) {
    await addIdentity(pool, bound, identity);
    return { status: 'known', scope: bound };
  }
  const seen =
    asked.length === 0 ? 'and no record could be compared' : `and ${same} of ${asked.length} compared records match`;
  return { status: 'unclear', why: `its API key has changed, ${seen}` };
}

/** An account that is new to the ledger: a new tenant, unless it is a known tenant at another address. */
async function newcomer(
  pool: pg.Pool,
  account: string,
  identity: Identity,
  { sameKey }: Known,
  recognise: Recognise,
): Promise<Resolved> {
  for (const scope of sameKey) {
    const { asked, same } = await recognise(scope);
    if (asked.length > 0 && same >= asked.length * ENOUGH) {
      return {
        status: 'unclear',
        why: `its key and its records belong to "${scope}", which is known at another address`,
      };
    }
  }
  return inTransaction(pool, async (db): Promise<Resolved> => {
    await lockIdentities(db);
    const { known, bound } = await whatIsKnown(db, account, identity); // another process may have done it just now
    if (bound === undefined && known !== undefined) await bindAccount(db, account, known);
    if (known !== undefined && (bound ?? known) === known) return { status: 'known', scope: known };
    const scope = await newScope(db, account);
    await addIdentity(db, scope, identity);
    await bindAccount(db, account, scope);
    return { status: 'known', scope };
  });
}

interface RecogniseOptions extends Pick<ReadOptions, 'onCalls'> {
  /** Throws what makes it impossible to compare; any other record that cannot be read counts as missing. */
  readonly ignore?: (error: unknown) => undefined;
  /** How many records to ask for. */
  readonly most?: number | undefined;
}

/** Asks for records that a scope is known to have, and compares them. @throws KeyRefused: then nothing can be compared */
export async function recogniseRecords(
  pool: pg.Pool,
  account: Account,
  scope: string,
  { ignore = unlessKeyRefused, most = MOST_ASKED, ...reads }: RecogniseOptions = {},
): Promise<Recognised> {
  const known = await knownRecords(pool, scope, most);
  const signal = AbortSignal.timeout(RECOGNISING_MS);
  let same = 0;
  const missing: KnownRecord[] = [];
  const others = new Map<string, number>();
  for (const one of known) {
    const { kind, id, keys } = one;
    const found = await lookUp(account, kind, id, { ...reads, lane: 'interactive', signal, tries: 2 }).catch(ignore);
    if (found?.status !== 'found') missing.push(one);
    else if (mayBeSame(keys, recordKeys(kind, found.record))) same++;
    else others.set(kind, (others.get(kind) ?? 0) + 1);
  }
  const askedOf = (kind: string) => known.filter((one) => one.kind === kind).length;
  return {
    asked: known,
    missing,
    same,
    others: [...others.values()].reduce((sum, count) => sum + count, 0),
    isOther: [...others].some(([kind, count]) => count >= 2 && count * 2 > askedOf(kind)),
  };
}

function unlessKeyRefused(error: unknown): undefined {
  if (error instanceof KeyRefused) throw error;
}

/** For a caller that is called again when the service answers. */
export function unlessAway(error: unknown): undefined {
  if (error instanceof KeyRefused || error instanceof RetryLater) throw error;
}

/** Thrown before anything is sent for the account. */
export function identityChanged(account: string, why: string): LockstepError {
  return new LockstepError(
    'IDENTITY_CHANGED',
    `Account "${account}" may be a different tenant now: ${why}. Nothing was written. ${waysOn(account)}`,
    { exitCode: 3 },
  );
}

/** A run never continues at a different tenant from the one it started with. */
export function otherScope({ id, account, scope, status }: Run, now: string): RunPaused {
  const start = isUnfinished({ status }) ? `Cancel the run with: \`lockstep runs cancel ${id}\`. Then start` : 'Start';
  return new RunPaused(
    OF_OTHER_TENANT,
    `Run ${id} belongs to tenant "${scope}", but account "${account}" is now "${now}", so the run cannot continue. ` +
      `${start} the sync or the load again.`,
    { exitCode: 3 },
  );
}

/** The two commands that resolve an unclear identity. */
export function waysOn(account: string): string {
  return (
    `If it is the same tenant: \`lockstep accounts rebind ${account}\`. ` +
    `If it is a different tenant: \`lockstep accounts fresh ${account}\`.`
  );
}
