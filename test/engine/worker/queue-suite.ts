/** The behaviour of a queue. Every backend passes this suite. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import type { Processed, Processor, Queue, SharedQueue } from '../../../src/engine/worker/queue.ts';
import { PATIENT } from '../../support/patient.ts';

const OVER: Processed = { status: 'over' };

/** A promise and what settles it. */
function latch(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** `open` gives a queue in a namespace that is new for each test; the same namespace for the same name. */
export function queueSuite(open: (name: string) => Promise<Queue>): void {
  let name = '';
  let opened: Queue[] = [];
  let working: { close(): Promise<void> }[] = [];
  beforeEach(() => {
    name = `q${Math.random().toString(36).slice(2)}`;
  });
  afterEach(async () => {
    await Promise.all(working.map((one) => one.close()));
    await Promise.all(opened.map((one) => one.close()));
    [opened, working] = [[], []];
  });

  async function aQueue(): Promise<Queue> {
    const queue = await open(name);
    opened.push(queue);
    return queue;
  }

  function work(queue: Queue, processor: Processor, concurrency = 4): { close(): Promise<void> } {
    const worker = queue.work(processor, concurrency);
    working.push(worker);
    return worker;
  }

  /** Runs jobs and keeps the ids of their runs in the order they came. */
  function recording(answer: (runId: string) => Processed = () => OVER): { seen: string[]; processor: Processor } {
    const seen: string[] = [];
    return {
      seen,
      processor: async (_name, payload) => {
        const runId = payload.runId;
        seen.push(runId);
        return answer(runId);
      },
    };
  }

  const add = (queue: Queue, runId: string, isUrgent = false) =>
    queue.add('job', { runId }, { id: `${runId}.job`, isUrgent });

  test('adds a job of the same id once while it waits, and again when it is over', async () => {
    const queue = await aQueue();
    for (let i = 0; i < 3; i++) await add(queue, 'a');
    await add(queue, 'b');
    const { seen, processor } = recording();
    work(queue, processor);
    await expect.poll(() => seen.toSorted()).toEqual(['a', 'b']);
    await expect
      .poll(async () => {
        await add(queue, 'a'); // ignored while the first job is cleaned up
        return seen.filter((id) => id === 'a').length;
      })
      .toBeGreaterThan(1);
  });

  test('does not add a job of the same id while it is running', async () => {
    const queue = await aQueue();
    const gate = latch();
    const { seen, processor } = recording();
    work(queue, async (...job) => {
      await processor(...job);
      await gate.opened;
      return OVER;
    });
    await add(queue, 'a');
    await expect.poll(() => seen).toEqual(['a']);
    await add(queue, 'a');
    await add(queue, 'b');
    await expect.poll(() => seen).toEqual(['a', 'b']);
    gate.open();
  });

  test('a job that comes again frees its slot in between, any number of times', async () => {
    const queue = await aQueue();
    let rounds = 0;
    const { seen, processor } = recording((id) => (id === 'a' && ++rounds < 5 ? { status: 'again', inMs: 30 } : OVER));
    work(queue, processor, 1);
    await add(queue, 'a');
    await expect.poll(() => seen.length).toBeGreaterThan(0);
    await add(queue, 'b');
    await expect.poll(() => seen.filter((id) => id === 'a').length).toBe(5);
    expect(seen.indexOf('b')).toBeLessThan(seen.lastIndexOf('a'));
  });

  test('a job delayed on a clock that is set back by an hour sleeps no longer than planned', async () => {
    vi.useFakeTimers({ toFake: ['Date'], shouldAdvanceTime: true });
    onTestFinished(() => void vi.useRealTimers());
    vi.setSystemTime(Date.now() + 3_600_000);
    const queue = await aQueue();
    const { seen, processor } = recording((id) => (id === 'a' ? { status: 'again', inMs: 300 } : OVER));
    const worker = work(queue, processor, 1);
    await add(queue, 'a');
    await expect.poll(() => seen).toEqual(['a']);
    await add(queue, 'b');
    await expect.poll(() => seen.includes('b')).toBe(true); // the other one is delayed by then
    await worker.close();
    vi.useRealTimers();
    const ended: string[] = [];
    work(queue, async (_name, { runId }) => {
      ended.push(runId);
      return OVER;
    });
    await expect
      .poll(
        async () => {
          await queue.limitDelays();
          return ended;
        },
        { timeout: 10_000 },
      )
      .toEqual(['a']);
  });

  test('removes a job that throws, and it can be added again', async () => {
    const queue = await aQueue();
    let tries = 0;
    work(queue, async () => {
      tries++;
      throw new Error('a defect');
    });
    await add(queue, 'a');
    await expect.poll(() => tries).toBe(1);
    await expect
      .poll(async () => {
        await add(queue, 'a');
        return tries;
      })
      .toBeGreaterThan(1);
  });

  test('an urgent job that comes again also goes before waiting jobs', async () => {
    const queue = await aQueue();
    const gate = latch();
    const { seen, processor } = recording((id) =>
      id === 'urgent' && seen.length === 1 ? { status: 'again', inMs: 300 } : OVER,
    );
    onTestFinished(gate.open);
    await add(queue, 'urgent', true);
    for (const id of ['a', 'b', 'c']) await add(queue, id);
    work(
      queue,
      async (...job) => {
        const processed = await processor(...job);
        if (job[1].runId === 'a') await gate.opened;
        return processed;
      },
      1,
    );
    await expect.poll(() => seen).toEqual(['urgent', 'a']);
    const dueAtMs = performance.now() + 300;
    await expect.poll(() => performance.now()).toBeGreaterThan(dueAtMs);
    gate.open();
    await expect.poll(() => seen).toEqual(['urgent', 'a', 'urgent', 'b', 'c']);
  });

  test('an urgent job goes before waiting jobs', async () => {
    const queue = await aQueue();
    for (const id of ['a', 'b', 'c']) await add(queue, id);
    await add(queue, 'urgent', true);
    const { seen, processor } = recording();
    work(queue, processor, 1);
    await expect.poll(() => seen).toEqual(['urgent', 'a', 'b', 'c']);
  });

  test('closing signals running jobs, waits for them, and begins no others', async () => {
    const queue = await aQueue();
    const [gate, order] = [latch(), [] as string[]];
    const worker = work(
      queue,
      async (_name, payload, signal) => {
        signal.addEventListener('abort', () => order.push('told'));
        order.push(`began ${payload.runId}`);
        await gate.opened;
        order.push('finished');
        return OVER;
      },
      1,
    );
    await add(queue, 'a');
    await expect.poll(() => order).toEqual(['began a']);
    await add(queue, 'b');
    const closing = worker.close().then(() => order.push('closed'));
    await expect.poll(() => order).toEqual(['began a', 'told']);
    gate.open();
    await closing;
    expect(order).toEqual(['began a', 'told', 'finished', 'closed']);
  });

  test('two workers share the jobs, and each job runs in one worker', async () => {
    const [one, other] = [await aQueue(), await aQueue()];
    const [here, there] = [recording(), recording()];
    const slowly =
      (processor: Processor): Processor =>
      async (...job) => {
        await delay(5); // so that neither has done everything before the other begins
        return processor(...job);
      };
    work(one, slowly(here.processor), 1);
    work(other, slowly(there.processor), 1);
    const ids = Array.from({ length: 20 }, (_, i) => `r${i}`);
    for (const id of ids) await add(one, id);
    await expect.poll(() => [...here.seen, ...there.seen].toSorted()).toEqual(ids.toSorted());
    expect([here.seen.length > 0, there.seen.length > 0]).toEqual([true, true]);
  });
}

/** What a queue that processes share can also do. */
export function sharedQueueSuite(open: (name: string) => Promise<SharedQueue>): void {
  test('lists its jobs by state: those that wait, urgent first, those that work, and those that are delayed', async () => {
    const queue = await open(`q${Math.random().toString(36).slice(2)}`);
    onTestFinished(() => queue.close());
    const add = (runId: string, isUrgent = false) => queue.add('job', { runId }, { id: `${runId}.job`, isUrgent });
    await add('run-1');
    await add('run-2', true);
    const waiting = await queue.jobs('prioritized', 10);
    expect(waiting).toMatchObject([
      { name: 'job', run: 'run-2', isUrgent: true, dueAt: undefined, startedAt: undefined, stalls: 0 },
      { name: 'job', run: 'run-1', isUrgent: false },
    ]);
    expect(await queue.jobs('prioritized', 1)).toHaveLength(1);
    const stays = latch();
    const worker = queue.work(async (_name, { runId }) => {
      if (runId === 'run-1') return { status: 'again', inMs: 60_000 };
      await stays.opened;
      return OVER;
    }, 2);
    const seen = async (state: 'active' | 'delayed') => (await queue.jobs(state, 10)).map(({ run }) => run);
    await vi.waitFor(
      async () => expect([await seen('active'), await seen('delayed')]).toEqual([['run-2'], ['run-1']]),
      PATIENT,
    );
    const [delayed] = await queue.jobs('delayed', 10);
    expect(delayed?.dueAt?.getTime()).toBeGreaterThan(Date.now() + 30_000);
    stays.open();
    await worker.close();
  });
}
