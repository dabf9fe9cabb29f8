/** Webhooks of targets at their vendors: listed, set up once for each address, and removed. */
import type pg from 'pg';
import { LockstepError, wrongUse } from '../base/errors.ts';
import type { CallContext, HookAdmin, OutsideHook, TargetFailure } from '../contract/target.ts';
import { alone } from '../storage/transaction.ts';

export interface HookWish {
  readonly target: string;
  /** The address to call; undefined with `isRemoval`: every address of the target. */
  readonly url: string | undefined;
  readonly isRemoval: boolean;
  /** Replace the hook and its secret. */
  readonly isRenewal: boolean;
  readonly dryRun: boolean;
}

export interface HookStep {
  readonly action: 'created' | 'updated' | 'replaced' | 'removed';
  readonly url: string;
}

/** The address of the target's calls at `base`, which may be that address already. */
export function hookAddress(base: string, target: string): string {
  const url = base.replace(/\/+$/, '');
  return isAddressOf(url, target) ? url : `${url}${pathOf(target)}`;
}

/** The hooks at the vendor that call this target here or elsewhere. @throws LockstepError HOOK_FAILED */
export async function listHooks(
  admin: HookAdmin,
  target: string,
  context: CallContext,
): Promise<readonly OutsideHook[]> {
  const hooks = await done(target, admin.list(context));
  return hooks.filter(({ url }) => isAddressOf(url, target));
}

/**
 * Does what is wished. Of several calls for one target at the database of `pool`, one at a time looks and acts, so that no
 * two of them make a webhook each. @throws LockstepError HOOK_FAILED, HOOK_UNKNOWN (nothing to remove)
 */
export function arrangeHook(
  admin: HookAdmin,
  pool: pg.Pool,
  wish: HookWish,
  context: CallContext,
): Promise<readonly HookStep[]> {
  return alone(pool, `lockstep hook of ${wish.target}`, () => arrangeAlone(admin, wish, context));
}

async function arrangeAlone(admin: HookAdmin, wish: HookWish, context: CallContext): Promise<readonly HookStep[]> {
  const { target, url, isRemoval, isRenewal, dryRun } = wish;
  const there = await listHooks(admin, target, context);
  const meant = there.filter((hook) => url === undefined || isSameAddress(hook.url, url));
  const remove = async (hook: OutsideHook) => {
    if (!dryRun) await done(target, admin.remove(hook, context));
  };
  if (isRemoval) {
    if (meant.length === 0) throw unknownHook(target, url);
    for (const hook of meant) await remove(hook);
    return meant.map((hook) => ({ action: 'removed', url: hook.url }));
  }
  if (url === undefined) throw new TypeError('a hook needs an address');
  const [existing, ...doubled] = meant;
  for (const hook of doubled) await remove(hook);
  if (isRenewal && existing !== undefined) await remove(existing);
  const action = existing === undefined ? 'created' : isRenewal ? 'replaced' : 'updated';
  if (!dryRun) await done(target, admin.put(url, isRenewal ? undefined : existing, context));
  return [{ action, url }, ...doubled.map((one): HookStep => ({ action: 'removed', url: one.url }))];
}

function pathOf(target: string): string {
  return `/hooks/${target}`;
}

/** A vendor keeps an address as a person has entered it: with a slash at its end, or a host in capitals. */
function isSameAddress(one: string, other: string): boolean {
  const [a, b] = [one, other].map((url) => (URL.canParse(url) ? new URL(url).href : url).replace(/\/+$/, ''));
  return a === b;
}

function isAddressOf(url: string, target: string): boolean {
  return URL.canParse(url) && new URL(url).pathname.replace(/\/+$/, '').endsWith(pathOf(target));
}

async function done<T>(
  target: string,
  asking: Promise<{ readonly status: 'ok'; readonly value: T } | TargetFailure>,
): Promise<T> {
  const asked = await asking;
  if (asked.status === 'ok') return asked.value;
  const remedy = asked.status === 'later' ? '. Run the same command again: it looks first at what is there' : '';
  const message = `The webhook of ${target}: ${asked.reason}: ${asked.detail}${remedy}`;
  throw new LockstepError('HOOK_FAILED', message, { exitCode: 3 });
}

function unknownHook(target: string, url: string | undefined): LockstepError {
  const where = url === undefined ? `an address that ends with ${pathOf(target)}` : url;
  const message = `There is no webhook that calls ${where}. List those of the target with: \`lockstep targets hook ${target}\``;
  return wrongUse(message, 'HOOK_UNKNOWN');
}
