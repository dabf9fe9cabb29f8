/** Results of a check, for people. */
import type { CallContext, Finding, TargetFailure } from '../../contract/target.ts';
import type { TargetCaller } from './calls/caller.ts';
import type { Missing } from './items/item-target.ts';
import { isSameName } from './items/wanted-state.ts';

export function fine(what: string, detail: string): Finding {
  return { what, status: 'ok', detail };
}

export function problem(what: string, detail: string, remedy: string): Finding {
  return { what, status: 'problem', detail, remedy };
}

/** Something that only a delivery shows. */
export function unknownCheck(what: string, detail: string): Finding {
  return { what, status: 'unknown', detail };
}

/** A call that failed. Its detail says what to do; `remedy` is for something that is missing. */
export function failedCheck(what: string, failure: TargetFailure | Missing, remedy: string): Finding {
  if (failure.status === 'missing') return problem(what, failure.detail, remedy);
  const { detail, reason } = failure;
  const isLimited = failure.status === 'later' && failure.isLimited;
  return { what, status: 'problem', detail: `${reason}: ${detail}`, ...(isLimited && { remedy: 'check again later' }) };
}

/** Whether the place has the statuses that the settings name. `named`: by their settings, beside those in `columns`. */
export function statusFinding(
  { what, place, known, remedy }: Readonly<Record<'what' | 'place' | 'remedy', string>> & { known: readonly string[] },
  columns: Readonly<Record<string, string>>,
  named: Readonly<Record<string, string | undefined>> = {},
): Finding {
  const byColumn = Object.entries(columns).map(([column, name]) => [`columns.${column}`, name] as const);
  const unknown = [...Object.entries(named), ...byColumn].filter(
    ([, name]) => name !== undefined && !['completed', 'open', ...known].some((one) => isSameName(one, name)),
  );
  if (unknown.length === 0) return fine(what, `the ${place} has ${known.join(', ')}`);
  const names = unknown.map(([setting, name]) => `${setting}: ${name}`).join(' and ');
  return problem(what, `the ${place} has no status for ${names} (available: ${known.join(', ')})`, remedy);
}

/** Checks an address that only takes deliveries with a HEAD, which changes nothing. */
export async function reach(caller: TargetCaller, context: CallContext): Promise<readonly Finding[]> {
  const what = 'address';
  const answered = await caller.send({ method: 'HEAD', path: '', headers: {} }, context);
  if (answered.status === 'failed') return [failedCheck(what, answered.failure, '')];
  const { httpStatus } = answered;
  if (httpStatus === 410) return [problem(what, 'it answers HTTP 410: it is gone', 'set url to its new address')];
  if (httpStatus >= 500 && httpStatus !== 501)
    return [problem(what, `it answers HTTP ${httpStatus}`, 'look at the logs of its server')];
  return [
    unknownCheck(what, `it answers (HTTP ${httpStatus} to HEAD); a delivery shows whether it accepts deliveries`),
  ];
}
