/** How a target of a vendor is set up and checked: its webhooks, and whether its settings fit what the vendor has. */
import type { CallContext, Finding, HookByHand, OutsideHook, Target, TargetFailure } from '../../../contract/target.ts';
import type { SecretRef } from '../../../settings/fields.ts';
import { secretUnread } from '../calls/secret-unread.ts';
import { failedCheck } from '../findings.ts';
import { type Calls, connect, type Speaker, type TargetNeeds } from './item-calls.ts';
import type { Asked } from './item-target.ts';

export interface VendorAdmin {
  /** Reads only. */
  check(calls: Calls): Promise<readonly Finding[]>;
  readonly hooks?: VendorHooks | HookByHand;
}

export interface VendorHooks {
  /** What a person can do if the vendor does not show or change the hooks. */
  readonly missing: string;
  list(calls: Calls): Promise<Asked<readonly OutsideHook[]>>;
  /** `secret`: that of the settings. */
  put(calls: Calls, url: string, existing: OutsideHook | undefined, secret: string): Promise<Asked<unknown>>;
  remove(calls: Calls, hook: OutsideHook): Promise<Asked<unknown>>;
}

export interface AdminSettings {
  readonly name: string;
  readonly token?: SecretRef | undefined;
  readonly hookSecret?: SecretRef | undefined;
}

export function withAdmin(
  target: Target,
  vendor: Speaker,
  { name, token, hookSecret }: AdminSettings,
  needs: TargetNeeds,
  { check, hooks }: VendorAdmin,
): Target {
  async function calling<T>(context: CallContext, work: (calls: Calls) => Promise<Asked<T>>) {
    const calls = await connect(vendor, token, needs, context);
    return 'status' in calls ? calls : work(calls);
  }

  async function managing<T>(context: CallContext, work: (calls: Calls, by: VendorHooks) => Promise<Asked<T>>) {
    if (hooks === undefined || 'byHand' in hooks) throw new TypeError('these hooks are made by hand');
    const asked = await calling(context, (calls) => work(calls, hooks));
    if (asked.status !== 'missing' && !('reason' in asked && asked.reason === 'NOT_ALLOWED')) return asked;
    const detail = `${asked.detail}; ${hooks.missing}`;
    return { status: 'refused', reason: 'NOT_ALLOWED', detail } satisfies TargetFailure;
  }

  const byApi: Target['hooks'] = {
    list: (context) => managing(context, (calls, by) => by.list(calls)),
    remove: (hook, context) => managing(context, (calls, by) => by.remove(calls, hook)),
    async put(url, existing, context) {
      if (hookSecret === undefined) return noSecret(name);
      const secret = await needs.readSecret(hookSecret).catch(secretUnread);
      if (typeof secret !== 'string') return secret;
      return managing(context, (calls, by) => by.put(calls, url, existing, secret));
    },
  };

  return {
    ...target,
    ...(hooks && { hooks: 'byHand' in hooks ? hooks : byApi }),
    async check(context) {
      const calls = await connect(vendor, token, needs, context);
      return 'status' in calls ? [failedCheck('token', calls, '')] : check(calls);
    },
  };
}

/** For a vendor whose hooks belong to a place that a setting names. `owner`: "a repository of GitHub". */
export function withoutPlace(name: string, setting: string, owner: string): TargetFailure {
  const detail = `targets.${name} has no ${setting}, and a webhook belongs to ${owner}`;
  return { status: 'refused', reason: 'PLACE_MISSING', detail };
}

function noSecret(name: string): TargetFailure {
  const detail = `targets.${name} has no hookSecret: set it to any text of at least 24 bytes, such as openssl rand -hex 32 prints`;
  return { status: 'refused', reason: 'SECRET_MISSING', detail };
}
