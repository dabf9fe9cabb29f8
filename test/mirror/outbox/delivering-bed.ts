/** Processes that deliver on one virtual clock: new ones for each test of a file. */
import type pg from 'pg';
import pino from 'pino';
import { afterAll, afterEach } from 'vitest';
import type { Repeated } from '../../../src/base/repeat.ts';
import type { Target } from '../../../src/contract/target.ts';
import type { Claimed } from '../../../src/mirror/outbox/claims.ts';
import { DeliverySource } from '../../../src/mirror/outbox/delivery-source.ts';
import { makePool } from '../../../src/storage/pool.ts';
import { WORKER } from '../../engine/ledger/fresh-ledger.ts';
import type { FreshDatabase } from '../../support/database.ts';
import {
  type Answering,
  changes,
  type DeliveringHow,
  deliveringOf,
  forgetDeliveries,
  hasOpen,
  queue,
} from './delivery-worlds.ts';
import { createVirtualClock, type VirtualClock } from './virtual-clock.ts';

const HOUR = 60 * 60 * 1000;

export class DeliveringBed {
  readonly database: FreshDatabase;
  clock!: VirtualClock; // safe: `start` makes one
  started: Repeated[] = [];
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

  /** A source without a dispatcher, with this many queued deliveries, of which it has claimed one. */
  async claimOne(deliver: Target['deliver'], queued: number) {
    const { pool } = this.database;
    this.clock = createVirtualClock([pool], new Date(Date.now() + HOUR)); // so that what is queued now is due
    await queue(this.database, changes(queued));
    const source = new DeliverySource({
      pool,
      worker: WORKER,
      clock: this.clock,
      log: pino({ level: 'silent' }),
      target: 'hook',
      open: async () => ({ deliver, close: async () => {} }),
      random: () => 0.5,
    });
    const claim = await source.takeClaim();
    if (claim === undefined) throw new Error('the target was not opened');
    const [claimed] = await source.claim(claim, 1);
    if (claimed === undefined) throw new Error('nothing was claimed');
    const how = { dispatchBefore: 0, signal: new AbortController().signal, isHeld: () => true };
    const send = (one: Claimed, mayDispatch = true) => source.send(one, { ...how, mayDispatch: () => mayDispatch });
    return { source, claim, claimed, send };
  }

  readonly allEnded = async (): Promise<boolean> => !(await hasOpen(this.database));
}
