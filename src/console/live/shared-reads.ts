/** Reads that many viewers make at the same time, or that take long: they are made once for all of them. */

interface Kept {
  /** The read that ended last. */
  last?: { readonly value: unknown; readonly endedAtMs: number; readonly tookMs: number };
  /** The read that is being made. */
  next?: Promise<unknown>;
}

/** A read that takes longer is slow. */
const SLOW_MS = 250;
/** The most of a connection's time that one slow read takes. */
const READ_SHARE = 0.1;
const MOST_KEPT = 200;

const keptOf = new WeakMap<object, Map<string, Kept>>();

/**
 * Reads that have the same owner and key are the same. `freshMs`: how long a read is used again; default: until it ends. `slowMs`: how
 * long an old value of a slow read may be shown while it is read again: counts of an unfinished run, which take the longer the
 * larger it is. Default: never.
 */
export async function sharedRead<Value>(
  owner: object,
  key: string,
  read: () => Promise<Value>,
  { freshMs = 0, slowMs = 0 }: { readonly freshMs?: number; readonly slowMs?: number } = {},
): Promise<Value> {
  const reads = keptOf.get(owner) ?? new Map<string, Kept>();
  keptOf.set(owner, reads);
  const kept = reads.get(key) ?? {};
  reads.delete(key);
  reads.set(key, kept);
  const [oldest] = reads.keys();
  if (reads.size > MOST_KEPT && oldest !== undefined) reads.delete(oldest);
  const { last } = kept;
  const isSlow = slowMs > 0 && last !== undefined && last.tookMs > SLOW_MS;
  const ageMs = last === undefined ? Number.POSITIVE_INFINITY : performance.now() - last.endedAtMs;
  const usedForMs = isSlow ? last.tookMs / READ_SHARE : freshMs;
  if (last && ageMs < usedForMs) return last.value as Value; // safe: of the same key
  kept.next ??= readAgain(kept, read);
  if (last && isSlow && ageMs < usedForMs + slowMs) {
    kept.next.catch(() => undefined); // the next reader sees why
    return last.value as Value; // safe: of the same key
  }
  return kept.next as Promise<Value>; // safe: of the same key
}

async function readAgain<Value>(kept: Kept, read: () => Promise<Value>): Promise<Value> {
  const startedAtMs = performance.now();
  try {
    const value = await read();
    const endedAtMs = performance.now();
    kept.last = { value, endedAtMs, tookMs: endedAtMs - startedAtMs };
    return value;
  } catch (error) {
    delete kept.last;
    throw error;
  } finally {
    delete kept.next;
  }
}
