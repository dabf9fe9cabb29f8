/** Processes that deliver on one virtual clock: new ones for each test of a file. */
import type pg from 'pg';
import { afterAll, afterEach } from 'vitest';
import type { Delivering } from '../../../src/mirror/outbox/delivering.ts';
import { makePool } from '../../../src/storage/pool.ts';
import type { FreshDatabase } from '../../support/database.ts';
import { type Answering, type DeliveringHow, deliveringOf, forgetDeliveries, hasOpen } from './delivery-worlds.ts';
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts';

export class DeliveringBed {
  readonly database: FreshDatabase;
  clock!: VirtualClock; // safe: `start` makes one
  started: Delivering[] = [];
  readonly #pools: pg.Pool[] = [];

  constructor(database: FreshDatabase) {
    this.database = database;
    afterEach(async () => {
      let open = this.started.length;
      for (const delivering of this.started) void delivering.close().finally(() => open--);
      await this.clock.passUntil(() => open === 0);
      this.started = [];
      await Promise.all(this.#pools.splice(0).map((pool) => pool.end()));
      await forgetDeliveries(database);
    });
    afterAll(() => database.close());
  }

  /** Delivers from this many processes on one virtual clock. */
  readonly start = (
    targets: Readonly<Record<string, Answering>>,
    count = 1,
    more: Partial<DeliveringHow> = {},
  ): void => {
    for (let n = 0; n < count; n++) this.#pools.push(makePool({ ...this.database.connection, max: 3 }));
    this.clock = createVirtualClock([this.database.pool, ...this.#pools]);
    this.started = this.#pools.map((pool) => deliveringOf({ pool, targets, clock: this.clock, ...more }));
  };

  readonly allEnded = async (): Promise<boolean> => !(await hasOpen(this.database));
}
