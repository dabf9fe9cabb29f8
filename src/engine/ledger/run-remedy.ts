/** What a person does about an unfinished run: it follows from the reason why the run does not continue. */
import { shellWord } from '../../base/reasons/template.ts';
import { awaitsApproval } from './approval.ts';
import type { Run } from './runs.ts';

/** Why a run waits until a person has confirmed which tenant its account is. */
export const UNCONFIRMED: readonly string[] = ['IDENTITY_CHANGED', 'IDENTITY_UNCLEAR', 'SERVICE_WENT_BACK'];
/** Why a run does not continue while its account is another tenant. */
export const OF_OTHER_TENANT = 'RUN_OF_OTHER_TENANT';

type Stopped = Pick<Run, 'status' | 'errorCode'>;

/** Only a load is paused without an error: until its file is read. */
export function isHalfRead({ status, errorCode }: Stopped): boolean {
  return status === 'paused' && errorCode === undefined;
}

export function isUnconfirmed({ status, errorCode = '' }: Stopped): boolean {
  return status === 'paused' && UNCONFIRMED.includes(errorCode);
}

export function isOfOtherTenant({ status, errorCode }: Stopped): boolean {
  return status === 'paused' && errorCode === OF_OTHER_TENANT;
}

/**
 * In words, and the command for it. To resume a run that awaits approval would approve it before anyone has seen what it writes;
 * a run whose account or service has changed would pause again.
 */
export function runRemedy(run: Stopped & Pick<Run, 'id' | 'title' | 'account'>): {
  readonly remedy: string;
  readonly command: string;
} {
  const { id, title, account } = run;
  if (awaitsApproval(run))
    return { remedy: 'See what that run would write, and approve or decline it', command: `runs show ${id}` };
  if (isUnconfirmed(run)) return { remedy: 'See what to confirm about its account', command: `runs show ${id}` };
  if (run.errorCode === 'DIALECT_DRIFTED')
    return { remedy: 'See what to check at its service first', command: `runs show ${id}` };
  if (isOfOtherTenant(run)) return { remedy: 'Cancel that run', command: `runs cancel ${id}` };
  if (isHalfRead(run))
    return {
      remedy: 'Load its file again',
      command: `orders load ${shellWord(title)} --account ${shellWord(account)}`,
    };
  return { remedy: 'Resume that run', command: `runs resume ${id}` };
}
