/** Who uses the console: people with a password, programs with a token, or anyone on this machine if there is no password. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { wrongUse } from '../../base/errors.ts';
import { endSession, keepSession, readSession } from '../../engine/ledger/console/console-sessions.ts';
import type { SecretRef } from '../../settings/fields.ts';
import { type ConsoleRole, OPERATOR } from '../../settings/schema-console.ts';
import type { ConsoleSettings } from '../../settings/settings.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { isPassword } from './passwords.ts';

export interface Person {
  readonly name: string;
  readonly role: ConsoleRole;
}

/** How long a person stays signed in. */
export const SESSION_MS = 12 * 60 * 60 * 1000;
const TOKEN_BYTES = 32;
const MIN_TOKEN = 20;

export interface People {
  /** Whether anyone on this machine is the operator, because the settings have no password. */
  readonly isOpen: boolean;
  /** Whether there is more than one name to sign in with. */
  readonly hasNames: boolean;
  /** Reads every secret once. @throws LockstepError SECRET_MISSING, CONSOLE_TOKEN_SHORT */
  check(): Promise<void>;
  /** The person if the password is right. */
  signIn(name: string, password: string): Promise<{ readonly person: Person; readonly cookie: string } | undefined>;
  signOut(cookie: string): Promise<void>;
  ofCookie(cookie: string): Promise<Person | undefined>;
  ofToken(token: string): Promise<Person | undefined>;
}

export interface PeopleNeeds {
  readonly db: Queryable;
  readonly settings: Pick<ConsoleSettings, 'users' | 'tokens'>;
  readonly readSecret: (ref: SecretRef) => Promise<string>;
}

export function createPeople({ db, settings: { users, tokens }, readSecret }: PeopleNeeds): People {
  const names = Object.keys(users);
  return {
    isOpen: names.length === 0,
    hasNames: names.length > 1 || (names.length === 1 && users[OPERATOR] === undefined),
    async check() {
      for (const { password } of Object.values(users)) await readSecret(password);
      for (const { token } of Object.values(tokens)) {
        if ((await readSecret(token)).length >= MIN_TOKEN) continue;
        const message = `${token.where} is shorter than ${MIN_TOKEN} characters: anyone could guess it. Make a longer one, for example with: openssl rand -hex 24`;
        throw wrongUse(message, 'CONSOLE_TOKEN_SHORT');
      }
    },
    async signIn(name, password) {
      const user = users[name];
      // An unknown name takes as long as a wrong password.
      const kept = user ? await readSecret(user.password) : '';
      const isRight = await isPassword(password, kept);
      if (!user || !isRight) return undefined;
      const token = randomBytes(TOKEN_BYTES).toString('base64url');
      await keepSession(db, idOf(token), { who: name, proof: proofOf(token, kept) }, SESSION_MS);
      return { person: { name, role: user.role }, cookie: token };
    },
    signOut: (cookie) => endSession(db, idOf(cookie)),
    async ofCookie(cookie) {
      const session = await readSession(db, idOf(cookie));
      const user = session && users[session.who];
      if (!session || !user) return undefined;
      const proof = proofOf(cookie, await readSecret(user.password));
      return timingSafeEqual(proof, session.proof) ? { name: session.who, role: user.role } : undefined;
    },
    async ofToken(token) {
      for (const [name, one] of Object.entries(tokens)) {
        if (timingSafeEqual(idOf(token), idOf(await readSecret(one.token)))) return { name, role: one.role };
      }
      return undefined;
    },
  };
}

function idOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/** Only the holder of the token can make it, so a copy of the database helps no one to guess the password. */
function proofOf(token: string, password: string): Buffer {
  return createHmac('sha256', token).update(password).digest();
}
