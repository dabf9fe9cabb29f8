/** The names of the fields of contacts and customers in settings, and what is said about other names. */
import { z } from 'zod';
import { contactUpdate, customerCreate } from '../contract/records.ts';
import { didYouMean, oneOf, quote } from './message-parts.ts';

/** The fields of a customer that a mapping can write. */
export const CUSTOMER_FIELDS = customerCreate.keyof().options;
export type CustomerField = (typeof CUSTOMER_FIELDS)[number];

/** The fields of a contact that a mapping and a filter can read. */
const CONTACT_FIELDS = ['full_name', ...contactUpdate.keyof().options] as const;
export type ContactField = (typeof CONTACT_FIELDS)[number];

/** Other names that people may try, too different for the suggestion of a similar name. */
const MEANT_OF_CUSTOMER = {
  phone: 'phone_number',
  mobile: 'phone_number',
  name: 'full_name',
  first_name: 'full_name',
  last_name: 'full_name',
  company: 'organization',
  organization_name: 'organization',
  picture: 'picture_url',
};
const MEANT_OF_CONTACT = {
  phone_number: 'phone',
  mobile: 'phone',
  name: 'full_name',
  company: 'organization',
  organization_name: 'organization',
  city: 'address',
  zip: 'zip_code',
};

const unknownName = (kind: string, names: readonly string[], meant: Readonly<Record<string, string>>, name: string) => {
  const known = Object.hasOwn(meant, name) ? `; did you mean ${quote(meant[name] ?? '')}?` : didYouMean(name, names);
  return `no field of a ${kind} is called ${quote(name)}${known === '' ? `: expected ${oneOf(names)}` : known}`;
};

const unknownContactField = (name: string) => unknownName('contact', CONTACT_FIELDS, MEANT_OF_CONTACT, name);

export const customerField = z.enum(CUSTOMER_FIELDS, {
  error: ({ input }) => unknownName('customer', CUSTOMER_FIELDS, MEANT_OF_CUSTOMER, String(input)),
});

export const contactField = z.enum(CONTACT_FIELDS, {
  error: ({ input }) => (typeof input === 'string' ? unknownContactField(input) : undefined),
});

/** What is wrong with a name of a contact's field; undefined if nothing is. */
export function contactFieldProblem(name: string): string | undefined {
  return contactField.safeParse(name).success ? undefined : unknownContactField(name);
}
