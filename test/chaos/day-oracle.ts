/** At the end of a day: the service's own records against what Lockstep was asked to write, and what it says about it. */
import type { OrdersHarness } from '../support/harness/orders.ts';

export interface DayFile {
  readonly name: string;
  readonly labels: readonly string[];
}

export interface TaskEvent {
  readonly data: { readonly task: { readonly id: string; readonly isCompleted: boolean } };
}

/** Description and amount of the order in line `n` of a file. */
export const contentOf = (n: number) => [`Order ${n}`, `${n}.25`] as const;

/** `reported`: orders may be doubled, if so many of each file are in review. */
export async function compareOrders(
  service: OrdersHarness,
  files: readonly DayFile[],
  reported: ReadonlyMap<string, number> | undefined,
) {
  const made = await service.orderCommits();
  const wanted = new Map(files.flatMap(({ labels }) => labels.map((label, n) => [label, contentOf(n)] as const)));
  const twice = [...made].flatMap(([label, n]) => (n > 1 ? [label] : []));
  const isOther = ({ order_id, description, amount }: Record<string, unknown>) => {
    const [text, sum] = wanted.get(String(order_id)) ?? [];
    return description !== text || Number(amount) !== Number(sum);
  };
  const unreported = files.filter(({ name, labels }) => {
    const doubled = labels.filter((label) => twice.includes(label)).length;
    return reported !== undefined && doubled !== reported.get(name);
  });
  const problems = [
    ...wrong(
      'orders are lost',
      [...wanted.keys()].filter((label) => !made.has(label)),
    ),
    ...wrong('orders were created more than once', reported ? [] : twice),
    ...wrong(
      'orders were never asked for',
      [...made.keys()].filter((label) => !wanted.has(label)),
    ),
    ...wrong(
      'orders have other content',
      (await service.orders()).filter(isOther).map(({ order_id }) => String(order_id)),
    ),
    ...wrong(
      'files have doubled orders that are not in review',
      unreported.map(({ name }) => name),
    ),
  ];
  return { problems, orders: wanted.size, doubled: twice.length };
}

export async function compareCustomers(
  service: OrdersHarness,
  people: readonly string[],
  mayBeDoubled: boolean,
): Promise<readonly string[]> {
  const mails = (await service.customers()).map(({ email }) => String(email));
  const twice = mails.filter((mail, n) => mails.indexOf(mail) !== n);
  return [
    ...wrong(
      'contacts are lost',
      people.filter((mail) => !mails.includes(mail)),
    ),
    ...wrong('customers are there more than once', mayBeDoubled ? [] : twice),
  ];
}

export async function compareTasks(service: OrdersHarness, events: readonly TaskEvent[]): Promise<readonly string[]> {
  const heard = new Map(events.map(({ data: { task } }) => [task.id, task.isCompleted]));
  const tasks = (await service.call('tasks.getall')) as { id: number; isCompleted: boolean }[]; // safe: our own service
  const others = tasks.filter(({ id, isCompleted }) => heard.get(String(id)) !== isCompleted);
  return wrong(
    'tasks were not mirrored',
    others.map(({ id }) => `task ${id}`),
  );
}

function wrong(what: string, keys: readonly string[]): readonly string[] {
  return keys.length > 0 ? [`${keys.length} ${what}: ${keys.slice(0, 5).join(', ')}`] : [];
}
