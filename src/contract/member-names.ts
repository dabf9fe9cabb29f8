/**
 * The names under which services return the fields of a record. The contract shows no answer, so each field of the contract is
 * followed by other names that services use for it, in order of preference. Case, `_`, `-` and spaces in a name do not matter.
 */
import { contactUpdate, customerCreate, orderCreate, subtaskCreate, taskFields } from './records.ts';

type Names = Readonly<Record<string, readonly string[]>>;

const PERSON: Names = {
  first_name: ['given name', 'forename', 'first', 'given'],
  last_name: ['family name', 'surname', 'last', 'family'],
  full_name: ['name', 'display name', 'formatted'],
  email: ['email address', 'mail', 'emails', 'email addresses'],
  organization: ['organisation', 'company', 'company name', 'organization name'],
};
const PHONES = ['phone', 'phone number', 'mobile', 'mobile phone', 'telephone', 'phones', 'phone numbers'];
const PLANNED: Names = {
  description: ['details', 'notes'],
  startDate: ['starts at'],
  endDate: ['due date', 'ends at', 'due at'],
};
const COMPLETION: Names = {
  isCompleted: ['completed', 'is complete', 'is done', 'done', 'is closed', 'closed', 'is finished', 'finished'],
  status: ['task status', 'state'],
  completed_at: ['completed on', 'finished at', 'completion date', 'date completed', 'closed at'],
};

/** By kind of records and field. `status` and `completed_at` of a task are read where it has no flag. */
export const MEMBER_NAMES = {
  contacts: {
    ...namesakes(contactUpdate),
    ...PERSON,
    full_name: [...(PERSON.full_name ?? []), 'contact name'],
    phone: PHONES,
  },
  customers: {
    ...namesakes(customerCreate),
    ...PERSON,
    full_name: [...(PERSON.full_name ?? []), 'customer name', 'client name'],
    phone_number: PHONES,
    contact_id: ['contact'],
    tenant_id: [],
  },
  orders: {
    ...namesakes(orderCreate),
    order_id: ['order label', 'label', 'order reference', 'order ref', 'reference', 'ref'],
    client_id: ['client', 'customer id', 'customer', 'order customer id', 'order customer', 'buyer id', 'buyer'],
    amount: ['order amount'],
    status: ['order status'],
  },
  tasks: { ...namesakes(taskFields), taskName: ['title', 'name', 'subject'], ...PLANNED, ...COMPLETION },
  subtasks: {
    ...namesakes(subtaskCreate),
    item_name: ['title', 'name', 'task name', 'subject'],
    ...PLANNED,
    ...COMPLETION,
  },
  pipelines: {},
  cards: { title: ['name', 'card name', 'task name', 'contact name'], ...PLANNED },
} satisfies Readonly<Record<string, Names>>;

/** Fields that name another record: `17`, `{ "id": 17 }`, or the address of the other record. */
export const REFERENCES: ReadonlySet<string> = new Set(['client_id', 'contact_id']);

/** A field with only its own name. */
function namesakes(fields: { readonly shape: object }): Names {
  return Object.fromEntries(Object.keys(fields.shape).map((field) => [field, []]));
}
