/** Under which names the records have the fields of the contract, and which member of an order names its customer and its label. */
import { shortJson } from '../../../base/texts.ts';
import { fieldsElsewhere, rivalsOf } from '../../../client/call/contract-record.ts';
import { type JsonObject, textOf } from '../../../client/call/json.ts';
import { toTaskState } from '../../../mirror/tasks/task-state.ts';
import { inWords } from '../answer-words.ts';
import { certain, type Examination, type Finding, likely, type Probe, unknown } from '../probe.ts';

const GAP = 'record-fields';
const KINDS_READ = ['contacts', 'customers', 'orders', 'tasks'] as const;
const DOES = 'reads each field where it is';
const REFUSES = 'refuses to load orders, because it could not tell existing orders from new ones';

export const fieldNames: Probe = { name: 'the names of fields', gaps: [GAP], run };

async function run(exam: Examination): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const kind of KINDS_READ) {
    const { found } = await exam.list(kind);
    const elsewhere = new Map(found?.raw.flatMap((record) => fieldsElsewhere(record, kind, exam.account.dialect)));
    if (elsewhere.size === 0) continue;
    const places = [...elsewhere].map(([field, member]) => `${field} is in ${member}`);
    findings.push(certain(GAP, places.join(', '), DOES, { about: `names in ${kind}` }));
  }
  findings.push(...unreadCompletion(exam, (await exam.list('tasks')).found?.records ?? []));
  const orders = (await exam.list('orders')).found?.records ?? [];
  if (orders.length === 0) return findings;
  const customers = new Set((await exam.list('customers')).found?.ids);
  return [
    ...findings,
    ...missing(exam, orders, 'client_id', 'customer', (value) => customers.has(value)),
    ...missing(exam, orders, 'order_id', 'label'),
  ];
}

/** The finding if a task does not say whether it is completed in a way that a sync of tasks can read. */
function unreadCompletion({ account }: Examination, tasks: readonly JsonObject[]): readonly Finding[] {
  for (const task of tasks) {
    const read = toTaskState(task, account.dialect);
    if (read.status !== 'unreadable') continue;
    const member = `accounts.${account.name}.dialect.members.tasks.isCompleted`;
    const needs = `correct the task, or set ${member} to the member that says whether it is completed`;
    const found = `task ${textOf(task.id)} has ${shortJson(read.value)}, which says neither completed nor open`;
    return [certain(GAP, found, 'refuses to mirror tasks', { about: 'completion of a task', needs })];
  }
  return [];
}

/** The finding if no order has the field. `fits`: whether a value can be the field. */
function missing(
  { account }: Examination,
  orders: readonly JsonObject[],
  field: 'client_id' | 'order_id',
  what: string,
  fits?: (value: string) => boolean,
): readonly Finding[] {
  if (orders.some((order) => textOf(order[field]) !== '')) return [];
  const rivals = new Set(orders.flatMap((order) => rivalsOf(order, field)));
  const fitting = fits === undefined ? [] : membersThat(orders, fits);
  const members = rivals.size > 0 ? [...rivals] : fitting;
  const setting = `accounts.${account.name}.dialect.members.orders.${field}`;
  const [only] = members;
  const more = { about: `${what} of an order`, needs: `set ${setting} to the member with the ${what}` };
  if (only === undefined) return [unknown(GAP, 'no member that Lockstep recognises', REFUSES, more)];
  const found = `${rivals.size > 0 ? 'several members could be it' : 'ids of customers are in every order'}: ${inWords(members)}`;
  const needs = members.length === 1 ? `set ${setting} to ${only}, if it names the ${what}` : more.needs;
  return [likely(GAP, found, REFUSES, { ...more, needs })];
}

/** The members, but for the id, whose value fits in every order. */
function membersThat(orders: readonly JsonObject[], fits: (value: string) => boolean): readonly string[] {
  const names = Object.keys(orders[0] ?? {}).filter((name) => !/^_?id$/i.test(name));
  return names.filter((name) => orders.every((order) => fits(textOf(order[name]))));
}
