/**
 * The token of a target: one of the settings, or one that the vendor issues for a while. An issued token is shared by all
 * processes and replaced before it expires, by one of them.
 */
import { z } from 'zod';
import type { CallContext, TargetFailure } from '../../../contract/target.ts';
import type { SecretRef } from '../../../settings/fields.ts';
import { jsonOf } from './json.ts';
import { type KeptSecrets, sealed, unsealed } from './kept-secrets.ts';
import { secretUnread } from './secret-unread.ts';

export interface TokenSource {
  /** The token for a call, or why there is none now. */
  read(context: CallContext): Promise<string | TargetFailure>;
  /** Another token, after the vendor refused this one; undefined if there is no other. */
  renew(refused: string, context: CallContext): Promise<string | TargetFailure | undefined>;
}

export interface IssuedToken {
  readonly token: string;
  readonly expiresAt: Date;
  /** Replaces the one that was used: some vendors accept each refresh token once. */
  readonly refreshToken?: string | undefined;
}

/** How a vendor issues tokens. */
export interface Grant {
  /** The secret of the settings that proves who asks. The token is stored encrypted with it. */
  secret(): Promise<string>;
  /** `refreshToken`: the last one that the vendor gave. */
  issue(
    secret: string,
    refreshToken: string | undefined,
    context: CallContext,
  ): Promise<{ readonly status: 'ok'; readonly value: IssuedToken } | TargetFailure>;
}

/** A token is replaced so long before it expires: a call may wait for the budget. */
const EARLY_MS = 5 * 60_000;
/** A refused token that is younger than this is not replaced: the vendor refuses the app and not the token. */
const YOUNG_MS = 60_000;

const NO_TOKEN: TokenSource = { read: async () => '', renew: async () => undefined };

/** The token of the settings, read at each use. */
export function tokenFrom(ref: SecretRef | undefined, readSecret: (ref: SecretRef) => Promise<string>): TokenSource {
  if (ref === undefined) return NO_TOKEN;
  return { ...NO_TOKEN, read: () => readSecret(ref).catch(secretUnread) };
}

const stored = z.object({
  token: z.string(),
  refreshToken: z.string().optional(),
  issuedAt: z.coerce.date(),
  expiresAt: z.coerce.date(),
});
type Stored = z.output<typeof stored>;

/** Tokens of this grant, kept for all processes. */
export function issuedTokens(grant: Grant, kept: KeptSecrets, now: () => Date): TokenSource {
  let known: Stored | undefined;
  let asking: Promise<string | TargetFailure> | undefined;

  function isFresh({ issuedAt, expiresAt }: Stored): boolean {
    const lifeMs = expiresAt.getTime() - issuedAt.getTime();
    return expiresAt.getTime() - now().getTime() > Math.min(EARLY_MS, lifeMs / 2);
  }

  async function readKept(secret: string): Promise<Stored | undefined> {
    const found = await kept.read('token');
    const text = found && unsealed(found.sealed, secret, 'token');
    return text === undefined ? undefined : stored.safeParse(jsonOf(text)).data;
  }

  /** Asked for by this process once at a time. `isGood`: whether a token that another process was given will do. */
  async function obtain(isGood: (token: Stored) => boolean, context: CallContext): Promise<string | TargetFailure> {
    const secret = await grant.secret().catch(secretUnread);
    if (typeof secret !== 'string') return secret;
    return kept.alone(async () => {
      const before = await readKept(secret);
      if (before !== undefined && isGood(before)) known = before;
      else {
        const issued = await grant.issue(secret, before?.refreshToken, context);
        if (issued.status !== 'ok') return issued;
        const { token, expiresAt, refreshToken = before?.refreshToken } = issued.value;
        known = { token, expiresAt, refreshToken, issuedAt: now() };
        await kept.write('token', { sealed: sealed(JSON.stringify(known), secret, 'token'), expiresAt });
      }
      return known.token;
    });
  }

  function once(isGood: (token: Stored) => boolean, context: CallContext): Promise<string | TargetFailure> {
    asking ??= obtain(isGood, context).finally(() => {
      asking = undefined;
    });
    return asking;
  }

  return {
    async read(context) {
      return known !== undefined && isFresh(known) ? known.token : once(isFresh, context);
    },
    async renew(refused, context) {
      const isNewer = (other: Stored) => other.token !== refused && isFresh(other);
      if (known !== undefined && isNewer(known)) return known.token;
      if (known !== undefined && now().getTime() - known.issuedAt.getTime() < YOUNG_MS) return undefined;
      return once(isNewer, context);
    },
  };
}
