/** Results of a check, for people. */
import type { Finding, TargetFailure } from '../../contract/target.ts';
import type { Missing } from './items/item-target.ts';

export function fine(what: string, detail: string): Finding {
  return { what, status: 'ok', detail };
}

export function problem(what: string, detail: string, remedy: string): Finding {
  return { what, status: 'problem', detail, remedy };
}

/** Something that only a delivery shows. */
export function unknown(what: string, detail: string): Finding {
  return { what, status: 'unknown', detail };
}

/** A call that failed. Its detail says what to do; `remedy` is for something that is missing. */
export function failed(what: string, failure: TargetFailure | Missing, remedy: string): Finding {
  if (failure.status === 'missing') return problem(what, failure.detail, remedy);
  const { detail, reason } = failure;
  return { what, status: 'problem', detail: `${reason}: ${detail}` };
}
