/** Writes the tables of docs/contract.md from the operations and records of the contract: `npm run docs`. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { Operation } from '../src/contract/operation.ts';
import { type OperationName, operationNames, operations } from '../src/contract/operations.ts';
import * as records from '../src/contract/records.ts';

const file = path.join(import.meta.dirname, 'contract.md');

/** The fields of each resource on create and on update, without the ones that are our choice. */
const FIELDS: Readonly<Record<string, { readonly create: z.ZodObject; readonly update?: z.ZodObject }>> = {
  contact: { create: records.contactCreate, update: records.contactUpdate },
  customer: { create: records.customerCreate, update: records.customerUpdate },
  order: { create: records.orderCreate, update: records.orderUpdate },
  task: { create: records.taskFields, update: records.taskFields },
  subtask: {
    create: records.subtaskCreate.omit({ description: true }),
    update: records.subtaskUpdate.omit({ id: true }),
  },
  comment: { create: records.comment },
};

/** What the page calls a body. The documentation does not show the others. */
const BODIES: ReadonlyMap<z.ZodObject, string> = new Map<z.ZodObject, string>([
  [records.contactCreate, '[contact](#contact)'],
  [records.contactUpdate, '[contact](#contact)'],
  [records.customerCreate, '[customer](#order-customer)'],
  [records.customerUpdate, '[customer](#order-customer)'],
  [records.orderCreate, '[order](#order)'],
  [records.orderUpdate, '[order](#order)'],
  [records.taskFields, '[task](#task)'],
  [records.taskCompletion, '`isCompleted`'],
  [records.subtaskCreate, '[subtask](#subtask)'],
  [records.subtaskUpdate, '[subtask](#subtask)'],
  [records.comment, '[comment](#comment)'],
]);

const LISTS = { paged: 'a page of a list', all: 'a list' } as const;

/** The page with its tables written again. @throws where a table has the name of no resource */
export function fillTables(page: string): string {
  return page.replace(
    /(<!-- table: (\w+) -->\n).*?(<!-- end -->)/gs,
    (_, start: string, name: string, end: string) => `${start}\n${tableNamed(name)}\n${end}`,
  );
}

function tableNamed(name: string): string {
  const fields = FIELDS[name];
  if (fields !== undefined) return fieldTable(fields.create, fields.update);
  const rows = operationNames.filter((operation) => operation.startsWith(`${name}.`)).map(operationRow);
  if (rows.length === 0) throw new Error(`docs/contract.md has a table named ${name}, which is no resource`);
  return ['| Operation | Method and path | Sent | Answer |', '|---|---|---|---|', ...rows].join('\n');
}

function operationRow(name: OperationName): string {
  const { summary, method, otherMethod, path: route, query, body, result, list }: Operation = operations[name];
  const methods = otherMethod === undefined ? method : `${method} or ${otherMethod}`;
  const sent = [...membersOf(query)].map(([member, { isOptional }]) => `\`${member}${isOptional ? '?' : ''}\``);
  if (body !== undefined) sent.push(BODIES.get(body) ?? 'a body that is not shown');
  const one = result === undefined ? 'nothing shown' : 'one record';
  const answer = list === undefined ? one : LISTS[list];
  return `| ${summary}: \`${name}\` | \`${methods} ${route}\` | ${sent.join(', ') || 'nothing'} | ${answer} |`;
}

function fieldTable(create: z.ZodObject, update = z.object({})): string {
  const [created, updated] = [membersOf(create), membersOf(update)];
  const rows = [...new Map([...created, ...updated])].map(([name, { type }]) => {
    const calls = [created.has(name) && 'create', updated.has(name) && 'update'].filter(Boolean);
    return `| \`${name}\` | ${type} | ${calls.join(', ')} |`;
  });
  return ['| Field | Type | Sent on |', '|---|---|---|', ...rows].join('\n');
}

interface Member {
  readonly type: string;
  readonly isOptional: boolean;
}

function membersOf(schema: z.ZodObject): ReadonlyMap<string, Member> {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const members = Object.entries(properties).map(([name, member]) => {
    const { type, pattern } = typeof member === 'boolean' ? {} : member;
    const words = pattern === undefined ? [type].flat().join(' or ') : 'date-time';
    return [name, { type: words, isOptional: !required.includes(name) }] as const;
  });
  return new Map(members);
}

if (process.argv[1] === import.meta.filename) writeFileSync(file, fillTables(readFileSync(file, 'utf8')));
