/** The orders that the benchmarks load, as lines of a CSV or as bodies: the same for every sender. */
import fs from 'node:fs/promises';

export interface OrderBody {
  readonly order_id: string;
  readonly client_id: number;
  readonly description: string;
  readonly amount: number;
  readonly status: string;
}

/** `from` and `to` as they are numbered, `to` not included. */
export interface Numbers {
  readonly from: number;
  readonly to: number;
}

export function orderAt(n: number, customers: readonly number[]): OrderBody {
  return {
    order_id: `A-${100_000 + n}`,
    client_id: customers[n % customers.length] ?? 0,
    description: `Parts for order ${n}`,
    amount: 1_100 + (n % 900) + (10 + (n % 90)) / 100,
    status: 'open',
  };
}

export async function writeSheet(file: string, { from, to }: Numbers, customers: readonly number[]): Promise<void> {
  const handle = await fs.open(file, 'w');
  let text = 'order_id,client_id,description,amount,status\n';
  for (let n = from; n < to; n++) {
    const { order_id, client_id, description, amount, status } = orderAt(n, customers);
    text += `${order_id},${client_id},${description},${amount.toFixed(2)},${status}\n`;
    if (text.length < 1_000_000 && n < to - 1) continue;
    await handle.appendFile(text);
    text = '';
  }
  await handle.close();
}
