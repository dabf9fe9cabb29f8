/** The check of an address that only takes deliveries: a HEAD, which changes nothing. */
import type { CallContext, Finding } from '../../contract/target.ts';
import type { TargetCaller } from './calls/caller.ts';
import { failed, problem, unknown } from './findings.ts';

export async function reach(caller: TargetCaller, context: CallContext): Promise<readonly Finding[]> {
  const what = 'address';
  const answered = await caller.send({ method: 'HEAD', path: '', headers: {} }, context);
  if (answered.status === 'failed') return [failed(what, answered.failure, '')];
  const { httpStatus } = answered;
  if (httpStatus === 410) return [problem(what, 'it answers HTTP 410: it is gone', 'set url to its new address')];
  if (httpStatus >= 500 && httpStatus !== 501)
    return [problem(what, `it answers HTTP ${httpStatus}`, 'look at the logs of its server')];
  return [unknown(what, `it answers (HTTP ${httpStatus} to HEAD); a delivery shows whether it accepts deliveries`)];
}
