/** The fields of the records that were read, and the form of flags, amounts and dates. Values are never reported. */
import { firstOf } from '../../../base/counts.ts';
import type { JsonObject } from '../../../client/call/json.ts';
import type { Kind } from '../../../contract/kinds.ts';
import type { Operation } from '../../../contract/operation.ts';
import { operations } from '../../../contract/operations.ts';
import { inWords } from '../answer-words.ts';
import { certain, type Examination, type Finding, likely, type Probe } from '../probe.ts';

const GAPS = ['record-fields', 'booleans', 'task-dates', 'import-link'] as const;
const KINDS_READ = ['contacts', 'customers', 'orders', 'tasks'] as const;
const MAX_NAMES = 8;

export const recordForms: Probe = { name: 'the records', gaps: GAPS, run };

async function run(exam: Examination): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const seen = new Map<Kind, readonly JsonObject[]>();
  for (const kind of KINDS_READ) {
    const records = (await exam.list(kind)).found?.records ?? [];
    seen.set(kind, records);
    if (records.length > 0) findings.push(fieldsOf(kind, records));
  }
  const flags = typesOf([...(seen.get('contacts') ?? []), ...(seen.get('tasks') ?? [])], /^(by_|is[A-Z])/);
  const amounts = typesOf(seen.get('orders') ?? [], /^amount$/);
  if (flags.length + amounts.length > 0) {
    const found = [
      flags.length > 0 && `flags as ${inWords(flags)}`,
      amounts.length > 0 && `amounts as ${inWords(amounts)}`,
    ];
    const does = 'understands flags and amounts in either form';
    findings.push(certain('booleans', found.filter(Boolean).join('; '), does));
  }
  return [...findings, ...datesOf(seen.get('tasks') ?? []), ...linkOf(seen.get('customers') ?? [])];
}

function fieldsOf(kind: (typeof KINDS_READ)[number], records: readonly JsonObject[]): Finding {
  const names = new Set(records.flatMap((record) => Object.keys(record)));
  const { result }: Operation = operations[`${kind}.get`];
  const known = result !== undefined && 'shape' in result ? Object.keys(result.shape as object) : [];
  const others = [...names].filter((name) => !known.includes(name));
  const besides =
    others.length === 0 ? 'only known fields' : `among them ${firstOf(others.slice(0, MAX_NAMES), others.length)}`;
  const does = 'reads the fields it needs, and ignores the others';
  return certain('record-fields', `${names.size} fields, ${besides}`, does, { about: kind });
}

function typesOf(records: readonly JsonObject[], name: RegExp): readonly string[] {
  const values = records.flatMap((record) => Object.entries(record).filter(([one]) => name.test(one)));
  const types = values.flatMap(([, value]) => {
    if (value === null || value === undefined) return [];
    if (typeof value === 'boolean') return ['true and false'];
    if (typeof value !== 'number') return ['text'];
    return [Number.isInteger(value) && !/amount/.test(name.source) ? '1 and 0' : 'numbers'];
  });
  return [...new Set(types)];
}

function datesOf(tasks: readonly JsonObject[]): readonly Finding[] {
  const dates = tasks
    .flatMap(({ startDate, endDate }) => [startDate, endDate])
    .filter((date) => typeof date === 'string');
  if (dates.length === 0) return [];
  const forms = new Set(dates.map((date) => date.replace(/\d/g, '0').replace(/\.0+/, '.000')));
  const found = `written as ${inWords([...forms].slice(0, 3))}`;
  return [certain('task-dates', found, 'compares them as text')];
}

function linkOf(customers: readonly JsonObject[]): readonly Finding[] {
  if (customers.length === 0) return [];
  const names = ['contact_id', 'contactId', 'contact', 'crm_contact_id'];
  const name = names.find((one) => customers.some((customer) => Object.hasOwn(customer, one)));
  const does = 'keeps its own links, and matches customers by their content';
  if (name === undefined) return [likely('import-link', 'customers do not name their contact', does)];
  return [certain('import-link', `customers have ${name}`, does)];
}
