/**
 * What a redirect says about the address of a service. None is followed, because the key was given for one address. But a
 * service that only wants a slash at the end of each path, or the other prefix, says so by redirecting to the same address. Pure.
 */
import { PREFIXES, type Prefix } from '../../contract/operation.ts';
import { type OperationName, operations } from '../../contract/operations.ts';

export interface Redirect {
  /** The target without the query, which may contain secrets, and what to do. */
  readonly words: string;
  /** The target is the same address with a slash at the end. */
  readonly wantsSlash: boolean;
  /** The target is the same operation under this other prefix. */
  readonly wantsPrefix?: Prefix;
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Not every 3xx is one: 304 says that nothing has changed. */
export function isRedirect(httpStatus: number): boolean {
  return REDIRECTS.has(httpStatus);
}

/** `called`: the URL without ids and query. */
export function redirectOf(operation: OperationName, called: string, location = ''): Redirect {
  const target = location.split(/[?#]/, 1)[0] ?? '';
  const here = addressOf(operation, new URL(called));
  const there = URL.canParse(target, called) ? addressOf(operation, new URL(target, called)) : undefined;
  const isOwn = there === undefined || target === '' || there.base === here?.base;
  const to = target === '' ? '' : ` to ${target}`;
  const remedy = isOwn ? 'check the base URL' : `set the account’s url to ${there.base}`;
  const isOtherPrefix = isOwn && target !== '' && there?.prefix !== undefined && there.prefix !== here?.prefix;
  const words = (fix: string) => `a redirect${to}, and redirects are not followed: ${fix}`;
  if (isOtherPrefix)
    return {
      words: words(`set the account’s prefix to ${there.prefix}`),
      wantsSlash: false,
      wantsPrefix: there.prefix,
    };
  return { words: words(remedy), wantsSlash: isOwn && there !== undefined && target.endsWith('/') };
}

interface Address {
  readonly base: string;
  readonly prefix: Prefix | undefined;
}

/** The base URL and the prefix of an operation's address; undefined if the address is not one of this operation. */
function addressOf(operation: OperationName, { origin, pathname }: URL): Address | undefined {
  const steps = operations[operation].path.replace(/\{\w+\}/g, '[^/]+');
  const parts = new RegExp(`^(.*?)(${PREFIXES.join('|')})?${steps}/?$`).exec(pathname);
  if (parts === null) return undefined;
  return { base: `${origin}${parts[1]}`, prefix: PREFIXES.find((prefix) => prefix === parts[2]) };
}
