/**
 * Webhooks of Asana: a task whose completion has changed. developers.asana.com/docs/webhooks-guide: a hook begins with a
 * handshake, a call with a secret that the answer repeats. The calls after it are signed with that secret. They name tasks and
 * not their states.
 */
import { z } from 'zod';
import { LockstepError } from '../../../base/errors.ts';
import type { HookVerdict, Target } from '../../../contract/target.ts';
import type { SettingsOf } from '../../../settings/schema-target.ts';
import { jsonOf } from '../calls/call-answers.ts';
import { type KeptSecrets, unsealed } from '../calls/kept-secrets.ts';
import { refused, verifyBodyDigest } from '../calls/signature.ts';
import type { TargetNeeds } from '../items/item-calls.ts';
import { eventTime, type Hook, hookReader } from '../items/item-hook.ts';

export const HANDSHAKE = 'x-hook-secret';

const event = z.object({
  action: z.string(),
  resource: z.object({ gid: z.string().min(1), resource_type: z.string() }),
  change: z.object({ field: z.string() }).nullish(),
  created_at: eventTime,
});
/** An event that is unlike the others stops none of them. */
const payload = z.object({ events: z.array(event.optional().catch(undefined)) });
type Event = z.output<typeof event>;

const asanaHook: Hook<z.output<typeof payload>> = {
  payload,
  verify: (request, secrets) => verifyBodyDigest(request, secrets, { header: 'x-hook-signature', prefix: '' }),
  // An empty list is a sign of life.
  happenedAt({ events }) {
    const times = events.flatMap((each) => each?.created_at?.getTime() ?? []);
    return times.length === 0 ? undefined : new Date(Math.max(...times));
  },
  itemsOf({ events }) {
    const ids = events.flatMap((each) => (each !== undefined && isCompletion(each) ? [each.resource.gid] : []));
    return [...new Set(ids)].map((itemId) => ({ itemId, isCompleted: undefined, status: 'changed' }));
  },
};

function isCompletion({ action, resource, change }: Event): boolean {
  return action === 'changed' && resource.resource_type === 'task' && change?.field === 'completed';
}

/** Answers a handshake only if a person has just asked for a hook: the command that asked keeps the secret. */
export function asanaHookReader(settings: SettingsOf<'asana'>, needs: TargetNeeds): NonNullable<Target['readHook']> {
  const { hookSecret } = settings;
  const { kept } = needs;
  return async (request, now): Promise<HookVerdict> => {
    if (kept === undefined || hookSecret === undefined)
      return refused('this target accepts no calls: set its hookSecret in the settings');
    const offered = request.headers[HANDSHAKE];
    if (offered !== undefined) return shaken(offered, kept, now);
    const read = hookReader(asanaHook, settings, {
      ...needs,
      async readSecret(ref) {
        return keptHookSecret(kept, await needs.readSecret(ref), `targets.${settings.name}`);
      },
    });
    return read(request, now);
  };
}

async function shaken(offered: string, kept: KeptSecrets, now: Date): Promise<HookVerdict> {
  const until = (await kept.read('handshake'))?.expiresAt;
  if (until === undefined || until <= now) return refused('a handshake that Lockstep has not requested');
  if (!/^[\w-]{16,256}$/.test(offered)) return refused(`the header ${HANDSHAKE} is not a secret of Asana`);
  return { status: 'accepted', items: [], headers: { [HANDSHAKE]: offered } };
}

async function keptHookSecret(kept: KeptSecrets, secret: string, where: string): Promise<string> {
  const known = await readKeptHook(kept, secret);
  if (known !== undefined) return known.secret;
  throw new LockstepError(
    'HOOK_SECRET_UNKNOWN',
    `The secret of the webhook of ${where} is not known, or was stored with another hookSecret: set the webhook up again with \`lockstep targets hook\``,
  );
}

const keptHook = z.object({ id: z.string(), secret: z.string() });

/** The one hook whose calls are accepted; undefined if none is kept, or if it was stored with another `secret`. */
export async function readKeptHook(kept: KeptSecrets, secret: string): Promise<z.output<typeof keptHook> | undefined> {
  const found = await kept.read('hook');
  const text = found && unsealed(found.sealed, secret, 'hook');
  return text === undefined ? undefined : keptHook.safeParse(jsonOf(text)).data;
}
