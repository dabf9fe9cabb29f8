/** The three sources over a real ledger, each with items that a test sends as it likes. */
import pino from 'pino';
import type { Clock } from '../../../src/engine/dispatch/clock.ts';
import type { Source } from '../../../src/engine/dispatch/source.ts';
import { dropDeadClaims } from '../../../src/engine/ledger/claims.ts';
import type { Run } from '../../../src/engine/ledger/runs.ts';
import { rowSource } from '../../../src/engine/worker/row-source.ts';
import { sent } from '../../../src/engine/worker/sent-row.ts';
import { keepReports } from '../../../src/mirror/inbound/inbox.ts';
import { reportSource } from '../../../src/mirror/inbound/report-source.ts';
import { letGo, takeDue } from '../../../src/mirror/inbound/waiting-reports.ts';
import { keepItemLinks } from '../../../src/mirror/links/item-links.ts';
import { dropDeadOutboxClaims } from '../../../src/mirror/outbox/claims.ts';
import { DeliverySource } from '../../../src/mirror/outbox/delivery-source.ts';
import type { TasksSync } from '../../../src/settings/settings.ts';
import { changes, forgetDeliveries, queue } from '../../mirror/outbox/delivery-worlds.ts';
import type { FreshDatabase } from '../../support/database.ts';
import { aRun, putRows, readyRows, WORKER } from '../ledger/fresh-ledger.ts';
import { aJobContext, anAccount } from '../worker/an-account.ts';

/** Sends an item, under a name of its own, until it is done. */
export type Send = (name: string, signal: AbortSignal) => Promise<void>;

// biome-ignore lint/suspicious/noExplicitAny: the suite treats items and outcomes of all sources alike
export type AnySource = Source<any, any, any, any>;

export type Fate = 'ready' | 'claimed' | 'done' | 'unknown';

export interface SourceFixture {
  /** Adds this many items to an empty source. */
  put(count: number): Promise<void>;
  source(send: Send, clock: Clock): AnySource;
  /** The number of items in each state. */
  fates(): Promise<Partial<Record<Fate, number>>>;
  /** Another process takes over everything that is claimed, and can claim it itself. */
  rob(): Promise<void>;
  /** Another process takes over everything that is claimed. */
  takeOver(): Promise<void>;
}

/** The state of an item whose process died after claiming it. */
export interface SourceKind {
  readonly afterCrash: Fate;
  open(database: FreshDatabase): SourceFixture;
}

const log = pino({ level: 'silent' });
const NEVER = new AbortController().signal;

export const sourceKinds: Readonly<Record<string, SourceKind>> = {
  'rows of a run': { afterCrash: 'unknown', open: rowFixture },
  deliveries: { afterCrash: 'ready', open: deliveryFixture },
  reports: { afterCrash: 'ready', open: reportFixture },
};

function rowFixture(database: FreshDatabase): SourceFixture {
  const { pool } = database;
  let run: Run;
  return {
    async put(count) {
      run = await aRun(database);
      await putRows(database, run, readyRows(count));
    },
    source(send) {
      return rowSource(aJobContext(run, pool, 2), async (row) => {
        await send(row.sourceId, NEVER);
        return sent(row, 'import', { calls: 1, limited: 0, http: 200, ms: 1 }, { outcome: 'acked' });
      });
    },
    fates: () => counted(database, FATE_OF_ROWS, [run.id]),
    rob: takeOver,
    takeOver,
  };

  async function takeOver() {
    await pool.query(`update ledger.claims set expires_at = '-infinity' where run_id = $1`, [run.id]);
    await dropDeadClaims(pool);
  }
}

function deliveryFixture(database: FreshDatabase): SourceFixture {
  const { pool } = database;
  return {
    async put(count) {
      await forgetDeliveries(database);
      await queue(database, changes(count));
    },
    source(send, clock) {
      const open = async () => ({
        deliver: async ({ id }: { readonly id: string }, { signal }: { readonly signal: AbortSignal }) => {
          await send(id, signal);
          return { status: 'delivered' } as const;
        },
        close: async () => {},
      });
      return new DeliverySource({ pool, worker: WORKER, clock, log, target: 'hook', open, random: () => 0.5 });
    },
    fates: () => counted(database, FATE_OF_DELIVERIES, []),
    rob: takeOver,
    takeOver,
  };

  async function takeOver() {
    await pool.query(`update ledger.delivery_claims set expires_at = '-infinity'`);
    await dropDeadOutboxClaims(pool, undefined);
  }
}

function reportFixture(database: FreshDatabase): SourceFixture {
  const { pool } = database;
  const sync = { name: 'mirror', account: 'demo', type: 'tasks', targets: ['issues'] } as unknown as TasksSync; // all that is read of it
  return {
    async put(count) {
      await pool.query('truncate ledger.item_reports, ledger.links');
      const items = Array.from({ length: count }, (_, n) => ({ itemId: `i-${n}`, isCompleted: true, status: 'done' }));
      const links = items.map(({ itemId }) => ({ scope: 'demo', task: { kind: 'task', id: itemId }, itemId }) as const);
      await keepItemLinks(
        pool,
        'issues',
        links.map((link) => ({ ...link, runId: undefined })),
      );
      await keepReports(pool, 'issues', items, 'hook');
    },
    source(send) {
      const target = async () => ({
        deliver: () => Promise.reject(new Error('nothing is delivered here')),
        async readItem(itemId: string, { signal }: { readonly signal: AbortSignal }) {
          await send(itemId, signal);
          return { status: 'missing' } as const;
        },
        close: async () => {},
      });
      const accounts = { use: async () => anAccount() };
      const names = ['issues'];
      const filterOf = () => undefined;
      return reportSource({
        pool,
        accounts,
        syncs: [sync],
        target,
        filterOf,
        names,
        random: () => 0.5,
        signal: NEVER,
        log,
      });
    },
    fates: () => counted(database, FATE_OF_REPORTS, []),
    rob: async () => void (await rob()),
    takeOver: async () => letGo(pool, await rob()),
  };

  async function rob() {
    const held = await pool.query(
      `update ledger.item_reports set held_until = '-infinity' where held_until is not null`,
    );
    return takeDue(pool, ['issues'], { limit: held.rowCount ?? 0, holdMs: 60_000 });
  }
}

const FATE_OF_ROWS = `select case state when 'intent' then 'claimed' when 'acked' then 'done' else state end as fate
  from ledger.rows where run_id = $1`;
const FATE_OF_DELIVERIES = `select case state when 'waiting' then 'ready' when 'sending' then 'claimed' else 'done' end as fate
  from ledger.deliveries`;
const FATE_OF_REPORTS = `select case when state = 'ended' then 'done' when held_until > clock_timestamp() then 'claimed'
  else 'ready' end as fate from ledger.item_reports`;

async function counted(
  { pool }: FreshDatabase,
  sql: string,
  parameters: readonly unknown[],
): Promise<Partial<Record<Fate, number>>> {
  const found = await pool.query<{ fate: Fate; n: number }>(
    `select fate, count(*)::int as n from (${sql}) each group by fate`,
    [...parameters],
  );
  return Object.fromEntries(found.rows.map(({ fate, n }) => [fate, n]));
}
