/** Lists of contacts whose names are in a member that Lockstep does not know. */
import { isJsonObject } from '../../client/call/dialect.ts';
import { type Json, textOf } from '../../client/call/json.ts';
import { plain } from '../../client/call/record-form.ts';
import { MEMBER_NAMES } from '../../contract/member-names.ts';
import type { Account } from '../../engine/account/account.ts';
import { RunFailed } from '../../engine/account/failure.ts';
import { contactText } from '../customers/keys.ts';

interface Found {
  readonly field: 'first_name' | 'last_name';
  readonly member: string;
  readonly text: string;
}

/**
 * Notices lists of which no contact has a name, though an object in a contact has one: its customers would have none. A name
 * that all of them share is not theirs, such as the owner's.
 */
export class UnreadNames {
  readonly #account: Account;
  #isSettled: boolean;
  #found: Found | undefined;
  #differ = false;

  constructor(account: Account) {
    this.#account = account;
    const set = account.dialect.members.contacts;
    this.#isSettled = ['first_name', 'last_name', 'full_name'].some((field) => Object.hasOwn(set, field));
  }

  note(records: readonly Json[]): void {
    this.#isSettled ||= records.some((record) => isJsonObject(record) && contactText(record, 'full_name') !== '');
    for (const record of this.#isSettled || this.#differ ? [] : records) {
      const found = nameWithin(record);
      this.#found ??= found;
      this.#differ ||= found?.member === this.#found?.member && found?.text !== this.#found?.text;
    }
  }

  /** @throws RunFailed SERVICE_UNREADABLE */
  check(): void {
    if (this.#isSettled || this.#found === undefined || !this.#differ) return;
    const { field, member } = this.#found;
    const setting = `accounts.${this.#account.name}.dialect.members.contacts`;
    throw new RunFailed(
      'SERVICE_UNREADABLE',
      `The service of account "${this.#account.name}" lists contacts whose names are not in a member that Lockstep knows, but "${member}" ` +
        `holds a name. Set ${setting}.${field} to ${member}, and the other part of the name likewise. If it is not the name of the ` +
        `contact, set ${setting}.${field} to ${field}.`,
    );
  }
}

const NAMES: Readonly<Record<string, readonly string[]>> = MEMBER_NAMES.contacts;
const FIELDS = new Map(
  (['first_name', 'last_name'] as const).flatMap((field) =>
    [field, ...(NAMES[field] ?? [])].map((name) => [plain(name), field] as const),
  ),
);

/** The first member of an object in the record that holds the first or last name of a person. */
function nameWithin(record: Json, path = ''): Found | undefined {
  if (!isJsonObject(record)) return undefined;
  for (const [name, value] of Object.entries<Json>(record)) {
    const field = path === '' ? undefined : FIELDS.get(plain(name));
    const found =
      field !== undefined && textOf(value) !== '' ? { field, member: path + name, text: textOf(value) } : undefined;
    const within = found ?? nameWithin(value, `${path}${name}.`);
    if (within !== undefined) return within;
  }
  return undefined;
}
