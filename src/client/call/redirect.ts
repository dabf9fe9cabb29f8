/**
 * What a redirect says about the address of a service. None is followed, because the key was given for one address. But a
 * service that only wants a slash at the end of each path says so by redirecting to the same address. Pure.
 */
import { PREFIXES } from '../../contract/operation.ts';
import { type OperationName, operations } from '../../contract/operations.ts';

export interface Redirect {
  /** The target without the query, which may contain secrets, and what to do. */
  readonly words: string;
  /** The target is the same address with a slash at the end. */
  readonly wantsSlash: boolean;
}

/** `called`: the URL without ids and query. */
export function redirectOf(operation: OperationName, called: string, location = ''): Redirect {
  const target = location.split(/[?#]/, 1)[0] ?? '';
  const there = URL.canParse(target, called) ? baseOf(operation, new URL(target, called)) : undefined;
  const isOwn = there === undefined || target === '' || there === baseOf(operation, new URL(called));
  const to = target === '' ? '' : ` to ${target}`;
  const remedy = isOwn ? 'check the base URL' : `set the account’s url to ${there}`;
  return {
    words: `a redirect${to}, and redirects are not followed: ${remedy}`,
    wantsSlash: isOwn && there !== undefined && target.endsWith('/'),
  };
}

/** The base URL of an operation's address; undefined if the address is not one of this operation. */
function baseOf(operation: OperationName, { origin, pathname }: URL): string | undefined {
  const steps = operations[operation].path.replace(/\{\w+\}/g, '[^/]+');
  const before = new RegExp(`^(.*?)(?:${PREFIXES.join('|')})?${steps}/?$`).exec(pathname)?.[1];
  return before === undefined ? undefined : `${origin}${before}`;
}
