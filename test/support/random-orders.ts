/** Loads of orders at a drawn service, and a check of what became of them. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { readRun } from '../../src/engine/ledger/runs.ts';
import { mayHideTheFirst } from './drawn-habit.ts';
import { receiveFile } from './harness/orders.ts';
import { mailOf } from './random-people.ts';
import type { Kept } from './random-records.ts';
import { attend, ended, isWell, nameOf, type World } from './random-world.ts';

interface Row {
  readonly label: string;
  readonly customer: Kept;
  readonly byMail: boolean;
}

export async function checkOrders(world: World): Promise<void> {
  const { service, random, why } = world;
  const { orders } = service.records;
  const customers = service.records.customers.filter(({ isDeleted, fields }) => !isDeleted && fields.email);
  while (customers.length < 4) {
    const n = 900 + customers.length;
    customers.push(service.add('customers', { full_name: `Person ${n}`, email: mailOf(n), phone_number: '' }));
  }
  const there = world.drawn.sizes.orders;
  for (let n = 0; n < there; n++) {
    const client_id = customers[n % customers.length]?.id;
    service.add('orders', { order_id: `OLD-${n}`, client_id, amount: n + 0.5, status: 'new', description: 'old' });
  }
  const wereThere = [...orders];
  const rows = Array.from({ length: random.pick([1, 6, 19]) }, (_, n): Row => {
    const isOld = n % 3 === 0 && n < there;
    const customer = customers[isOld ? n % customers.length : random.int(customers.length)] as Kept; // safe: in range
    return { label: isOld ? `OLD-${n}` : `NEW-${n}`, customer, byMail: random.chance(0.4) };
  });
  const written = (label: string) => (world.drawn.oddity === 'capitalizes labels' ? label.toLowerCase() : label);
  const csv = (amount: (n: number) => string) =>
    [
      'order_id,client_id,customer_email,amount,status',
      ...rows.map(({ label, customer, byMail }, n) =>
        [
          label.startsWith('OLD') ? label : written(label),
          byMail ? '' : customer.id,
          byMail ? customer.fields.email : '',
          amount(n),
          'new',
        ].join(','),
      ),
      '',
    ].join('\n');
  const keyOf = ({ fields }: Kept) => `${fields.client_id} ${String(fields.order_id).replace('#', '')}`;
  const keys = (kept: readonly Kept[]) => kept.map(keyOf);
  const wanted = new Set([...keys(orders), ...rows.map(({ customer, label }) => `${customer.id} ${label}`)]);
  const compare = (step: string, isDone: boolean) => {
    const now = keys(orders);
    const distinct = new Set(now).size;
    if (now.length - distinct > Number(mayHideTheFirst(world.drawn)))
      why.wrong.push(`${step}: ${now.length - distinct} orders twice`);
    const strange = now.filter((key) => !wanted.has(key));
    if (strange.length > 0) why.wrong.push(`${step}: unexpected orders: ${strange.slice(0, 3).join('; ')}`);
    if (isDone && distinct !== wanted.size) why.wrong.push(`${step}: ${distinct} orders instead of ${wanted.size}`);
  };
  const old = (n: number) => (rows[n]?.label.startsWith('OLD') ? n + 0.5 : n + 10.25).toFixed(2);
  const first = await load(world, csv(old), 'skip', 'first load');
  compare('first load', first);
  if (!first) return;
  const writes = service.writes();
  const changed = csv((n) => `${n + 70}.75`);
  const again = await load(world, changed, 'update', 'second load');
  compare('second load', again);
  const amounts = new Map(orders.map((order) => [keyOf(order), Number(order.fields.amount)]));
  const emptied = wereThere.filter(({ fields }) => fields.description !== 'old' || !fields.status);
  if (emptied.length > 0) why.wrong.push(`second load: ${emptied.length} orders lost their description or status`);
  const off = rows.filter(({ customer, label }, n) => amounts.get(`${customer.id} ${label}`) !== n + 70.75);
  if (again && off.length > 0) why.wrong.push(`second load: ${off.length} orders were not updated`);
  const touched = [...amounts].filter(
    ([key]) => key.includes('OLD') && !rows.some((row) => key.endsWith(` ${row.label}`)),
  );
  if (touched.some(([key, amount]) => amount !== Number(key.split('OLD-')[1]) + 0.5))
    why.wrong.push('second load: an order that no row names was changed');
  // The first update shows what a service does to members that it is not sent: that may take a second one.
  const most = rows.length + Number(/^(empties|refuses) .*update/.test(world.drawn.habit));
  const made = service.writes() - writes;
  if (again && world.drawn.faults === 0 && !world.isKilled && (made < rows.length || made > most))
    why.wrong.push(`second load: ${service.writes() - writes} writes for ${rows.length} rows`);
  if (!again) return;
  const before = service.writes();
  compare('third load', await load(world, changed, 'skip', 'third load'));
  if (service.writes() !== before) why.wrong.push(`third load: ${service.writes() - before} writes`);
}

async function load(world: World, csv: string, existing: 'skip' | 'update', step: string): Promise<boolean> {
  const { workspace, dataDir, database, why } = world;
  const source = path.join(dataDir, `${world.n}-${existing}.csv`);
  await writeFile(source, csv);
  try {
    const { begun } = await receiveFile(workspace, nameOf(world.n), source, { existing });
    await attend(world, await readRun(database.pool, begun.run.id));
    return isWell(world, await ended(world, begun.run.id), step);
  } catch (error) {
    why.refused.push(`${step}: ${error instanceof Error ? error.message : error}`);
    return false;
  }
}
