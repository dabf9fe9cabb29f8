/**
 * The token of a target: one of the settings, or one that the vendor issues for a while. An issued token is shared by all
 * processes and replaced before it expires, by one of them.
 */
import { z } from 'zod';
import type { TargetFailure } from '../../../contract/target.ts';
import type { SecretRef } from '../../../settings/fields.ts';
import { jsonOf } from './call-answers.ts';
import { type KeptSecrets, sealed, unsealed } from './kept-secrets.ts';
import { secretUnread } from './secret-unread.ts';

export interface TokenSource {
  /** The token for a call, or why there is none now. */
  read(): Promise<string | TargetFailure>;
  /** Another token, after the vendor refused this one; undefined if there is no other. */
  renew(refused: string): Promise<string | TargetFailure | undefined>;
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
  /** `refreshToken`: the last one that the vendor gave; it may be used up, so the call ends only with its answer. */
  issue(
    secret: string,
    refreshToken: string | undefined,
  ): Promise<{ readonly status: 'ok'; readonly value: IssuedToken } | TargetFailure>;
}

/** A token is replaced this long before it expires, because a call may wait for the budget. */
const EARLY_MS = 5 * 60_000;
/** It may take this long until all servers of a vendor know a new token. */
const NEW_MS = 60_000;
/** A refused token that replaced another refused one less than this ago is not replaced: the vendor refuses the app and not the token. */
const YOUNG_MS = 3 * 60_000;
/** While a vendor issues no token, one that is valid for longer than this is used: a call with it ends before. */
const VALID_MS = 60_000;
/** How soon it is asked again then. */
const AGAIN_MS = 30_000;
/** How soon a new token that was refused is tried again. */
const TRY_AGAIN_MS = 5_000;

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
  isReplacement: z.boolean().default(false),
  /** The vendor refuses it: once a person has enabled the target, another one is asked for. */
  isRefused: z.boolean().default(false),
});
type Stored = z.output<typeof stored>;

/** Tokens of this grant, kept for all processes. */
export function issuedTokens(grant: Grant, kept: KeptSecrets, now: () => Date): TokenSource {
  return new IssuedTokens(grant, kept, now);
}

class IssuedTokens implements TokenSource {
  readonly #grant: Grant;
  readonly #kept: KeptSecrets;
  readonly #now: () => Date;
  #known: Stored | undefined;
  /** Issued, but the ledger has not stored it: its refresh token is the only one that the vendor still accepts. */
  #unsaved: { readonly token: Stored; readonly secret: string; readonly replaces: string | undefined } | undefined;
  #asking: Promise<string | TargetFailure> | undefined;
  /** When the vendor last failed to issue a token that was not needed yet. */
  #failedAtMs = Number.NEGATIVE_INFINITY;

  constructor(grant: Grant, kept: KeptSecrets, now: () => Date) {
    this.#grant = grant;
    this.#kept = kept;
    this.#now = now;
  }

  async read(): Promise<string | TargetFailure> {
    const known = this.#known;
    const hasJustFailed = Math.abs(this.#now().getTime() - this.#failedAtMs) < AGAIN_MS;
    if (known !== undefined && (this.#isFresh(known) || (hasJustFailed && this.#isValid(known)))) return known.token;
    return this.#once((token) => this.#isFresh(token));
  }

  async renew(refused: string): Promise<string | TargetFailure | undefined> {
    const known = this.#known;
    const isNewer = (other: Stored) => other.token !== refused && this.#isFresh(other);
    if (known !== undefined && isNewer(known)) return known.token;
    const ageMs = known === undefined ? YOUNG_MS : this.#ageOf(known);
    // One that replaces no other may have been withdrawn meanwhile, and is replaced soon.
    if (ageMs < (known?.isReplacement ? NEW_MS : TRY_AGAIN_MS)) {
      const detail = 'the vendor does not accept its new token yet';
      return { status: 'later', reason: 'TOKEN_REFUSED', detail, retryAfterMs: TRY_AGAIN_MS, isLimited: true };
    }
    if (!known?.isReplacement || ageMs >= YOUNG_MS) return this.#once(isNewer, true);
    if (!known.isRefused) await this.#giveUp(known);
    return undefined;
  }

  #isFresh({ issuedAt, expiresAt, isRefused }: Stored): boolean {
    const lifeMs = expiresAt.getTime() - issuedAt.getTime();
    return !isRefused && expiresAt.getTime() - this.#now().getTime() > Math.min(EARLY_MS, lifeMs / 2);
  }

  #isValid({ expiresAt, isRefused }: Stored): boolean {
    return !isRefused && expiresAt.getTime() - this.#now().getTime() > VALID_MS;
  }

  /** A token from the future was issued while the clock was ahead: its age is unknown, and it counts as old. */
  #ageOf({ issuedAt }: Stored): number {
    const ms = this.#now().getTime() - issuedAt.getTime();
    return ms < 0 ? YOUNG_MS : ms;
  }

  #once(isGood: (token: Stored) => boolean, isReplacement = false): Promise<string | TargetFailure> {
    this.#asking ??= this.#obtain(isGood, isReplacement).finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  /** Asked for by this process once at a time. `isGood`: whether a token that another process was given will do. */
  async #obtain(isGood: (token: Stored) => boolean, isReplacement: boolean): Promise<string | TargetFailure> {
    const secret = await this.#grant.secret().catch(secretUnread);
    if (typeof secret !== 'string') return secret;
    const held = await this.#kept.alone(async (own) => {
      const before = await this.#readKept(own, secret);
      const isKept = before !== undefined && isGood(before);
      const token = isKept ? before : await this.#issueIfNeeded(secret, before, isReplacement);
      if (token === this.#unsaved?.token) await save(own, this.#unsaved.token, secret);
      return token;
    });
    if ('status' in held) return held;
    this.#unsaved = undefined;
    this.#known = held;
    return held.token;
  }

  async #readKept(from: KeptSecrets, secret: string): Promise<Stored | undefined> {
    const found = await from.read('token');
    const text = found && unsealed(found.sealed, secret, 'token');
    const before = text === undefined ? undefined : stored.safeParse(jsonOf(text)).data;
    const unsaved = this.#unsaved;
    const isReplaced = unsaved?.secret === secret && (before === undefined || before.token === unsaved.replaces);
    return isReplaced ? unsaved.token : before;
  }

  /** A new token. If the vendor issues none now, the one before as long as it is valid. */
  async #issueIfNeeded(
    secret: string,
    before: Stored | undefined,
    wasRefused: boolean,
  ): Promise<Stored | TargetFailure> {
    const issued = await this.#issue(secret, before, wasRefused);
    const hasFailed = 'status' in issued && issued.status === 'later';
    if (!hasFailed || wasRefused || before === undefined || !this.#isValid(before)) return issued;
    this.#failedAtMs = this.#now().getTime();
    return before;
  }

  async #issue(secret: string, before: Stored | undefined, wasRefused: boolean): Promise<Stored | TargetFailure> {
    const refreshToken = before?.refreshToken;
    const issued = await this.#grant.issue(secret, refreshToken);
    if (issued.status !== 'ok') return issued;
    const isReplacement = wasRefused || before?.isRefused === true;
    const token = { refreshToken, ...issued.value, issuedAt: this.#now(), isReplacement, isRefused: false };
    // If it replaces a token that was not stored, the ledger still has the one before that.
    const unsaved = this.#unsaved;
    const replaces = unsaved !== undefined && unsaved.token === before ? unsaved.replaces : before?.token;
    this.#unsaved = { token, secret, replaces };
    return token;
  }

  /** Keeps for all processes that the vendor refuses this token, unless it was replaced. */
  async #giveUp(token: Stored): Promise<void> {
    this.#known = { ...token, isRefused: true };
    const secret = await this.#grant.secret().catch(secretUnread);
    if (typeof secret !== 'string') return;
    await this.#kept.alone(async (own) => {
      const before = await this.#readKept(own, secret);
      if (before?.token === token.token) await save(own, { ...before, isRefused: true }, secret);
    });
  }
}

function save(own: KeptSecrets, token: Stored, secret: string): Promise<void> {
  return own.write('token', { sealed: sealed(JSON.stringify(token), secret, 'token'), expiresAt: token.expiresAt });
}
