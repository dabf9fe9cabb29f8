/**
 * What an update of an order does to members that it does not send. A file may lack members that the order has, and the list
 * may show them in another form than they were written in, so they are sent only if the service would empty them otherwise.
 * The contract does not say (docs/gaps.md), so the first such update is read back, and its result is learnt.
 */
import type pg from 'pg';
import { readBefore } from '../../engine/ledger/rows.ts';
import { keepLearnt, readLearnt } from '../../engine/ledger/scopes/learnt.ts';
import type { ReadBefore } from '../record-now.ts';

export interface UpdateMode {
  /** `partial`: other members stay as they are; `whole`: they are emptied. */
  known: 'partial' | 'whole' | undefined;
  /** The update that is being read back; others wait for its result. */
  probe: Promise<unknown> | undefined;
  learn(mode: 'partial' | 'whole'): Promise<void>;
  readonly before: ReadBefore;
}

const NAME = 'order-update';

export async function openUpdateMode(
  pool: pg.Pool,
  run: { readonly id: string; readonly scope: string },
  settleMs: number,
): Promise<UpdateMode> {
  const known = (await readLearnt(pool, run.scope)).get(NAME);
  const mode: UpdateMode = {
    known: known === 'partial' || known === 'whole' ? known : undefined,
    probe: undefined,
    async learn(learnt) {
      mode.known = learnt;
      await keepLearnt(pool, run.scope, NAME, learnt);
    },
    before: (n) => readBefore(pool, { runId: run.id, n, kind: 'order', settleMs }),
  };
  return mode;
}
