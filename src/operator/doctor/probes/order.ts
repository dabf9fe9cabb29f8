/** The order of lists, and whether it is stable: the same list is read twice. */
import type { JsonObject } from '../../../client/call/json.ts';
import type { Kind } from '../../../contract/kinds.ts';
import type { FoundList } from '../find-list.ts';
import { readAgain } from '../lists.ts';
import { certain, type Examination, type Finding, likely, nothingToSee, type Probe } from '../probe.ts';

const GAP = 'list-order';
const KINDS_READ: readonly Kind[] = ['contacts', 'tasks', 'customers', 'orders'];
const DOES = 'reads overlapping pages, and calls a scan proven only if the order was stable';

export const order: Probe = {
  name: 'the order of lists',
  gaps: [GAP],
  async run(exam) {
    const findings: Finding[] = [];
    for (const kind of KINDS_READ) {
      const { found } = await exam.list(kind);
      if (found === undefined) continue;
      findings.push(found.ids.length < 2 ? nothingToSee(GAP, kind, DOES) : await orderOf(exam, kind, found));
    }
    return findings;
  },
};

async function orderOf(exam: Examination, kind: Kind, first: FoundList): Promise<Finding> {
  const list = await exam.list(kind);
  const second = (await readAgain(exam, list, list.query)).found;
  const direction = directionOf(first);
  if (second === undefined) return likely(GAP, direction, DOES, { about: kind });
  if (isSame(first.ids, second.ids))
    return certain(GAP, `${direction}; the same when read again`, DOES, { about: kind });
  // If a record was added between the reads, a third read equals the second one.
  const third = (await readAgain(exam, list, list.query)).found;
  const isMoved = hasMoved(first.ids, second.ids);
  if (!isMoved && third !== undefined && isSame(second.ids, third.ids)) {
    return likely(GAP, `${direction}; records were added or removed during the read`, DOES, { about: kind });
  }
  const find = isMoved ? certain : likely;
  const found = 'unstable: a second read has the same records in another order';
  if (kind === 'customers' || kind === 'orders')
    return find(GAP, found, 'reads the whole list, in any order', { about: kind });
  const needs = 'ask the service’s operator for a stable order; until then check the scan line of each run';
  return find(GAP, found, 'scans until two scans agree, and does not call them proven', { about: kind, needs });
}

/** Whether two records that are in both reads have changed their order. */
function hasMoved(first: readonly string[], second: readonly string[]): boolean {
  const inFirst = new Set(first);
  const inSecond = new Set(second);
  return !isSame(
    first.filter((id) => inSecond.has(id)),
    second.filter((id) => inFirst.has(id)),
  );
}

function directionOf({ ids, records }: FoundList): string {
  const numbers = ids.map(Number);
  if (numbers.every(Number.isSafeInteger)) {
    const way = wayOf(numbers);
    if (way !== undefined) return `${way} first, by id`;
  }
  for (const name of ['created_at', 'createdAt', 'updated_at', 'updatedAt']) {
    const times = records.map((record: JsonObject) => Date.parse(String(record[name])));
    const way = times.some(Number.isNaN) ? undefined : wayOf(times);
    if (way !== undefined) return `${way} first, by ${name}`;
  }
  return 'not ordered by id or date';
}

function wayOf(values: readonly number[]): 'oldest' | 'newest' | undefined {
  const steps = values.slice(1).map((value, i) => value - (values[i] ?? value));
  if (steps.every((step) => step === 0)) return undefined;
  if (steps.every((step) => step >= 0)) return 'oldest';
  return steps.every((step) => step <= 0) ? 'newest' : undefined;
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((id, i) => id === b[i]);
}
