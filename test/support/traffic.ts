/**
 * Counts the requests that arrived, for benchmarks and tests: by operation, and the most in any second. Memory does not
 * grow with the traffic: there is one counter per millisecond of the last second, and totals.
 */
import { type Service, type ServiceOptions, startService } from '../../src/service/server.ts';

const WINDOW_MS = 1_000;

export interface TrafficCounts {
  readonly total: number;
  /** Requests answered 429; they are in `total` too. */
  readonly limited: number;
  /** Most requests that arrived in any 1,000 ms, at a resolution of 1 ms. */
  readonly worstSecond: number;
  /** First and last arrival on the monotonic clock of this process, in ms; undefined before the first. */
  readonly firstAtMs: number | undefined;
  readonly lastAtMs: number | undefined;
  /** Requests by operation. A comment counts as `contacts.comment`: the two kinds share a path. */
  readonly byOperation: ReadonlyMap<string, number>;
}

export interface Traffic {
  /** Requests with a valid key, of one tenant or of all tenants. */
  counts(tenantId?: number): TrafficCounts;
  worstSecond(tenantId?: number): number;
  total(operation?: string): number;
  limited(): number;
  /** Requests with a refused key: they belong to no tenant and are not counted elsewhere. */
  unauthorized(): number;
  /** Resets all counters. */
  reset(): void;
}

export interface CountedService extends Service {
  readonly traffic: Traffic;
}

/** Starts the service, and counts its requests. */
export async function startCountedService(options: ServiceOptions): Promise<CountedService> {
  const traffic = recordTraffic();
  const service = await startService({
    ...options,
    onArrival(arrival) {
      if (arrival.status === 'unauthorized') return traffic.wasUnauthorized();
      traffic.arrived(arrival.tenantId, arrival.operation, arrival.atMs);
      if (arrival.status === 'limited') traffic.wasLimited(arrival.tenantId);
    },
  });
  return { ...service, traffic };
}

/** The part that counts. */
export interface TrafficRecorder extends Traffic {
  arrived(tenantId: number, operation: string, nowMs: number): void;
  wasLimited(tenantId: number): void;
  wasUnauthorized(): void;
}

export function recordTraffic(): TrafficRecorder {
  let everyone = counter();
  let tenants = new Map<number, Counter>();
  let unauthorized = 0;
  const of = (tenantId: number | undefined): Counter =>
    tenantId === undefined ? everyone : (tenants.get(tenantId) ?? counter());
  return {
    counts: (tenantId) => of(tenantId).counts(),
    worstSecond: (tenantId) => of(tenantId).counts().worstSecond,
    total: (operation) =>
      operation === undefined ? everyone.counts().total : (everyone.counts().byOperation.get(operation) ?? 0),
    limited: () => everyone.counts().limited,
    unauthorized: () => unauthorized,
    reset() {
      everyone = counter();
      tenants = new Map();
      unauthorized = 0;
    },
    arrived(tenantId, operation, nowMs) {
      everyone.arrived(operation, nowMs);
      const tenant = of(tenantId);
      tenants.set(tenantId, tenant);
      tenant.arrived(operation, nowMs);
    },
    wasLimited(tenantId) {
      everyone.wasLimited();
      of(tenantId).wasLimited();
    },
    wasUnauthorized() {
      unauthorized += 1;
    },
  };
}

interface Counter {
  arrived(operation: string, nowMs: number): void;
  wasLimited(): void;
  counts(): TrafficCounts;
}

function counter(): Counter {
  const perMs = new Uint32Array(WINDOW_MS); // slot t % 1000 holds the arrivals of millisecond t of the last second
  const byOperation = new Map<string, number>();
  let [total, limited, inWindow, worstSecond] = [0, 0, 0, 0];
  let firstAtMs: number | undefined;
  let lastMs = 0;
  return {
    arrived(operation, nowMs) {
      const now = Math.floor(nowMs);
      firstAtMs ??= now;
      for (let ms = Math.max(lastMs + 1, now - WINDOW_MS + 1); ms <= now; ms++) {
        inWindow -= perMs[ms % WINDOW_MS] ?? 0;
        perMs[ms % WINDOW_MS] = 0;
      }
      lastMs = Math.max(lastMs, now);
      perMs[lastMs % WINDOW_MS] = (perMs[lastMs % WINDOW_MS] ?? 0) + 1;
      inWindow += 1;
      total += 1;
      worstSecond = Math.max(worstSecond, inWindow);
      byOperation.set(operation, (byOperation.get(operation) ?? 0) + 1);
    },
    wasLimited() {
      limited += 1;
    },
    counts: () => ({
      total,
      limited,
      worstSecond,
      firstAtMs,
      lastAtMs: firstAtMs === undefined ? undefined : lastMs,
      byOperation: new Map(byOperation),
    }),
  };
}
