/** Records that a list lacks: whether the service shows them when it is asked for them by their ids. */
import type { JsonObject } from '../../client/call/json.ts';
import type { WitnessedKind } from '../ledger/scopes/witnesses.ts';
import type { JobContext } from '../worker/job.ts';
import { evenly } from './list-sample.ts';
import { isMarkedDeleted, lookUp } from './look-up.ts';
import { readsOf } from './reads.ts';

/** Maximum records looked up by id. */
export const MOST_LOOKED_UP = 8;

/** What the service answers about records that its list lacks. */
export type Looked = Hidden | Unclear | { readonly status: 'removed' };

/** The service shows this record when asked by id, and not in its list. */
export interface Hidden {
  readonly status: 'hidden';
  readonly id: string;
  readonly record: JsonObject;
}

/** The service cannot be asked by id, so nothing tells whether this record was removed. */
export interface Unclear {
  readonly status: 'unclear';
  readonly id: string;
}

/**
 * Looks up records that the list lacks, and first a record that is in the list: if that one is not found, the look-up proves
 * nothing.
 */
export async function lookAtSuspects(
  context: JobContext<unknown>,
  resource: WitnessedKind,
  suspects: readonly string[],
  control: string | undefined,
): Promise<Looked> {
  const { account, run, signal, log } = context;
  const [first] = suspects;
  if (first === undefined) return { status: 'removed' };
  const look = (id: string) => lookUp(account, resource, id, readsOf(context));
  try {
    if (control !== undefined && (await look(control)).status !== 'found') return { status: 'unclear', id: first };
    for (const id of evenly(suspects, MOST_LOOKED_UP)) {
      const found = await look(id);
      if (found.status === 'found' && !isMarkedDeleted(found.record, resource))
        return { status: 'hidden', id, record: found.record };
    }
  } catch (error) {
    if (signal.aborted) throw error;
    log.warn({ err: error, run: run.id }, `missing ${resource} could not be looked up by id`);
    return { status: 'unclear', id: first };
  }
  return { status: 'removed' };
}
