/** Orders, each of which belongs to an existing customer of the same tenant (docs/contract.md, "Order"). */
import { invalid } from '../result.ts';
import { created, got, listed, updated } from './answers.ts';
import type { Handlers } from './handler.ts';

const EXACT_DIGITS = 15;
const TOO_LONG = `a JSON number is exact only up to ${EXACT_DIGITS} digits`;

export const orderHandlers = {
  async 'orders.create'({ body, records }) {
    const { client_id, ...fields } = body;
    if (client_id === undefined) return invalid('client_id', 'an order requires an existing customer');
    if (isTooLong(fields.amount)) return invalid('amount', TOO_LONG);
    return created(records, 'order', { fields, link: client_id, naturalKey: body.order_id });
  },
  async 'orders.update'({ body, records }) {
    const { id, client_id, ...fields } = body;
    if (isTooLong(fields.amount)) return invalid('amount', TOO_LONG);
    return updated(records, 'order', id, { fields, link: client_id, naturalKey: body.order_id });
  },
  'orders.get': ({ query, records }) => got(records, 'order', query.id),
  'orders.getall': ({ records }) => listed(records, 'order', 'all'),
} satisfies Partial<Handlers>;

/** True for an amount with more digits than a JSON number can represent exactly. Money is refused, never rounded. */
function isTooLong(amount: number | undefined): boolean {
  return amount !== undefined && Number(amount.toPrecision(EXACT_DIGITS)) !== amount;
}
