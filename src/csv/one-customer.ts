/** Notes that all orders of a file name one customer: its column may have the shop's own address, or that of an employee. */
import { formatCount } from '../base/counts.ts';
import type { OrderValues } from './fields.ts';

/** From so many orders on. */
const LEAST_ORDERS = 10;

export class OneCustomer {
  #orders = 0;
  #customer: string | undefined;
  #isOne = true;

  add({ client_id, customer_email, customer_phone, customer_name }: OrderValues): void {
    const customer = client_id ?? customer_email ?? customer_phone ?? customer_name;
    this.#customer ??= customer;
    this.#isOne &&= customer === this.#customer;
    this.#orders += 1;
  }

  /** Sentences without a full stop. */
  notes(): readonly string[] {
    if (!this.#isOne || this.#orders < LEAST_ORDERS || this.#customer === undefined) return [];
    return [
      `all ${formatCount(this.#orders)} orders read from the file name the same customer, ${this.#customer}. If they have other customers, choose the column that names them (\`--map customer_email=Column\`)`,
    ];
  }
}
