import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createBreaker, FAILURES_TO_OPEN } from '../../src/client/breaker.ts';
import type { Outcome } from '../../src/client/outcome.ts';

const DOWN: Outcome = { status: 'unknown', message: 'HTTP 500', reason: 'server-error' };
const REFUSED: Outcome = { status: 'refused', httpStatus: 404, message: 'no' };
const NO_TOKEN: Outcome = { status: 'not-sent', message: 'no token', reason: 'budget' };

function opened(atMs = 0) {
  const breaker = createBreaker();
  for (let i = 0; i < FAILURES_TO_OPEN; i++) breaker.saw(DOWN, atMs);
  return breaker;
}

describe('the breaker', () => {
  test('lets everything through while failures are single', () => {
    const breaker = createBreaker();
    for (let i = 0; i < 100; i++) {
      for (let j = 1; j < FAILURES_TO_OPEN; j++) breaker.saw(DOWN, i);
      breaker.saw(REFUSED, i);
    }
    expect(breaker.admit(0)).toEqual({ status: 'go' });
  });

  test('opens after a row of failures, for a second', () => {
    expect(opened().admit(400)).toEqual({ status: 'wait', forMs: 600 });
  });

  test('then lets one caller probe, and the others wait', () => {
    const breaker = opened();
    expect([breaker.admit(1_000).status, breaker.admit(1_000).status]).toEqual(['probe', 'wait']);
  });

  test('closes when anybody answers, with a refusal too', () => {
    const breaker = opened();
    breaker.admit(1_000);
    breaker.saw(REFUSED, 1_010);
    expect(breaker.admit(1_010)).toEqual({ status: 'go' });
  });

  test('doubles its pause with every probe that fails, up to a minute', () => {
    const breaker = opened();
    const pauses: number[] = [];
    let nowMs = 1_000;
    for (let i = 0; i < 8; i++) {
      expect(breaker.admit(nowMs).status).toBe('probe');
      breaker.saw(DOWN, nowMs);
      const next = breaker.admit(nowMs);
      if (next.status === 'wait') pauses.push(next.forMs);
      nowMs += next.status === 'wait' ? next.forMs : 0;
    }
    expect(pauses).toEqual([2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });

  test('gives the probe to the next one where it came to nothing', () => {
    const breaker = opened();
    breaker.admit(1_000);
    breaker.saw(NO_TOKEN, 1_010);
    breaker.passOnProbe(1_010);
    expect(breaker.admit(1_010).status).toBe('probe');
  });
});

test('whatever happens, a service that stays down is probed no more often than the pauses allow', () => {
  const steps = fc.array(
    fc.record({ afterMs: fc.nat({ max: 3_000 }), outcome: fc.constantFrom(DOWN, DOWN, DOWN, NO_TOKEN) }),
  );
  fc.assert(
    fc.property(steps, (events) => {
      const breaker = opened();
      let [nowMs, dueAtMs, pauseMs] = [0, 1_000, 1_000];
      for (const { afterMs, outcome } of events) {
        nowMs += afterMs;
        const admission = breaker.admit(nowMs);
        expect(admission.status).toBe(nowMs < dueAtMs ? 'wait' : 'probe'); // nobody has answered: never `go`
        if (admission.status !== 'probe') continue;
        breaker.saw(outcome, nowMs);
        if (outcome === DOWN) {
          pauseMs = Math.min(60_000, pauseMs * 2);
          dueAtMs = nowMs + pauseMs;
        }
        breaker.passOnProbe(nowMs);
      }
    }),
  );
});
