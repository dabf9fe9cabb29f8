/** Sample customers, orders, tasks and a pipeline around sample contacts. */
import { pick } from '../random.ts';
import type { SampleContact } from './contacts.ts';

export type SampleCustomer = Record<string, string>;
export type SampleOrder = { readonly customer: number; readonly fields: Record<string, string | number> };
export type SampleTask = Record<string, string | boolean>;

const GOODS = ['Office chairs', 'Annual service', 'Sample box', 'Spare parts', 'Workshop day', 'Licence renewal'];
const ORDER_STATUSES = ['open', 'paid', 'shipped', 'cancelled'];
const ERRANDS = ['Call back', 'Send offer', 'Prepare demo', 'Check invoice', 'Plan visit', 'Update contract'];
const STEPS = ['Collect papers', 'Ask a colleague', 'Write a summary', 'Confirm the date'];
const FIRST_DAY = Date.UTC(2026, 0, 5, 9); // fixed, so that the same seed gives the same workspace on any day

/** One in this many contacts is already a customer. */
export const CUSTOMER_EVERY = 10;

/**
 * The given contacts as customers that existed before any import: most have the same e-mail, some match only by phone,
 * and a few are deliberately ambiguous (two customers with one e-mail).
 */
export function* sampleCustomers(contacts: readonly SampleContact[], random: () => number): Generator<SampleCustomer> {
  for (const contact of contacts) {
    const name = [contact.first_name, contact.last_name].filter((part) => typeof part === 'string').join(' ');
    const customer: SampleCustomer = { full_name: random() < 0.85 ? name : name.toUpperCase() };
    if (typeof contact.email === 'string' && random() < 0.8) customer.email = contact.email.trim().toLowerCase();
    if (typeof contact.phone === 'string' && contact.phone !== '')
      customer.phone_number = respelt(random, contact.phone);
    if (typeof contact.organization === 'string') customer.organization = contact.organization;
    yield customer;
    if (customer.email !== undefined && random() < 0.05) yield { full_name: `${name} (2)`, email: customer.email };
  }
}

/** About three orders per customer; `customer` is an index into the list of customers. */
export function* sampleOrders(customers: number, random: () => number): Generator<SampleOrder> {
  for (let customer = 0, label = 1; customer < customers; customer++) {
    for (let left = Math.floor(random() * 6); left > 0; left--, label++) {
      const cents = 500 + Math.floor(random() * 500_000);
      yield {
        customer,
        fields: {
          order_id: `SO-${String(label).padStart(6, '0')}`,
          description: pick(random, GOODS),
          amount: cents / 100, // a decimal with two digits is written back unchanged from its nearest double
          status: pick(random, ORDER_STATUSES),
        },
      };
    }
  }
}

export function* sampleTasks(count: number, random: () => number): Generator<SampleTask> {
  for (let index = 0; index < count; index++) {
    const start = FIRST_DAY + Math.floor(random() * 90) * 86_400_000;
    yield {
      taskName: `${pick(random, ERRANDS)} ${index + 1}`,
      description: random() < 0.3 ? '<p>See the <b>notes</b> &amp; the last offer.</p>' : '',
      startDate: localDateTime(start),
      endDate: localDateTime(start + 3_600_000 * (1 + Math.floor(random() * 72))),
      local_date: localDateTime(start),
      isCompleted: random() < 0.35,
    };
  }
}

/** Steps of one task, at most four. */
export function sampleSteps(random: () => number): SampleTask[] {
  const count = Math.floor(random() * (STEPS.length + 1));
  return STEPS.slice(0, count).map((item_name) => ({ item_name, description: '', isCompleted: random() < 0.4 }));
}

function respelt(random: () => number, phone: string): string {
  return random() < 0.5 ? phone : phone.replace(/[ ()/.-]+/g, ' ').trim();
}

function localDateTime(at: number): string {
  return new Date(at).toISOString().slice(0, 19);
}
