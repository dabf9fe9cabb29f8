/** A row's values as an order's content and as its customer. */
import type { Facts } from '../../base/reasons/reason.ts';
import { storable } from '../../base/texts.ts';
import type { CustomerFields } from '../../contract/records.ts';
import type { OrderValues } from '../../csv/fields.ts';

/**
 * An order's content, without its customer: what is given of `order_id`, `description`, `amount` and `status`. The amount is
 * an exact decimal, sent as a number.
 */
export function orderContent({ description, amount, status }: OrderValues, order_id: string): Record<string, string> {
  return filled({ order_id, description, amount, status });
}

/** The customer of a row, in the contract's fields: a customer is found by them, and created from them. */
export function customerOf(values: OrderValues): CustomerFields {
  return filled({
    full_name: values.customer_name ?? values.full_name,
    email: values.customer_email ?? values.email,
    phone_number: values.customer_phone ?? values.phone_number,
    organization: values.organization,
    gender: values.gender,
    picture_url: values.picture_url,
  });
}

/** Facts may quote a file, which may contain any character. */
export function storableFacts(facts: Facts): Facts {
  return JSON.parse(JSON.stringify(facts), (_, value: unknown) =>
    typeof value === 'string' ? storable(value) : value,
  );
}

function filled(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const given: Record<string, string> = {};
  for (const name in values) {
    const value = values[name];
    const text = value === undefined ? '' : storable(value).trim();
    if (text !== '') given[name] = text;
  }
  return given;
}
