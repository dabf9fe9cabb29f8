/**
 * Slows down callers that guess keys: after many unknown keys from one address, its next unknown key is looked up with
 * a delay. A key that was valid before is not a guess and never waits.
 */

export interface KeyGuesses {
  /** Call it for an unknown key from this address. Returns how long to wait before the key is looked up. */
  begin(address: string, nowMs: number): number;
  /** The key was valid, so it does not count as a guess. */
  wasRight(address: string): void;
}

/** Unknown keys that an address may try without a delay; one is added every second. */
const BURST = 20;
const REFILL_MS = 1_000;
const DELAY_MS = 1_000;
/** After this long without an unknown key, an address has its full allowance again. */
const LONGEST_MS = 2 * BURST * REFILL_MS;
const MAX_ADDRESSES = 10_000;

export function keyGuesses(): KeyGuesses {
  /** By address, in the order of the last guess: when the address has its full allowance again. */
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

/** The owner of an IPv6 network has 2^64 addresses, so they count as one. */
function blockOf(address: string): string {
  const isMapped = address.startsWith('::ffff:');
  return address.includes(':') && !isMapped ? address.split(':').slice(0, 4).join(':') : address;
}
