/** Addresses that are secrets: the caller for one that is read at each call, and what of it no answer may show. */
import type { SecretRef } from '../../../settings/fields.ts';
import type { TargetNeeds } from '../items/item-calls.ts';
import type { TargetCaller } from './caller.ts';
import { openedAt } from './opened-at.ts';
import { secretUnread } from './secret-unread.ts';

/** A caller for the address that the secret has at each call. Requests have an empty path. */
export function callerAtSecret(
  ref: SecretRef,
  readSecret: TargetNeeds['readSecret'],
  openAt: (baseUrl: string) => TargetCaller,
): TargetCaller {
  const callers = openedAt(openAt, (caller) => caller.close());
  return {
    async send(request, context, limitOf) {
      const url = await readSecret(ref).catch(secretUnread);
      if (typeof url !== 'string') return { status: 'failed', failure: url };
      if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
        const detail = `${ref.where} is not an address that starts with https://`;
        return { status: 'failed', failure: { status: 'later', reason: 'URL_INVALID', detail } };
      }
      return callers.at(url).send({ ...request, secrets: partsOf(url) }, context, limitOf);
    },
    close: () => callers.close(),
  };
}

/** Every part of the URL that may be a secret: the contents of its path and its query, encoded and decoded. */
export function partsOf(url: string): string[] {
  const { pathname, search, searchParams } = new URL(url);
  const encoded = [`${pathname}${search}`, ...pathname.split('/'), ...search.slice(1).split(/[&=]/)];
  return [...encoded, ...pathname.split('/').map(decoded), ...searchParams.values()];
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // a lone % is allowed in a URL
  }
}
