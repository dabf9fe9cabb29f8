/**
 * The shapes of the lists of an account's service, stored in the ledger. If the path of a list or the name of its id
 * member changes, the run pauses instead of guessing.
 */
import type pg from 'pg';
import { z } from 'zod';
import type { LongIds } from '../../client/call/dialect.ts';
import { driftOf, type ListShape } from '../../client/call/shape.ts';
import type { Kind } from '../../contract/kinds.ts';
import { forgetLearnt, keepLearnt, readLearnt } from '../ledger/scopes/learnt.ts';
import { RunPaused } from './failure.ts';

export interface ShapeNeeds {
  readonly pool: pg.Pool;
  readonly account: { readonly name: string; readonly scope: string };
  readonly run: { readonly id: string };
}

const shapeSchema = z.object({ path: z.string().optional(), idField: z.string().optional() });
const PREFIX = 'shape:';
/** Stored apart from the shapes, which can be reset: runs in progress still have ids to send. */
const LONG_IDS = 'long-ids:';
const nameOf = (kind: Kind) => `${PREFIX}${kind}`;

/** Compares a list's shape with the known one, or stores it if none is known. @throws RunPaused DIALECT_DRIFTED */
export async function checkShape(
  { pool, account, run }: ShapeNeeds,
  kind: Kind,
  { longIds, ...seen }: ListShape,
): Promise<void> {
  const kept = shapeSchema.safeParse((await readLearnt(pool, account.scope)).get(nameOf(kind)));
  const known: ListShape = kept.success ? kept.data : {};
  const drift = driftOf(known, seen);
  if (drift.length > 0) throw drifted(account.name, run.id, kind, drift);
  await keepLearnt(pool, account.scope, nameOf(kind), { ...known, ...seen });
  if (longIds !== undefined) await keepLearnt(pool, account.scope, `${LONG_IDS}${kind}`, longIds);
}

/** How the lists of an account's service write ids that a float cannot represent. */
export async function knownLongIds({ pool, account }: Omit<ShapeNeeds, 'run'>): Promise<(kind: Kind) => LongIds> {
  const learnt = await readLearnt(pool, account.scope);
  return (kind) => (learnt.get(`${LONG_IDS}${kind}`) === 'number' ? 'number' : 'text');
}

/** Resets the known shapes after the operator has checked the service: the next run learns them again. */
export async function forgetShapes(pool: pg.Pool, scope: string): Promise<void> {
  await forgetLearnt(pool, scope, PREFIX);
}

function drifted(account: string, runId: string, kind: Kind, drift: readonly string[]): RunPaused {
  return new RunPaused(
    'DIALECT_DRIFTED',
    `The service of account "${account}" answers its list of ${kind} in a different form: ${drift.join('; ')}. ` +
      `Nothing was written based on it. If the new form is right, run ` +
      `\`lockstep doctor --account ${account}\`, which learns it again (or set it under accounts.${account}.dialect), then resume with ` +
      `\`lockstep runs resume ${runId}\``,
  );
}
