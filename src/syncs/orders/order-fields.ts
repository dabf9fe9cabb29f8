/** Whether a list of orders shows the customers and the labels by which a load recognises them, and what to do if it does not. */
import { shortJson } from '../../base/texts.ts';
import { unreadIn } from '../../client/call/contract-record.ts';
import { isJsonArray } from '../../client/call/dialect.ts';
import type { Json, JsonObject } from '../../client/call/json.ts';
import { plain } from '../../client/call/record-form.ts';
import type { Account } from '../../engine/account/account.ts';
import { RunFailed } from '../../engine/account/failure.ts';

interface OrderShown {
  readonly clientId: string | undefined;
  readonly label: string;
  readonly record: JsonObject;
}

interface Unread {
  readonly label: string;
  readonly member: string;
  readonly value: Json | undefined;
}

/** Whether any order of the list names its customer, any its label, and none has them in a form that is not read. */
export class FieldsSeen {
  readonly #account: Account;
  #example: JsonObject | undefined;
  #hasCustomers = false;
  #hasLabels = false;
  #withoutLabel: JsonObject | undefined;
  /** With a label of the load, and a customer that is not read: it may be the order of the load. */
  #unread: Unread | undefined;

  constructor(account: Account) {
    this.#account = account;
  }

  /** `isNamesake`: whether the order may have a label of the load. */
  note({ record, clientId, label }: OrderShown, isNamesake: boolean): void {
    const { dialect } = this.#account;
    if (isNamesake && clientId === undefined) {
      const [member] = unreadIn(record, 'orders', 'client_id', dialect);
      if (member !== undefined) this.#unread ??= { label, member, value: record[member] };
    }
    this.#example ??= record;
    this.#hasCustomers ||= clientId !== undefined;
    if (label === '' && unreadIn(record, 'orders', 'order_id', dialect).length > 0) this.#withoutLabel ??= record;
    else this.#hasLabels ||= record.order_id !== undefined;
  }

  /** `sent`: what the run has sent so far. @throws RunFailed SERVICE_UNREADABLE */
  async check(sent: () => Promise<string>): Promise<void> {
    if (this.#example === undefined) return;
    if (!this.#hasCustomers) throw fieldNotFound(this.#account, 'client_id', this.#example, await sent());
    const withoutLabel = this.#withoutLabel ?? (this.#hasLabels ? undefined : this.#example);
    if (withoutLabel !== undefined) throw fieldNotFound(this.#account, 'order_id', withoutLabel, await sent());
    if (this.#unread !== undefined) throw customerUnread(this.#account, this.#unread, await sent());
  }
}

const MEMBERS_SHOWN = 15;

type OrderField = 'client_id' | 'order_id';

const CALLED = { client_id: 'customer', order_id: 'label' } as const;

/** No member of the order is the field. */
function fieldNotFound({ name }: Account, field: OrderField, order: JsonObject, sent: string): RunFailed {
  const members = namesOf(order).filter((member) => member !== field);
  return new RunFailed(
    'SERVICE_UNREADABLE',
    `The service of account "${name}" lists an order, and Lockstep recognises no member of it as its ${CALLED[field]}: it ` +
      `has ${members.slice(0, MEMBERS_SHOWN).join(', ')}${unusable(field, order[field])}. Set accounts.${name}.dialect.members.orders.${field} to the name or the ` +
      `path of the member. Without it, Lockstep cannot tell existing orders from missing ones. ${sent}`,
  );
}

/** The names as the service writes them, which are followed by the contract's names for the same members. */
function namesOf(order: JsonObject): readonly string[] {
  const names = Object.keys(order);
  const plainNames = names.map(plain);
  return names.filter((_, at) => plainNames.indexOf(plainNames[at] ?? '') === at);
}

/** What the order has under the field's own name. */
function unusable(field: OrderField, value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  const first = isJsonArray(value) ? `, whose first element is ${field}.0` : '';
  return `; its ${field} is ${shortJson(value)}${first}`;
}

function customerUnread({ name }: Account, { label, member, value }: Unread, sent: string): RunFailed {
  const order = JSON.stringify(label);
  return new RunFailed(
    'SERVICE_UNREADABLE',
    `The service of account "${name}" lists an order ${order} whose customer Lockstep cannot read: its ${member} is ` +
      `${shortJson(value)}. So it may be the order ${order} of the load. Set accounts.${name}.dialect.members.orders.client_id ` +
      `to the name or the path of the member with the customer’s id, or load the file without that order. ${sent}`,
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
