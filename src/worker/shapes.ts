/**
 * The shapes in which an account's service answered its lists, kept in the ledger: a list that suddenly stands elsewhere
 * or carries its ids under another name pauses the run rather than being taken for what it may not be.
 */
import type pg from 'pg';
import { z } from 'zod';
import type { Kind, LongIds } from '../client/dialect.ts';
import { driftOf, type ListShape } from '../client/shape.ts';
import { forgetLearnt, keepLearnt, readLearnt } from '../engine/ledger/learnt.ts';
import { RunPaused } from './trouble.ts';

export interface ShapeNeeds {
  readonly pool: pg.Pool;
  readonly account: { readonly name: string; readonly scope: string };
  readonly run: { readonly id: string };
}

const shapeSchema = z.object({ path: z.string().optional(), idField: z.string().optional() });
const PREFIX = 'shape:';
/** Apart from the shapes, which are forgotten: what is under way still has ids to send. */
const LONG_IDS = 'long-ids:';
const nameOf = (kind: Kind) => `${PREFIX}${kind}`;

/** Compares a list's shape with the one known, or keeps it where none is. @throws RunPaused DIALECT_DRIFTED */
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

/** How the lists of an account's service write ids that no float carries. */
export async function knownLongIds({ pool, account }: Omit<ShapeNeeds, 'run'>): Promise<(kind: Kind) => LongIds> {
  const learnt = await readLearnt(pool, account.scope);
  return (kind) => (learnt.get(`${LONG_IDS}${kind}`) === 'number' ? 'number' : 'text');
}

/** A person has looked at the service: the next run learns its shapes anew. */
export async function forgetShapes(pool: pg.Pool, scope: string): Promise<void> {
  await forgetLearnt(pool, scope, PREFIX);
}

function drifted(account: string, runId: string, kind: Kind, drift: readonly string[]): RunPaused {
  return new RunPaused(
    'DIALECT_DRIFTED',
    `The service of account "${account}" answers its list of ${kind} in another form than before: ${drift.join('; ')}. ` +
      `Nothing was written on the strength of it. If the new form is right, look at it with ` +
      `lockstep doctor --account ${account}, which has Lockstep learn it anew (or name it under accounts.${account}.dialect), then go on with ` +
      `lockstep runs resume ${runId}`,
  );
}
