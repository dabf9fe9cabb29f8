/**
 * Who may have how many calls in flight, so that all processes together never have more than the cap. Pure, and mirrored
 * in Lua and SQL.
 *
 * A slot is counted for a process until it has said that it holds fewer, or has not been heard of for 15 s. So it shrinks
 * in two steps: the answer names a smaller allotment, and what it then no longer holds is free with its next ask. Slots
 * are given on demand: whoever asks gets what is neither held nor due to another that wants it, up to its equal share.
 * Where there are more processes than slots they take turns of half a second, the longest waiting first.
 */
import type { SlotAsk } from './budget.ts';

/** What is known of one process. */
export interface Holder {
  readonly holder: string;
  readonly seq: number;
  /** Counted against the cap. */
  readonly slots: number;
  readonly wanted: number;
  /** Since when it has had slots, or has had none. */
  readonly sinceUs: number;
  readonly expiresAtUs: number;
}

export const SLOTS_EXPIRE_US = 15e6;
/** How long a process keeps its slots while others have none. */
export const SLOTS_TURN_US = 500_000;

export interface Allotment {
  readonly holders: readonly Holder[];
  /** Calls the asking process may have in flight from now on. */
  readonly slots: number;
}

export function allot(before: readonly Holder[], ask: SlotAsk, nowUs: number): Allotment {
  const alive = before.filter(({ expiresAtUs }) => expiresAtUs > nowUs).map((holder) => rebased(holder, nowUs));
  const own = alive.find(({ holder }) => holder === ask.holder);
  const others = alive.filter(({ holder }) => holder !== ask.holder);
  if (own !== undefined && own.seq >= ask.seq) return { holders: alive, slots: 0 }; // overtaken; nobody waits for this
  if (ask.wanted === 0 && ask.holding === 0) return { holders: others, slots: 0 };

  const isWaiting = own === undefined || own.slots === 0;
  const sinceUs = own?.sinceUs ?? nowUs;
  const isTurnOver = !isWaiting && nowUs - sinceUs >= SLOTS_TURN_US;
  const wanting = others.filter(({ wanted }) => wanted > 0).length + (ask.wanted > 0 ? 1 : 0);
  const share = wanting > 0 ? Math.floor(ask.cap / wanting) : ask.cap;
  let due = 0;
  for (const other of others) {
    if (share >= 1) due += Math.max(other.slots, Math.min(other.wanted, share));
    else if (other.slots > 0) due += other.slots;
    else if (other.wanted > 0 && (isTurnOver || (isWaiting && other.sinceUs < sinceUs))) due += 1;
  }
  const slots = Math.max(0, Math.min(ask.wanted, ask.cap - due));
  const { holder, seq, holding, wanted } = ask;
  const held = Math.max(holding, slots);
  const known: Holder = {
    holder,
    seq,
    slots: held,
    wanted,
    sinceUs: held > 0 === isWaiting ? nowUs : sinceUs,
    expiresAtUs: nowUs + SLOTS_EXPIRE_US,
  };
  return { holders: [...others, known], slots };
}

/** Where the clock was set back, a process is heard of within the usual time or not at all. */
function rebased(holder: Holder, nowUs: number): Holder {
  const latestUs = nowUs + SLOTS_EXPIRE_US;
  if (holder.expiresAtUs <= latestUs) return holder;
  return { ...holder, sinceUs: Math.min(holder.sinceUs, nowUs), expiresAtUs: latestUs };
}
