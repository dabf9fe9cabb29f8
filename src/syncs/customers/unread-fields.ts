/** The errors for lists whose records have no member that Lockstep recognises as a field it needs. */
import { isJsonObject } from '../../client/call/dialect.ts';
import { type Json, type JsonObject, textOf } from '../../client/call/json.ts';
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

/** People have no e-mail, phone or name that is known, but `member` holds an e-mail address. */
export function keysNotFound({ name }: Account, kind: 'contacts' | 'customers', member: string): RunFailed {
  return new RunFailed(
    'SERVICE_UNREADABLE',
    `The service of account "${name}" lists ${kind} without an e-mail, phone or name under a name that Lockstep knows, but ` +
      `"${member}" holds an e-mail address. Set accounts.${name}.dialect.members.${kind}.email to ${member}, and the members with ` +
      `the name and the phone likewise.`,
  );
}

/** The path of the member of a record that holds an e-mail address. */
export function memberWithMail(record: Json): string | undefined {
  if (!isJsonObject(record)) return undefined;
  for (const [name, value] of Object.entries(record)) {
    if (/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(textOf(value))) return name;
    const within = memberWithMail(value);
    if (within !== undefined) return `${name}.${within}`;
  }
  return undefined;
}
