/**
 * What a contact sync remembers of unchanged contacts, and which customers it needs. It keeps only hashes, about 60 bytes per
 * contact. If two hashes collide, it keeps a customer too many, never one too few.
 */
import { KeyFilter } from '../../client/lists/key-filter.ts';
import { SeenIds } from '../../client/lists/seen-ids.ts';
import type { SeenCustomer } from '../../engine/ledger/match-index.ts';
import type { ContactLink, KnownCustomer } from '../../engine/ledger/matching/contact-links.ts';
import type { Sightings } from '../../engine/ledger/matching/recall-contacts.ts';
import type { ContactsLeftOut } from '../../engine/ledger/runs.ts';
import type { MatchKey } from '../../settings/schema-sync.ts';
import type { Keys } from '../customers/keys.ts';

/** Passes of `#linked`: the customer a link names, and the same once it was in the list. */
const [LINKED, LISTED] = [0, 1];

/** If a name is the only key, the organization has to be the same too. */
const NAMED = 'name ';

export class ContactSightings implements Sightings {
  /** All contacts of the scan. */
  readonly contacts = new SeenIds();
  /** Contacts that the filter of the sync leaves out, or that are deleted. For the decision they do not exist; their links stay. */
  readonly #leftOut = new SeenIds();
  #leftOutLinked = 0;
  deleted = 0;
  /** Customers of unchanged contacts, by what their links know of them. */
  readonly #linked = new SeenIds();
  #listed = 0;
  /** Keys of unchanged contacts, and of those that are rows. */
  readonly #unchangedKeys = new KeyFilter();
  readonly #rowKeys = new KeyFilter();
  readonly #matchBy: readonly MatchKey[];
  lastN = 0;
  linked = 0;

  constructor(matchBy: readonly MatchKey[]) {
    this.#matchBy = matchBy.filter((key) => key !== 'name');
  }

  get unchanged(): number {
    return this.#linked.size;
  }

  get lost(): number {
    return this.#linked.size - this.#listed;
  }

  /** How many contacts the filter leaves out, and how many of these are linked with a customer. Others are deleted. */
  get leftOut(): ContactsLeftOut {
    return { contacts: this.#leftOut.size - this.deleted, linked: this.#leftOutLinked };
  }

  hasContact = (id: string): boolean => this.contacts.has(id) && !this.#leftOut.has(id);

  isInList = (id: string): boolean => this.contacts.has(id);

  isLost = (customer: string): boolean => this.#linked.sighting(customer)?.pass === LINKED;

  noteRow(contact: Keys & { readonly id: string }, link: ContactLink | undefined): void {
    this.#rowKeys.add(`contact ${contact.id}`);
    if (link) this.#rowKeys.add(`customer ${link.customer}`);
    for (const key of this.#keysOf(contact)) this.#rowKeys.add(key);
  }

  noteLeftOut({ id, isDeleted }: { readonly id: string; readonly isDeleted: boolean }, isLinked: boolean): void {
    this.#leftOut.note(id, 0);
    if (isDeleted) this.deleted++;
    else if (isLinked) this.#leftOutLinked++;
  }

  /** A person has chosen this customer for a contact. */
  noteChosen(customer: string): void {
    this.#rowKeys.add(`customer ${customer}`);
  }

  noteUnchanged(contact: Keys, customer: string, known: KnownCustomer): void {
    this.#linked.note(customer, LINKED, textOf(known));
    for (const key of this.#keysOf(contact)) this.#unchangedKeys.add(key);
  }

  /** Whether a customer of the list has to be examined: all others belong to unchanged contacts, or to no contact. */
  wants(customer: SeenCustomer): boolean {
    const { recordId, contactId } = customer;
    const keys = keyTexts(customer);
    const known = textOf({ ...customer, contact: contactId });
    const link = this.#linked.sighting(recordId, known);
    if (link) {
      if (link.pass === LINKED) this.#listed++;
      this.#linked.note(recordId, LISTED, known);
      if (!link.isSame) return true;
    } else if (contactId !== undefined && this.hasContact(contactId)) return true;
    const concernsRow =
      this.#rowKeys.has(`customer ${recordId}`) ||
      (contactId !== undefined && this.#rowKeys.has(`contact ${contactId}`)) ||
      keys.some((key) => this.#rowKeys.has(key));
    return concernsRow || (!link && keys.some((key) => this.#unchangedKeys.has(key)));
  }

  /** A contact is recognised by its name only if it has none of the other keys. */
  #keysOf(contact: Keys): readonly string[] {
    const isNamed = this.#matchBy.every((key) => key === 'name' || contact[key] === undefined);
    return keyTexts(contact).filter((text) => isNamed || !text.startsWith(NAMED));
  }
}

function keyTexts({ email, phone, name, org }: Keys): readonly string[] {
  return [
    ...(email === undefined ? [] : [`email ${email}`]),
    ...(phone === undefined ? [] : [`phone ${phone}`]),
    ...(name === undefined ? [] : [NAMED + JSON.stringify([name, org ?? ''])]),
  ];
}

type Known = { readonly [K in keyof Required<KnownCustomer>]?: string | undefined };

function textOf({ email, phone, name, org, contact }: Known): string {
  return JSON.stringify([email, phone, name, org, contact].map((value) => value ?? null));
}
