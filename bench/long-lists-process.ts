/**
 * Reads one long list and stores only what the read itself needs; reports the peak of its memory.
 *   node long-lists-process.ts URL orders|customers|tasks
 */
import type { Budget } from '../src/client/budget/budget.ts';
import { createClient } from '../src/client/call/client.ts';
import { autoDialect, idOf } from '../src/client/call/dialect.ts';
import type { Json } from '../src/client/call/json.ts';
import { kindOf } from '../src/contract/kinds.ts';
import type { Account } from '../src/engine/account/account.ts';
import { readWholeList } from '../src/engine/account/whole-list.ts';
import { scanTaskList } from '../src/mirror/tasks/scan-list.ts';
import { taskHash, toTaskState } from '../src/mirror/tasks/task-state.ts';
import { peakMemoryMb } from './cost.ts';

export interface LongListFigures {
  readonly records: number;
  readonly ms: number;
  readonly peakRssMb: number;
}

const [, , baseUrl = '', list = ''] = process.argv;
const permit = { release: () => {}, limited: async () => {}, hinted: async () => {}, succeeded: () => {} };
const budget = { take: async () => ({ status: 'taken', permit }), close: async () => {} } as unknown as Budget;
const client = createClient({
  account: 'bench',
  baseUrl,
  apiKey: 'a-key',
  prefix: '/api/v1',
  timeoutMs: 60_000,
  concurrency: 4,
  budget,
  dialect: autoDialect,
});
// Safe: reading lists needs nothing else of an account.
const account = { name: 'bench', client, dialect: autoDialect } as unknown as Account;

const startedAt = performance.now();
const records =
  list === 'tasks' ? await readTasks() : await readWhole(list === 'orders' ? 'orders.getall' : 'customers.getall');
const figures: LongListFigures = {
  records,
  ms: performance.now() - startedAt,
  peakRssMb: await peakMemoryMb(),
};
process.send?.(figures);
await client.close();
process.disconnect?.();

async function readWhole(operation: 'orders.getall' | 'customers.getall'): Promise<number> {
  const signal = new AbortController().signal;
  let highest = 0; // the ids count the records from 1
  const onRecords = async (records: readonly Json[]) => {
    for (const record of records) highest = Math.max(highest, Number(idOf(record, kindOf(operation), autoDialect)));
  };
  const { records, scan } = await readWholeList(account, operation, { lane: 'batch', signal, onRecords });
  return records ?? (scan?.proof === 'unproven' ? 0 : highest);
}

async function readTasks(): Promise<number> {
  const { seen } = await scanTaskList({
    firstPage: 'auto',
    hasBaseline: false,
    read: async (page) => {
      const readAtMs = performance.now();
      const outcome = await client.call('tasks.getall', { lane: 'batch', query: { page } });
      const rows = outcome.status === 'applied' ? (outcome.content as never[]) : [];
      const records = rows.flatMap((row) => {
        const read = toTaskState(row, autoDialect);
        return read.status === 'read'
          ? [{ id: read.task.id, hash: taskHash(read.task), task: read.task, readAtMs }]
          : [];
      });
      return { records };
    },
    keep: async () => {},
    missing: async () => [],
    lookUp: async () => false,
  });
  return seen.size;
}
