/** Which contacts a sync imports: its `where`. */
import { testOf } from '../../base/condition.ts';
import type { JsonObject } from '../../client/call/json.ts';
import type { ContactField } from '../../settings/contact-fields.ts';
import type { ContactFilter } from '../../settings/contact-filter.ts';
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
    return [(contact) => holds(contactText(contact, field))];
  });
  return (contact) => tests.every((test) => test(contact));
}
