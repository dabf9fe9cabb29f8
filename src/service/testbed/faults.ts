/**
 * Faults for the test bed: wraps the handling of requests so that a seeded share of them fails before or after the
 * commit. The service itself does not know about it. Without `faults` and `latencyMs` this is a plain call.
 */
import { setMaxListeners } from 'node:events';
import { pause } from '../../base/pause.ts';
import { type OperationName, operations } from '../../contract/operations.ts';
import type { Behaviour, FaultKind, Faults } from './behaviour.ts';
import type { Answer } from './dialect.ts';
import { pick, randomFrom } from './random.ts';

/** What the caller gets: an answer, an answer that breaks off in the middle, a broken connection, or nothing at all. */
export type Served =
  | { readonly status: 'answer' | 'broken-off'; readonly answer: Answer }
  | { readonly status: 'reset' | 'silence' };

export interface TestBed {
  around(operation: OperationName, serve: () => Promise<Answer>): Promise<Served>;
  /** How many requests have had each kind of fault. */
  counts(): ReadonlyMap<FaultKind, number>;
  /** Runs the pending late commits now. */
  commitLate(): Promise<void>;
  /** Drops the late commits that have not begun, and waits for the others. */
  close(): Promise<void>;
}

export function testBed({ faults, latencyMs }: Pick<Behaviour, 'faults' | 'latencyMs'>): TestBed {
  const counts = new Map<FaultKind, number>();
  const chance = faults === undefined ? undefined : chanceOf(faults);
  const closing = new AbortController();
  setMaxListeners(0, closing.signal); // every waiting request listens
  const late = new Set<Promise<unknown>>();
  let hurrying = new AbortController();

  async function commitLater(serve: () => Promise<Answer>, lateMs: number): Promise<void> {
    const signal = AbortSignal.any([closing.signal, hurrying.signal]);
    await pause(lateMs, signal);
    if (!closing.signal.aborted) await serve().catch(() => undefined); // its caller has closed the connection
  }

  return {
    counts: () => counts,
    async around(operation, serve) {
      if (latencyMs > 0) await pause(latencyMs, closing.signal);
      const fault = chance?.(operation);
      if (faults === undefined || fault === undefined) return { status: 'answer', answer: await serve() };
      counts.set(fault, (counts.get(fault) ?? 0) + 1);
      if (fault !== 'late-commit') return goWrong(fault, serve);
      const committing = commitLater(serve, faults.lateMs).finally(() => late.delete(committing));
      late.add(committing);
      return (counts.get(fault) ?? 0) % 2 === 0 ? { status: 'reset' } : { status: 'answer', answer: gatewayPage(504) };
    },
    async commitLate() {
      hurrying.abort();
      hurrying = new AbortController();
      await Promise.all(late);
    },
    async close() {
      closing.abort();
      await Promise.all(late);
    },
  };
}

async function goWrong(fault: Exclude<FaultKind, 'late-commit'>, serve: () => Promise<Answer>): Promise<Served> {
  switch (fault) {
    case 'reset-before':
      return { status: 'reset' };
    case 'hang-before':
      return { status: 'silence' };
    case '5xx-before':
      return { status: 'answer', answer: gatewayPage(503) };
    case 'reset-after':
      await serve();
      return { status: 'reset' };
    case 'hang-after':
      await serve();
      return { status: 'silence' };
    case '5xx-after':
      await serve();
      return { status: 'answer', answer: gatewayPage(502) };
    case 'truncate':
      return { status: 'broken-off', answer: await serve() };
    default:
      return fault satisfies never;
  }
}

function chanceOf(faults: Faults): (operation: OperationName) => FaultKind | undefined {
  const random = randomFrom(faults.seed);
  let left = faults.limit ?? Number.POSITIVE_INFINITY;
  return (operation) => {
    const isSpared =
      (faults.onlyWrites && operations[operation].result !== undefined) ||
      (faults.operations !== undefined && !faults.operations.includes(operation));
    if (isSpared || left === 0 || random() >= faults.rate) return undefined;
    left -= 1;
    return pick(random, faults.kinds);
  };
}

/** The answer of a proxy in front of a service. */
function gatewayPage(httpStatus: 502 | 503 | 504): Answer {
  const body = `<html><body><h1>${httpStatus}</h1></body></html>`;
  return { httpStatus, headers: { 'content-type': 'text/html' }, body };
}
