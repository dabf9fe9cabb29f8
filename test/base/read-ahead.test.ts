import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { readAhead } from '../../src/base/read-ahead.ts';

/** Reads that the test ends, in any order. */
function reads() {
  const begun: number[] = [];
  const ends = new Map<number, (error?: Error) => void>();
  const read = (item: number) => {
    begun.push(item);
    return new Promise<string>((resolve, reject) => {
      ends.set(item, (error) => (error ? reject(error) : resolve(`answer ${item}`)));
    });
  };
  return { begun, read, end: (item: number, error?: Error) => ends.get(item)?.(error) };
}

test('answers come in the order of the items, and the next reads begin meanwhile', async () => {
  const { begun, read, end } = reads();
  const answers: string[] = [];
  const reading = (async () => {
    for await (const answer of readAhead([1, 2, 3, 4], read, () => (answers.length === 0 ? 2 : 3)))
      answers.push(answer);
  })();
  await nextTurn();
  end(2);
  await nextTurn();
  expect([begun, answers]).toEqual([[1, 2], []]);
  end(1);
  await nextTurn();
  expect([begun, answers]).toEqual([
    [1, 2, 3, 4],
    ['answer 1', 'answer 2'],
  ]);
  end(4);
  end(3);
  await reading;
  expect(answers).toEqual(['answer 1', 'answer 2', 'answer 3', 'answer 4']);
});

test('a failure is thrown after the answers before it, once no read is under way', async () => {
  const { begun, read, end } = reads();
  const answers: string[] = [];
  const failed = (async () => {
    for await (const answer of readAhead([1, 2, 3, 4], read, () => 3)) answers.push(answer);
  })().catch((error: unknown) => `${error} after ${answers}`);
  await nextTurn();
  end(2, new Error('away'));
  end(1);
  await nextTurn();
  const isOver = await Promise.race([failed, nextTurn('not yet')]);
  for (const item of begun.slice(2)) end(item);
  expect([isOver, await failed]).toEqual(['not yet', 'Error: away after answer 1']);
});
