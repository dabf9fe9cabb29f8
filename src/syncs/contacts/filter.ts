/** Which contacts a sync imports: its `where`. Upper and lower case, and spaces around, make no difference. */
import type { JsonObject } from '../../client/call/json.ts';
import type { ContactField } from '../../settings/contact-fields.ts';
import type { Condition, ContactFilter } from '../../settings/contact-filter.ts';
import { contactText } from '../customers/keys.ts';

type Test = (contact: JsonObject) => boolean;

/** Whether all conditions hold for a contact. */
export function selectorOf(filter: ContactFilter): Test {
  // Safe: the schema knows these names only.
  const fields = Object.keys(filter) as ContactField[];
  const tests = fields.flatMap((field): readonly Test[] => {
    const condition = filter[field];
    if (condition === undefined) return [];
    const holds = testOf(condition);
    return [(contact) => holds(comparable(contactText(contact, field)))];
  });
  return (contact) => tests.every((test) => test(contact));
}

function testOf(condition: Condition): (value: string) => boolean {
  if (typeof condition !== 'object' || Array.isArray(condition)) return isOneOf(condition);
  if (condition.present !== undefined) return (value) => (value !== '') === condition.present;
  const isExcluded = isOneOf(condition.not ?? []);
  return (value) => !isExcluded(value);
}

type Values = Extract<Condition, string | boolean | readonly unknown[]>;

function isOneOf(values: Values): (value: string) => boolean {
  const wanted = new Set([values].flat().map((one) => comparable(String(one))));
  return (value) => wanted.has(value);
}

function comparable(text: string): string {
  return text.normalize('NFC').trim().toLowerCase();
}
