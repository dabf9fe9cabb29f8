/**
 * Which tenant of which service an account is: found out when it is opened, before anything is sent for it. A name in the
 * settings does not say that, because its address or its key may have been changed since the ledger was written.
 *
 * | address and key | then |
 * |---|---|
 * | known for this account | it is the same tenant |
 * | known for another account | the two are one, and share everything |
 * | new, and nothing depends on the account | it is what the settings say now |
 * | known address, new key | the same tenant where known records are there, by their ids: the key was rotated |
 * | anything else | unclear: a person says which it is |
 */
import type pg from 'pg';
import { mayBeSame, recordKeys } from '../client/record-keys.ts';
import { inTransaction } from '../database/transaction.ts';
import type { Queryable, Run } from '../engine/ledger/runs.ts';
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
} from '../engine/ledger/scopes.ts';
import { knownRecords } from '../engine/ledger/witnesses.ts';
import { LockstepError } from '../errors.ts';
import type { Account } from './accounts.ts';
import { lookUp } from './look-up.ts';

/** How many of the known records are there, of those that were asked for. */
export interface Recognised {
  readonly asked: number;
  readonly same: number;
}

/** Asks the service, as it is now, for records that a scope is known to have. */
export type Recognise = (scope: string) => Promise<Recognised>;

export type Resolved =
  | { readonly status: 'known'; readonly scope: string }
  | { readonly status: 'unclear'; readonly why: string };

/** So much of what is known has to be there. */
const ENOUGH = 0.8;
const MOST_ASKED = 8;
const RECOGNISING_MS = 30_000;

export async function identityOf(db: Queryable, origin: string, secret: string): Promise<Identity> {
  return { origin, fingerprint: await fingerprintOf(db, secret) };
}

/** The account's scope, which the ledger knows it by from now on, or why that is unclear. */
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
    return { status: 'unclear', why: `its address and key are those of another tenant that is known, "${known}"` };
  }
  if (bound === undefined) return newcomer(pool, account, identity, found, recognise);
  const isFirstLook = origins.length === 0; // by a ledger that did not keep identities
  if (isFirstLook || (await isUnused(pool, bound))) {
    await inTransaction(pool, async (db) => {
      await dropIdentities(db, bound);
      await addIdentity(db, bound, identity);
    });
    return { status: 'known', scope: bound };
  }
  if (!origins.includes(identity.origin)) {
    return { status: 'unclear', why: `its address is now ${identity.origin}; it was ${origins.join(' and ')}` };
  }
  const { asked, same } = await recognise(bound);
  if (asked > 0 && same >= asked * ENOUGH) {
    await addIdentity(pool, bound, identity);
    return { status: 'known', scope: bound };
  }
  const seen =
    asked === 0 ? 'and no record could be compared' : `and shows ${same} of ${asked} records that were compared`;
  return { status: 'unclear', why: `its API key is another one than before, ${seen}` };
}

/** An account that the ledger has never seen: a tenant of its own, unless it is a known one at another address. */
async function newcomer(
  pool: pg.Pool,
  account: string,
  identity: Identity,
  { sameKey }: Known,
  recognise: Recognise,
): Promise<Resolved> {
  for (const scope of sameKey) {
    const { asked, same } = await recognise(scope);
    if (asked > 0 && same >= asked * ENOUGH) {
      return {
        status: 'unclear',
        why: `its key and its records are those of "${scope}", which is known at another address`,
      };
    }
  }
  return inTransaction(pool, async (db): Promise<Resolved> => {
    await lockIdentities(db);
    const { known, bound } = await whatIsKnown(db, account, identity); // by another process, at this moment
    if (bound === undefined && known !== undefined) await bindAccount(db, account, known);
    if (known !== undefined && (bound ?? known) === known) return { status: 'known', scope: known };
    const scope = await newScope(db, account);
    await addIdentity(db, scope, identity);
    await bindAccount(db, account, scope);
    return { status: 'known', scope };
  });
}

/** Asks for records that a scope is known to have, and compares them. A record that cannot be read counts as missing. */
export async function recogniseRecords(pool: pg.Pool, account: Account, scope: string): Promise<Recognised> {
  const known = await knownRecords(pool, scope, MOST_ASKED);
  const signal = AbortSignal.timeout(RECOGNISING_MS);
  let same = 0;
  for (const { kind, id, keys } of known) {
    const found = await lookUp(account, kind, id, { lane: 'interactive', signal, tries: 2 }).catch(() => undefined);
    if (found?.status === 'found' && mayBeSame(keys, recordKeys(kind, found.record))) same++;
  }
  return { asked: known.length, same };
}

/** Thrown before anything is sent for the account. */
export function identityChanged(account: string, why: string): LockstepError {
  return new LockstepError(
    'IDENTITY_CHANGED',
    `Account "${account}" may be another tenant than before: ${why}. Nothing was written. ${waysOn(account)}`,
    { exitCode: 3 },
  );
}

/** A run never goes on at another tenant than the one it has begun with. */
export function otherScope({ id, account, scope }: Run, now: string): LockstepError {
  return new LockstepError(
    'IDENTITY_CHANGED',
    `Run ${id} belongs to "${scope}", and account "${account}" is "${now}" now. ` +
      `End it with: lockstep runs cancel ${id}. Then start the sync or the load again.`,
    { exitCode: 3 },
  );
}

/** The two ways on from an identity that is in question. */
export function waysOn(account: string): string {
  return (
    `If it is the same tenant: lockstep accounts rebind ${account}. ` +
    `If it is another one: lockstep accounts fresh ${account}.`
  );
}
