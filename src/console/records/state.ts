/** The state of a write that a person made, and when its outcome can be looked up. Pure. */
import type { Operation } from '../../contract/operation.ts';
import { type OperationName, operations } from '../../contract/operations.ts';
import type { HandCall } from '../../engine/ledger/console/hand-calls.ts';
import type { Settings } from '../../settings/settings.ts';
import { MAX_WAIT_MS } from './read.ts';

export type CallState = NonNullable<HandCall['status']> | 'under way' | 'was applied' | 'was not applied';

/** A call without an outcome is under way only as long as it can be: then its process has ended. */
export function callState(settings: Settings, call: HandCall): CallState {
  const { found, status } = call;
  if (found !== null) return found === 'applied' ? 'was applied' : 'was not applied';
  return status ?? (Date.now() < sentBy(settings, call) ? 'under way' : 'unknown');
}

export function isApplied({ status, found }: Pick<HandCall, 'status' | 'found'>): boolean {
  return (found ?? status) === 'applied';
}

/** From then on the service has applied the call or dropped it. */
export function lookFrom(settings: Settings, call: HandCall): Date {
  return new Date(sentBy(settings, call) + (settings.accounts[call.account]?.budget.settleMs ?? 0));
}

/** When the last of its requests ended at the latest: it may have been sent under both prefixes. */
function sentBy({ accounts }: Settings, { account, at, endedAt }: HandCall): number {
  return endedAt?.getTime() ?? at.getTime() + MAX_WAIT_MS + 2 * (accounts[account]?.budget.timeoutMs ?? 0);
}

export function isRepeatable(operation: OperationName): boolean {
  const { repeatable }: Operation = operations[operation];
  return repeatable;
}
