/**
 * Benchmarks: ratios from one run on one machine, never part of the tests.
 *   npm run bench [-- NAME…], with the names below; service-search=100000 searches among so many contacts,
 *   ledger-large=3000000 and console=3000000 fill so many rows, growth=1000000 has one more size
 */
import { budgetUse } from './budget-use.ts';
import { consolePages } from './console.ts';
import { contactSync } from './contact-sync.ts';
import { contactsUnchanged, manyContactsUnchanged } from './contacts-unchanged.ts';
import { csv } from './csv.ts';
import { deliveries } from './deliveries.ts';
import { discover } from './discover.ts';
import { fewOrders, fewOrdersAmongAMillion } from './few-orders.ts';
import { growth } from './growth.ts';
import { hosts } from './hosts.ts';
import { idle } from './idle.ts';
import { ledgerLarge } from './ledger-large.ts';
import { limits } from './limits.ts';
import { longLists } from './long-lists.ts';
import { mirror } from './mirror.ts';
import { orders } from './orders.ts';
import { ordersCpu } from './orders-cpu.ts';
import { ordersMillion } from './orders-million.ts';
import { ordersRivals } from './orders-rivals.ts';
import { bundleProcesses } from './processes.ts';
import { readBack } from './read-back.ts';
import { retention } from './retention.ts';
import { service, serviceSearch } from './service.ts';
import { start } from './start.ts';
import { type Row, render } from './table.ts';
import { taskScan } from './task-scan.ts';
import { week } from './week.ts';

const benches: Readonly<Record<string, (size?: number) => Promise<readonly Row[]>>> = {
  contacts: contactSync,
  'contacts-unchanged': contactsUnchanged,
  'contacts-unchanged-many': manyContactsUnchanged,
  budget: budgetUse,
  limits,
  discover,
  csv,
  orders,
  'orders-cpu': ordersCpu,
  'few-orders': fewOrders,
  'few-orders-million': fewOrdersAmongAMillion,
  'orders-rivals': ordersRivals,
  'orders-million': ordersMillion,
  growth,
  hosts,
  deliveries,
  tasks: taskScan,
  mirror,
  'read-back': readBack,
  lists: longLists,
  service,
  'service-search': serviceSearch,
  start,
  idle,
  'ledger-large': ledgerLarge,
  retention,
  console: consolePages,
  week,
};

const SIZED = new Set(['service-search', 'ledger-large', 'console', 'growth']);

const wanted = new Map(process.argv.slice(2).map(nameAndSize));
const unknown = [...wanted].filter(([name, size]) => !Object.hasOwn(benches, name) || !isFit(name, size));
if (unknown.length > 0) {
  const words = unknown.map(([name]) => name).join(', ');
  process.stderr.write(`No such benchmark or size: ${words}; there is ${Object.keys(benches).join(', ')}.\n`);
  process.exit(2);
}
await bundleProcesses();
for (const [name, bench] of Object.entries(benches)) {
  if (wanted.size > 0 && !wanted.has(name)) continue;
  process.stdout.write(`\n${name} (Node ${process.version})\n${render(await bench(wanted.get(name)))}\n`);
}

function nameAndSize(argument: string): [name: string, size: number | undefined] {
  const [name = '', size] = argument.split('=');
  return [name, size === undefined ? undefined : Number(size)];
}

function isFit(name: string, size: number | undefined): boolean {
  return size === undefined || (SIZED.has(name) && Number.isInteger(size) && size > 0);
}
