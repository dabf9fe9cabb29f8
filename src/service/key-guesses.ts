/**
 * Slows down callers that try keys: an address with many unknown keys waits before its next one is looked up. Keys that
 * were valid before are no guesses, so they never wait for what others of their address do.
 */

export interface KeyGuesses {
  /** A key of this address that is not known yet: how long to wait before it is looked up. */
  begin(address: string, nowMs: number): number;
  /** It was a valid one: it counts no longer. */
  wasRight(address: string): void;
}

/** Unknown keys an address may try without waiting; one more a second. */
const BURST = 20;
const REFILL_MS = 1_000;
const DELAY_MS = 1_000;
/** After many unknown keys, this long without one makes the allowance whole again. */
const LONGEST_MS = 2 * BURST * REFILL_MS;
const MAX_ADDRESSES = 10_000;

export function keyGuesses(): KeyGuesses {
  /** By address, in the order of its last guess: when its allowance is whole again. */
  const wholeAt = new Map<string, number>();
  return {
    begin(address, nowMs) {
      const block = blockOf(address);
      const whole = Math.max(wholeAt.get(block) ?? 0, nowMs) + REFILL_MS;
      wholeAt.delete(block);
      wholeAt.set(block, Math.min(whole, nowMs + LONGEST_MS));
      const [oldest] = wholeAt.size > MAX_ADDRESSES ? wholeAt.keys() : [];
      if (oldest !== undefined) wholeAt.delete(oldest);
      return whole - nowMs > BURST * REFILL_MS ? DELAY_MS : 0;
    },
    wasRight(address) {
      const block = blockOf(address);
      const whole = wholeAt.get(block);
      if (whole !== undefined) wholeAt.set(block, whole - REFILL_MS);
    },
  };
}

/** An IPv6 network of one owner has 2^64 addresses. */
function blockOf(address: string): string {
  const isMapped = address.startsWith('::ffff:');
  return address.includes(':') && !isMapped ? address.split(':').slice(0, 4).join(':') : address;
}
