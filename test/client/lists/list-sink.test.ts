/** How a list is handed over. */
import { expect, test } from 'vitest';
import { autoDialect } from '../../../src/client/call/dialect.ts';
import { createListSink } from '../../../src/client/lists/list-sink.ts';

test('other work of the process has its turn between the batches of a list that is there at once', async () => {
  let turns = 0;
  const turn = () => {
    turns++;
    waiting = setImmediate(turn);
  };
  let waiting = setImmediate(turn);
  const turnsAtBatches: number[] = [];
  const { sink } = createListSink({ operation: 'customers.getall', label: 'GET /' }, autoDialect, {
    onRecords: async () => void turnsAtBatches.push(turns),
  });
  const list = Array.from({ length: 5_000 }, (_, id) => ({ id, full_name: 'Ann' }));
  await sink.write(Buffer.from(JSON.stringify(list)));
  clearImmediate(waiting);
  expect(turnsAtBatches.length).toBeGreaterThan(2);
  expect(new Set(turnsAtBatches).size).toBe(turnsAtBatches.length);
});
