/** The rules that every source follows under the dispatcher, over a real ledger. */
import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import pino from 'pino';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { dispatch } from '../../../src/engine/dispatch/dispatcher.ts';
import type { DispatchOptions, Ended } from '../../../src/engine/dispatch/source.ts';
import { createVirtualClock, type VirtualClock } from '../../mirror/outbox/virtual-clock.ts';
import { freshLedger } from '../ledger/fresh-ledger.ts';
import { type AnySource, type Send, type SourceFixture, sourceKinds } from './sources.ts';

const TTL_MS = 30_000;
const TIMEOUT_MS = 5_000;
const HOUR = 60 * 60 * 1000;
const turn = () => setImmediate();

const database = await freshLedger();
afterAll(() => database.close());

describe.each(Object.entries(sourceKinds))('%s', (_name, { afterCrash, open }) => {
  let fixture: SourceFixture;
  let clock: VirtualClock;
  let sent: string[];
  let stopping: AbortController;
  beforeEach(() => {
    fixture = open(database);
    clock = createVirtualClock([database.pool], new Date(Date.now() + HOUR)); // so that items added now are due then
    sent = [];
    stopping = new AbortController();
  });

  const at = (source: AnySource, more: Partial<DispatchOptions> = {}): Promise<Ended<unknown>> =>
    dispatch(source, {
      ttlMs: TTL_MS,
      timeoutMs: TIMEOUT_MS,
      concurrency: 3,
      portion: { least: 6, most: 6 },
      gatherMs: 100,
      whenDry: 'end',
      clock,
      signal: stopping.signal,
      log: pino({ level: 'silent' }),
      ...more,
    });

  /** The same source with some of its methods replaced. */
  const source = (send: Send, change: (source: AnySource) => Partial<AnySource> = () => ({})): AnySource => {
    const noting: Send = (name, signal) => {
      sent.push(name);
      return send(name, signal);
    };
    const inner = fixture.source(noting, clock);
    const whole: AnySource = {
      takeClaim: () => inner.takeClaim(),
      renew: (claim) => inner.renew(claim),
      claim: (claim, limit) => inner.claim(claim, limit),
      send: (item, how) => inner.send(item, how),
      unsent: (item) => inner.unsent(item),
      record: (claim, outcomes) => inner.record(claim, outcomes),
      drop: (claim) => inner.drop(claim),
      admit: () => inner.admit?.() ?? { status: 'go' },
    };
    return { ...whole, ...change(whole) };
  };

  /** Lets time pass until the promise is settled. */
  async function ended<T>(work: Promise<T>): Promise<T> {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    work.then(over, over);
    await clock.passUntil(() => isOver);
    return work;
  }

  test('sends each item once, from several dispatchers, and no more at a time than allowed', async () => {
    await fixture.put(40);
    const most = [0, 0];
    const dispatchers = [0, 1].map((n) => {
      let inFlight = 0;
      return at(
        source(async () => {
          most[n] = Math.max(most[n] ?? 0, ++inFlight);
          await clock.wait(300, stopping.signal);
          inFlight--;
        }),
      );
    });
    expect(await ended(Promise.all(dispatchers))).toEqual([{ status: 'dry' }, { status: 'dry' }]);
    expect([sent.length, new Set(sent).size]).toEqual([40, 40]);
    expect(most).toEqual([3, 3]);
    expect(await fixture.fates()).toEqual({ done: 40 });
  });

  test('finishes what is in flight when it is aborted, and gives back the rest', async () => {
    await fixture.put(20);
    const dispatching = at(
      source(async () => {
        stopping.abort();
        await turn();
      }),
    );
    const since = clock.nowMs();
    expect(await ended(dispatching)).toEqual({ status: 'more' });
    expect(clock.nowMs() - since).toBeLessThan(1_000);
    expect(await fixture.fates()).toEqual({ done: sent.length, ready: 20 - sent.length });
    expect(sent.length).toBeLessThanOrEqual(3);
  });

  test('stops after a result of one item that ends the work, and gives back the rest', async () => {
    await fixture.put(20);
    const stop = 'the key is refused';
    const stopped = source(turn, ({ send }) => ({
      send: async (item, how) => ({ ...(await send(item, how)), ...(sent.length > 4 && { stop }) }),
    }));
    expect(await ended(at(stopped))).toEqual({ status: 'stopped', stop });
    expect(await fixture.fates()).toEqual({ done: sent.length, ready: 20 - sent.length });
    expect(sent.length).toBeLessThan(10);
  });

  test('ends when its time slice is over, and gives back the rest', async () => {
    await fixture.put(20);
    const dispatching = at(
      source(() => clock.wait(1_000, stopping.signal)),
      { sliceMs: 1_500 },
    );
    expect(await ended(dispatching)).toEqual({ status: 'more' });
    expect(await fixture.fates()).toEqual({ done: 6, ready: 14 });
  });

  test('limits unrecorded items while recording is slow', async () => {
    await fixture.put(60);
    let record = (): void => {};
    const mayRecord = new Promise<void>((resolve) => {
      record = resolve;
    });
    const slow = source(turn, (inner) => ({
      record: async (claim, outcomes) => {
        await mayRecord;
        return inner.record(claim, outcomes);
      },
    }));
    const dispatching = at(slow, { portion: { least: 2, most: 2 } });
    await clock.pass(20_000);
    expect(sent.length).toBeGreaterThan(10);
    expect(sent.length).toBeLessThanOrEqual(26); // ten portions, and what was claimed just before;
    record();
    expect(await ended(dispatching)).toEqual({ status: 'dry' });
    expect(await fixture.fates()).toEqual({ done: 60 });
  });

  test('records outcomes again after a failure, and none of them twice', async () => {
    await fixture.put(10);
    let failures = 0;
    const recorded: unknown[] = [];
    const failing = source(turn, (inner) => ({
      record: async (claim, outcomes) => {
        if (failures++ < 2) throw new Error('the ledger is away');
        recorded.push(...outcomes);
        return inner.record(claim, outcomes);
      },
    }));
    expect(await ended(at(failing))).toEqual({ status: 'dry' });
    expect([sent.length, recorded.length, await fixture.fates()]).toEqual([10, 10, { done: 10 }]);
  });

  test('renews its claim for as long as it works', async () => {
    await fixture.put(1);
    const slow = at(source(() => clock.wait(3 * TTL_MS, stopping.signal)));
    expect(await ended(slow)).toEqual({ status: 'dry' });
    expect(await fixture.fates()).toEqual({ done: 1 });
  });

  test('sends nothing whose answer could come after the claim’s end, and aborts what is in flight then', async () => {
    await fixture.put(9);
    const sentAt: number[] = [];
    const deadlines: number[] = [];
    let brokenOffAt = Number.POSITIVE_INFINITY;
    const away = source(
      async () => {
        sentAt.push(clock.nowMs());
        await clock.wait(4_000, stopping.signal);
      },
      (inner) => ({
        renew: () => Promise.reject(new Error('the ledger is away')),
        send: (item, how) => {
          deadlines.push(how.dispatchBefore);
          const isFirst = deadlines.length === 1;
          const broken = new Promise<object>((resolve) => {
            how.signal.addEventListener('abort', () => {
              brokenOffAt = clock.nowMs();
              resolve({ outcome: inner.unsent(item) });
            });
          });
          return isFirst ? broken : inner.send(item, how);
        },
      }),
    );
    expect(await ended(at(away, { concurrency: 2 }))).toEqual({ status: 'lost' });
    expect(deadlines).toEqual(Array(deadlines.length).fill(deadlines[0]));
    expect(Math.max(...sentAt)).toBeLessThan(deadlines[0] ?? 0);
    expect(deadlines[0]).toBeLessThan(TTL_MS - TIMEOUT_MS);
    expect(brokenOffAt).toBeLessThan(TTL_MS);
  });

  test('aborts a call that takes longer than any timeout, and no call that began later', async () => {
    await fixture.put(3);
    const tookMs: number[] = [];
    const hanging = source(turn, (inner) => ({
      async send(item, { signal }) {
        const begunAtMs = clock.nowMs();
        if (tookMs.push(0) === 2) await clock.wait(60_000, stopping.signal);
        else await once(signal, 'abort');
        tookMs.push(clock.nowMs() - begunAtMs);
        return { outcome: inner.unsent(item) };
      },
    }));
    void at(hanging, { concurrency: 2, portion: { least: 3, most: 3 } });
    const isLate = (ms: number) => ms > 300_000;
    await clock.passUntil(() => tookMs.filter(isLate).length === 2);
    for (const ms of tookMs.filter(isLate)) {
      expect(ms).toBeGreaterThan(330_000);
      expect(ms).toBeLessThan(330_000 + TTL_MS);
    }
    stopping.abort();
  });

  test('lets no call leave after the claim’s end, although its renewal was not answered', async () => {
    await fixture.put(1);
    const allowed = new Map<number, boolean>();
    const cutOff = source(turn, (inner) => ({
      renew: () => new Promise(() => {}),
      async send(item, how) {
        for (const atMs of [0, TTL_MS / 2, TTL_MS]) {
          await clock.wait(atMs - clock.nowMs(), stopping.signal);
          allowed.set(atMs, how.mayDispatch());
        }
        return inner.send(item, how);
      },
    }));
    void at(cutOff);
    await clock.passUntil(() => allowed.size === 3);
    expect(Object.fromEntries(allowed)).toEqual({ 0: true, [TTL_MS / 2]: true, [TTL_MS]: false });
  });

  test('records nothing after its claim was taken over', async () => {
    await fixture.put(5);
    let robbed: Promise<Awaited<ReturnType<SourceFixture['fates']>>> | undefined;
    const dispatching = at(
      source(async () => {
        robbed ??= fixture.rob().then(() => fixture.fates());
        await robbed;
        stopping.abort();
      }),
    );
    await ended(dispatching);
    expect(await robbed).not.toHaveProperty('done');
    expect(await fixture.fates()).toEqual(await robbed);
  });

  test('when killed, leaves its claimed items to the process that takes over', async () => {
    await fixture.put(10);
    void at(source(() => new Promise(() => {})));
    await clock.passUntil(() => sent.length === 3);
    clock.die();
    const claimed = (await fixture.fates()).claimed ?? 0;
    expect(claimed).toBeGreaterThanOrEqual(3);
    await fixture.takeOver();
    expect(await fixture.fates()).toEqual({ ready: 10 - claimed, [afterCrash]: afterCrash === 'ready' ? 10 : claimed });
    clock = createVirtualClock([database.pool], new Date(Date.now() + HOUR));
    expect(await ended(at(source(turn)))).toEqual({ status: 'dry' });
    expect(await fixture.fates()).toEqual(
      afterCrash === 'ready' ? { done: 10 } : { done: 10 - claimed, unknown: claimed },
    );
  });

  test('fails on a defect in sending, and leaves its items in flight as a killed process does', async () => {
    await fixture.put(10);
    const broken = source(turn, () => ({ send: () => Promise.reject(new TypeError('a defect')) }));
    await expect(ended(at(broken))).rejects.toThrow('a defect');
    expect(await fixture.fates()).toEqual(afterCrash === 'ready' ? { ready: 10 } : { ready: 7, unknown: 3 });
  });
});
