/** Lists of orders in which Lockstep recognises no member, or several, as a field it needs. */
import type { JsonObject } from '../../client/call/json.ts';
import type { Account } from '../../engine/account/account.ts';
import { RunFailed } from '../../engine/account/failure.ts';

const MEMBERS_SHOWN = 15;

type OrderField = 'client_id' | 'order_id';

const CALLED = { client_id: 'customer', order_id: 'label' } as const;

/** No member of the first order is the field. `sent`: what the run has sent so far. */
export function fieldNotFound({ name }: Account, field: OrderField, order: JsonObject, sent: string): RunFailed {
  const members = Object.keys(order).filter((member) => member !== field);
  return new RunFailed(
    'SERVICE_UNREADABLE',
    `The service of account "${name}" lists orders, and Lockstep recognises no member of them as their ${CALLED[field]}: the first ` +
      `has ${members.slice(0, MEMBERS_SHOWN).join(', ')}. Set accounts.${name}.dialect.members.orders.${field} to the name or the ` +
      `path of the member. Without it, Lockstep cannot tell existing orders from missing ones. ${sent}`,
  );
}

/** Several members of an order could be the field. */
export function fieldDisputed({ name }: Account, field: OrderField, rivals: readonly string[]): RunFailed {
  return new RunFailed(
    'SERVICE_UNREADABLE',
    `The service of account "${name}" lists an order whose ${CALLED[field]} may be in ${rivals.join(' or in ')}, and their values ` +
      `differ. Set accounts.${name}.dialect.members.orders.${field} to the right one.`,
  );
}
