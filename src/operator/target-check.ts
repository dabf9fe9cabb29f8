/** Checks and tests of targets: what a person has to know before the next delivery. */
import { LockstepError } from '../base/errors.ts';
import type { DeliveryOutcome, Finding, Target } from '../contract/target.ts';
import { checkStates } from '../mirror/links/check-states.ts';
import { targetStates } from '../mirror/outbox/target-states.ts';
import type { Queryable } from '../storage/queryable.ts';

export interface CheckNeeds {
  readonly pool: Queryable;
  open(target: string): Promise<Target>;
  readonly signal: AbortSignal;
}

/** The findings about each target, in the order of `names`; nothing is written. One that cannot be used does not stop the others. */
export async function checkTargets(
  names: readonly string[],
  { pool, open, signal }: CheckNeeds,
): Promise<readonly { readonly target: string; readonly findings: readonly Finding[] }[]> {
  const states = await targetStates(pool);
  return Promise.all(
    names.map(async (target) => {
      const disabled = states.find((state) => state.target === target)?.disabled;
      const found = await findingsOf(target, pool, open, signal);
      return { target, findings: disabled === undefined ? found : [...found, disabledFinding(target, disabled)] };
    }),
  );
}

/** The time that a person waits for the check of one target in the console. */
const CHECK_MS = 20_000;

/** Like `checkTargets`, of one target, for the console. */
export async function checkNow(name: string, needs: Omit<CheckNeeds, 'signal'>): Promise<readonly Finding[]> {
  const signal = AbortSignal.timeout(CHECK_MS);
  try {
    const [checked] = await checkTargets([name], { ...needs, signal });
    return checked?.findings ?? [];
  } catch (error) {
    if (!signal.aborted) throw error;
    const detail = `no result within ${CHECK_MS / 1_000} s; the command line has no such limit`;
    return [{ what: 'answer', status: 'unknown', detail }];
  }
}

/** Sends a message that is about no task. Refused as TARGET_NOT_TESTED by a target that has no form for it. */
export function testTarget(name: string, { open, signal }: Omit<CheckNeeds, 'pool'>): Promise<Tested> {
  return tested(async () => {
    const target = await open(name);
    try {
      if (target.test) return await target.test({ signal });
      const message = `${name} takes no test message: its messages are about tasks. To check the target: \`lockstep targets check ${name}\``;
      throw new LockstepError('TARGET_NOT_TESTED', message);
    } finally {
      await target.close();
    }
  });
}

async function findingsOf(
  name: string,
  pool: Queryable,
  open: CheckNeeds['open'],
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  try {
    const target = await open(name);
    try {
      const found = (await target.check?.({ signal })) ?? [];
      return [...found, ...(await checkStates(pool, name, target, signal))];
    } finally {
      await target.close();
    }
  } catch (error) {
    if (!(error instanceof LockstepError)) throw error;
    return [{ what: 'settings', status: 'problem', detail: error.message }];
  }
}

function disabledFinding(
  target: string,
  { reason, detail }: { readonly reason: string; readonly detail: string },
): Finding {
  const remedy = `once the cause is fixed: \`lockstep deliveries enable ${target}\``;
  return { what: 'deliveries', status: 'problem', detail: `disabled (${reason}): ${detail}`, remedy };
}

/** What became of a test message. */
export interface Tested {
  readonly isSent: boolean;
  /** A code, if it was not sent and there is one. */
  readonly reason: string | null;
  readonly detail: string | null;
}

/** Sends it once. Settings that cannot be used count as refused. */
export async function tested(send: () => Promise<DeliveryOutcome>): Promise<Tested> {
  const outcome = await send().catch(refusedBy);
  return {
    isSent: outcome.status === 'delivered',
    reason: 'reason' in outcome ? outcome.reason : null,
    detail: ('detail' in outcome ? outcome.detail : undefined) ?? null,
  };
}

function refusedBy(error: unknown): DeliveryOutcome {
  if (!(error instanceof LockstepError)) throw error;
  return { status: 'refused', reason: error.code, detail: error.message };
}
