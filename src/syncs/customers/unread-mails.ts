/** Lists of people whose records have no member that Lockstep recognises as their e-mail. */
import { isJsonArray, isJsonObject } from '../../client/call/dialect.ts';
import { type Json, textOf } from '../../client/call/json.ts';
import { singular } from '../../contract/kinds.ts';
import type { Account } from '../../engine/account/account.ts';
import { RunFailed } from '../../engine/account/failure.ts';
import type { Keys } from './keys.ts';

/**
 * Notices lists of people whose e-mails are in a member that Lockstep does not know: without them, each person would look new. An
 * address that all of them share is not theirs, such as the owner's.
 */
export class UnreadMails {
  readonly #account: Account;
  readonly #kind: 'contacts' | 'customers';
  #isSettled: boolean;
  #hasKeys = false;
  /** By member, the first address that it holds. */
  readonly #mails = new Map<string, string>();
  /** A member whose addresses differ. */
  #differing: string | undefined;
  /** Whether a record has the field, and says that the person has no e-mail. */
  #isSaid = false;

  constructor(account: Account, kind: 'contacts' | 'customers') {
    this.#account = account;
    this.#kind = kind;
    this.#isSettled = Object.hasOwn(account.dialect.members[kind], 'email');
  }

  /** `records`: the people as the list has them, in the contract's names. */
  note(people: readonly Pick<Keys, 'email' | 'phone' | 'name'>[], records: readonly Json[]): void {
    if (this.#isSettled) return;
    this.#hasKeys ||= people.some(({ email, phone, name }) => (email ?? phone ?? name) !== undefined);
    const mails = records.flatMap((record) =>
      isJsonObject(record) && record.email !== undefined ? [record.email] : [],
    );
    this.#isSettled = mails.some((mail) => MAIL.test(textOf(mail)));
    this.#isSaid ||= mails.some((mail) => mail === null || typeof mail === 'string');
    for (const record of this.#isSettled || this.#differing !== undefined ? [] : records) {
      for (const { member, mail } of mailsIn(record)) {
        if (!this.#mails.has(member)) this.#mails.set(member, mail);
        else if (this.#mails.get(member) !== mail) this.#differing ??= member;
      }
    }
  }

  /** @throws RunFailed SERVICE_UNREADABLE */
  check(): void {
    const [first] = this.#mails.keys();
    const member = this.#differing ?? (this.#hasKeys ? undefined : first);
    if (this.#isSettled || member === undefined || (this.#hasKeys && this.#isSaid)) return;
    const [name, kind] = [this.#account.name, this.#kind];
    const setting = `accounts.${name}.dialect.members.${kind}`;
    throw new RunFailed(
      'SERVICE_UNREADABLE',
      `The service of account "${name}" lists ${kind} without an e-mail${this.#hasKeys ? '' : ', phone or name'} under a name that ` +
        `Lockstep knows, but "${member}" holds an e-mail address. Set ${setting}.email to ${member}, and the members with the name ` +
        `and the phone likewise. If it is not the address of the ${singular(kind)}, set ${setting}.email to email.`,
    );
  }
}

const MAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

/** The e-mail addresses in a record, each with the path of its member. */
function mailsIn(value: Json, path = ''): readonly { readonly member: string; readonly mail: string }[] {
  if (MAIL.test(textOf(value))) return [{ member: path, mail: textOf(value) }];
  if (!isJsonObject(value) && !isJsonArray(value)) return [];
  return Object.entries<Json>(value).flatMap(([name, inner]) => mailsIn(inner, path === '' ? name : `${path}.${name}`));
}
