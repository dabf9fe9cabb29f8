/** Orders, each of which belongs to an existing customer of the same tenant (contract, "Order"). */
import { found, invalid } from '../result.ts';
import type { Handlers } from './handler.ts';
import { listed, wrote } from './written.ts';

type Name = 'orders.create' | 'orders.update' | 'orders.get' | 'orders.getall';

export function orderHandlers(): Pick<Handlers, Name> {
  return {
    async 'orders.create'({ body, records }) {
      const { client_id, ...fields } = body;
      if (client_id === undefined) return invalid('client_id', 'an order requires an existing customer');
      if (isTooLong(fields.amount)) return invalid('amount', TOO_LONG);
      const write = { operation: 'orders.create', fields, link: client_id, naturalKey: body.order_id };
      return wrote(records, 'order', await records.create('order', write), client_id);
    },
    async 'orders.update'({ body, records }) {
      const { id, client_id, ...fields } = body;
      if (isTooLong(fields.amount)) return invalid('amount', TOO_LONG);
      const write = { operation: 'orders.update', fields, link: client_id, naturalKey: body.order_id };
      return wrote(records, 'order', await records.update('order', id, write), client_id);
    },
    async 'orders.get'({ query, records }) {
      return found('order', query.id, await records.get('order', query.id));
    },
    'orders.getall': ({ records }) => listed(records, 'order', 'all'),
  };
}

const EXACT_DIGITS = 15;
const TOO_LONG = `a JSON number is exact to ${EXACT_DIGITS} digits only`;

/** True for an amount with more digits than a JSON number carries without rounding: money is refused, never rounded. */
function isTooLong(amount: number | undefined): boolean {
  return amount !== undefined && Number(amount.toPrecision(EXACT_DIGITS)) !== amount;
}
