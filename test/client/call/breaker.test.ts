import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createBreaker, FAILURES_TO_OPEN, type Health } from '../../../src/client/call/breaker.ts';

function opened(atMs = 0) {
  const breaker = createBreaker();
  for (let i = 0; i < FAILURES_TO_OPEN; i++) breaker.saw('fails', atMs);
  return breaker;
}

describe('the breaker', () => {
  test('lets everything through while failures are isolated', () => {
    const breaker = createBreaker();
    for (let i = 0; i < 100; i++) {
      for (let j = 1; j < FAILURES_TO_OPEN; j++) breaker.saw('fails', i);
      breaker.saw('answers', i);
    }
    expect([breaker.admit(0), breaker.isOpen()]).toEqual([{ status: 'go' }, false]);
  });

  test('opens for a second after several failures in a row', () => {
    expect(opened().admit(400)).toEqual({ status: 'wait', forMs: 600 });
    expect(opened().admit(1_000)).toEqual({ status: 'probe' });
  });

  test('closes after one answer', () => {
    const breaker = opened();
    breaker.saw('answers', 1_010);
    expect([breaker.admit(1_010), breaker.isOpen()]).toEqual([{ status: 'go' }, false]);
  });

  test('doubles the pause after each failed probe, up to a minute', () => {
    const breaker = opened();
    const pauses: number[] = [];
    let nowMs = 1_000;
    for (let i = 0; i < 8; i++) {
      expect(breaker.admit(nowMs).status).toBe('probe');
      breaker.saw('fails', nowMs);
      const next = breaker.admit(nowMs);
      if (next.status === 'wait') pauses.push(next.forMs);
      nowMs += next.status === 'wait' ? next.forMs : 0;
    }
    expect(pauses).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });

  test('ignores calls that were in flight when it opened', () => {
    const breaker = opened();
    breaker.saw('fails', 500);
    expect(breaker.admit(1_000)).toEqual({ status: 'probe' });
  });

  test('gives the probe to the next caller when a probe has no result', () => {
    const breaker = opened();
    expect([breaker.admit(1_000).status, breaker.admit(1_010).status]).toEqual(['probe', 'probe']);
  });
});

test('never probes a service that stays down more often than the pauses allow', () => {
  const outcome = fc.constantFrom<Health | undefined>('fails', 'fails', 'fails', undefined);
  const steps = fc.array(fc.record({ afterMs: fc.nat({ max: 3_000 }), outcome }));
  fc.assert(
    fc.property(steps, (events) => {
      const breaker = opened();
      let [nowMs, dueAtMs, pauseMs] = [0, 1_000, 1_000];
      for (const { afterMs, outcome } of events) {
        nowMs += afterMs;
        const admission = breaker.admit(nowMs);
        expect(admission.status).toBe(nowMs < dueAtMs ? 'wait' : 'probe'); // no answer so far: never `go`
        if (admission.status !== 'probe' || outcome === undefined) continue;
        breaker.saw(outcome, nowMs);
        pauseMs = Math.min(60_000, pauseMs * 2);
        dueAtMs = nowMs + pauseMs;
      }
    }),
  );
});
