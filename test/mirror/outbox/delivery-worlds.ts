/** Changes put straight into the outbox, and targets that give the answers of a test. */
import type pg from 'pg';
import pino, { type Logger } from 'pino';
import type { Repeated } from '../../../src/base/repeat.ts';
import type { Delivery, DeliveryOutcome, Target } from '../../../src/contract/target.ts';
import type { Clock } from '../../../src/engine/dispatch/clock.ts';
import { startDelivering } from '../../../src/mirror/outbox/delivering.ts';
import { queueDeliveries, recipientsOf } from '../../../src/mirror/outbox/outbox.ts';
import type { TaskChange } from '../../../src/mirror/tasks/task-state.ts';
import type { ChangeFilter } from '../../../src/settings/target-events.ts';
import { WORKER } from '../../engine/ledger/fresh-ledger.ts';
import type { FreshDatabase } from '../../support/database.ts';

export const DELIVERED: DeliveryOutcome = { status: 'delivered' };
export const FAILED = { status: 'later', reason: 'HTTP_503', detail: 'it answered 503' } as const;

/** A change of task `id` to its state number `version`. */
export function change(id: number | string, version = 1, more: Partial<TaskChange> = {}): TaskChange {
  return {
    sync: 'mirror',
    scope: 'demo',
    runId: 'run-1',
    event: 'changed',
    version,
    seenAt: new Date('2026-11-21T02:00:00Z'),
    task: {
      kind: 'task',
      id: String(id),
      title: `Task ${id}, state ${version}`,
      description: '',
      status: 'open',
      isCompleted: false,
      isGone: false,
      startDate: undefined,
      endDate: undefined,
      parentId: undefined,
    },
    ...more,
  };
}

export function changes(count: number, version = 1): TaskChange[] {
  return Array.from({ length: count }, (_, id) => change(id, version));
}

export async function queue(
  { pool }: FreshDatabase,
  all: readonly TaskChange[],
  targets: readonly string[] = ['hook'],
  filter?: ChangeFilter,
): Promise<void> {
  const recipients = recipientsOf(targets, () => filter);
  await queueDeliveries(pool, recipients, all);
}

export type Answering = (delivery: Delivery, signal: AbortSignal) => DeliveryOutcome | Promise<DeliveryOutcome>;

/** Keeps what it is given. */
export function noting(into: Delivery[], answer: Answering = () => DELIVERED): Answering {
  return (delivery, signal) => {
    into.push(delivery);
    return answer(delivery, signal);
  };
}

export interface DeliveringHow {
  readonly pool: pg.Pool;
  readonly targets: Readonly<Record<string, Answering>>;
  readonly clock?: Clock;
  readonly concurrency?: number;
  readonly open?: (name: string) => Promise<void>;
  /** Default: nothing is logged. */
  readonly log?: Logger;
}

/** Delivers to targets that give these answers. */
export function deliveringOf({ pool, targets, clock, concurrency = 4, open, log }: DeliveringHow): Repeated {
  return startDelivering({
    pool,
    worker: WORKER,
    names: Object.keys(targets),
    log: log ?? pino({ level: 'silent' }),
    random: () => 0.5,
    ...(clock && { clock }),
    targets: {
      concurrencyOf: () => concurrency,
      async open(name): Promise<Target> {
        await open?.(name);
        return {
          deliver: async (delivery, { signal }) => (targets[name] ?? (() => DELIVERED))(delivery, signal),
          close: async () => {},
        };
      },
    },
  });
}

export interface DeliveryRow {
  readonly id: string;
  readonly target: string;
  readonly task_id: string;
  readonly sequence: number;
  readonly state: string;
  readonly verdict: string | null;
  readonly reason: string | null;
  readonly detail: string | null;
  readonly attempts: number;
  readonly answer: unknown;
  readonly due_at: Date;
}

export async function deliveryRows({ pool }: FreshDatabase): Promise<readonly DeliveryRow[]> {
  const found = await pool.query<DeliveryRow>('select * from ledger.deliveries order by target, task_id, sequence');
  return found.rows;
}

/** `1#2 ended superseded` of each, without its target where all go to one. */
export async function fates(database: FreshDatabase): Promise<readonly string[]> {
  const rows = await deliveryRows(database);
  return rows.map(({ task_id, sequence, state, verdict }) => `${task_id}#${sequence} ${verdict ?? state}`);
}

/** Empties the ledger's deliveries between two tests. */
export async function forgetDeliveries({ pool }: FreshDatabase): Promise<void> {
  await pool.query('truncate ledger.deliveries, ledger.delivery_claims, ledger.target_states, ledger.links cascade');
}

export async function hasOpen({ pool }: Pick<FreshDatabase, 'pool'>): Promise<boolean> {
  const found = await pool.query(`select 1 from ledger.deliveries where state <> 'ended' limit 1`);
  return found.rowCount !== 0;
}
