/** Creates what cannot simply be created again, an item or a comment, with the ledger's record of it. */
import type { TargetFailure } from '../../../contract/target.ts';
import type { Creating, CreationLog, LoggedCreation } from './creation-log.ts';
import { mayHaveHappened } from './item-outcome.ts';
import type { Asked } from './item-target.ts';

export interface CreationNeeds {
  readonly log: CreationLog;
  /** How long something may exist before the target shows it. */
  readonly settleMs: number;
}

/** Something that a search does not show, and that is created. */
export interface Creation<T> {
  readonly what: Creating;
  /** For people: "the comment". */
  readonly noun: string;
  readonly last: LoggedCreation | undefined;
  send(): Promise<Asked<T>>;
  /** What of the answer the ledger keeps. */
  resultOf(value: T): string | undefined;
}

/**
 * Creates it, unless an earlier creation may not be shown yet: after a crash or a lost answer it is created again only when the
 * target would show it.
 */
export async function createUnlessUnseen<T>(
  { what, noun, last, send, resultOf }: Creation<T>,
  { log, settleMs }: CreationNeeds,
): Promise<Asked<T>> {
  if (last !== undefined && last.agoMs < settleMs) return unseen(noun, settleMs - last.agoMs);
  const at = await log.begin(what, last);
  if (at === undefined) return unseen(noun, settleMs); // another process has begun it
  const sent = await send();
  if (sent.status === 'ok') {
    await log.noteTaken(what, resultOf(sent.value));
    return sent;
  }
  if (sent.status === 'later' && mayHaveHappened(sent)) return afterSettling(noun, sent, settleMs);
  await log.forget(what, at);
  return sent;
}

function afterSettling(noun: string, failure: TargetFailure, settleMs: number): TargetFailure {
  if (failure.status !== 'later' || settleMs === 0) return failure;
  const detail = `${failure.detail}; ${noun} may have been created, so Lockstep searches for it before it creates another one`;
  return { ...failure, detail, retryAfterMs: Math.max(failure.retryAfterMs ?? 0, settleMs) };
}

export function unseen(noun: string, waitMs: number): TargetFailure {
  const detail = `${noun} may have been created, but the target does not show it yet; Lockstep searches for it again before it creates another one`;
  return { status: 'later', reason: 'NOT_SHOWN_YET', detail, retryAfterMs: Math.ceil(waitMs) };
}
