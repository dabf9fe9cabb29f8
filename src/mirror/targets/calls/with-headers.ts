/** A caller that adds the headers of the settings to each call, and shows none of their secrets. */
import type { SecretRef } from '../../../settings/fields.ts';
import type { Headers } from '../../../settings/target-keys.ts';
import type { TargetNeeds } from '../items/item-calls.ts';
import type { TargetCaller } from './caller.ts';
import { secretUnread } from './secret-unread.ts';

/** Shorter parts of a secret, such as Bearer, are not secret and may occur in any answer. */
const MIN_PART_LENGTH = 8;

/** `needs`, with a caller that adds the headers. Secrets are read at each call. */
export function withHeaders<Needs extends TargetNeeds>(needs: Needs, headers: Headers): Needs {
  const { caller, readSecret } = needs;
  if (Object.keys(headers).length === 0) return needs;

  const sending: TargetCaller = {
    async send(request, context, limitOf) {
      const secrets: string[] = [];
      const given: Record<string, string> = {};
      for (const [name, value] of Object.entries(headers)) {
        const read = typeof value === 'string' ? value : await headerOf(value, readSecret, secrets);
        if (typeof read !== 'string') return { status: 'failed', failure: read };
        given[name.toLowerCase()] = read;
      }
      const all = [...(request.secrets ?? []), ...secrets];
      return caller.send({ ...request, headers: { ...given, ...request.headers }, secrets: all }, context, limitOf);
    },
    close: () => caller.close(),
  };
  return { ...needs, caller: sending };
}

/** A secret that cannot be read may be put back while the delivery waits. Adds the secret and its parts to `secrets`. */
async function headerOf(
  ref: SecretRef & { readonly scheme?: string },
  readSecret: TargetNeeds['readSecret'],
  secrets: string[],
) {
  const secret = await readSecret(ref).catch(secretUnread);
  if (typeof secret !== 'string') return secret;
  secrets.push(secret, ...secret.split(/[\s",=]+/).filter(({ length }) => length >= MIN_PART_LENGTH));
  return ref.scheme === undefined ? secret : `${ref.scheme} ${secret}`;
}
