import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { boundedPipeline } from '../../src/base/bounded-pipeline.ts';

/** Work that runs until the test ends it, and reports when it began. */
function pieces() {
  const begun: string[] = [];
  const ends = new Map<string, (error?: Error) => void>();
  const work = (name: string) => () => {
    begun.push(name);
    return new Promise<void>((resolve, reject) => {
      ends.set(name, (error) => (error ? reject(error) : resolve()));
    });
  };
  return { begun, work, finish: (name: string, error?: Error) => ends.get(name)?.(error) };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await nextTurn();
}

test('runs two tasks at once; a third waits for a free slot', async () => {
  const { begun, work, finish } = pieces();
  const keeping = boundedPipeline();
  await keeping.begin(work('a'));
  await keeping.begin(work('b'));
  const third = keeping.begin(work('c'));
  await settled();
  expect(begun).toEqual(['a', 'b']);
  finish('b');
  await third;
  expect(begun).toEqual(['a', 'b', 'c']);
});

test('runs tasks with the same key one after the other', async () => {
  const { begun, work, finish } = pieces();
  const keeping = boundedPipeline();
  await keeping.begin(work('a'), ['1', '2']);
  const later = keeping.begin(work('b'), ['3', '2']);
  await settled();
  expect(begun).toEqual(['a']);
  finish('a');
  await later;
  expect(begun).toEqual(['a', 'b']);
});

test('runs tasks with different keys at the same time', async () => {
  const { begun, work } = pieces();
  const keeping = boundedPipeline();
  await keeping.begin(work('a'), ['1']);
  await keeping.begin(work('b'), ['2']);
  expect(begun).toEqual(['a', 'b']);
});

test('passes an error of a task to the caller that begins the next task, and to the caller that waits for the end', async () => {
  const { work, finish } = pieces();
  const keeping = boundedPipeline();
  await keeping.begin(work('a'));
  finish('a', new Error('the disk is full'));
  await settled();
  await expect(keeping.begin(work('b'))).rejects.toThrow('the disk is full');
  await expect(keeping.end()).rejects.toThrow('the disk is full');
});

test('the end waits for every task that was begun', async () => {
  const { work, finish } = pieces();
  const keeping = boundedPipeline();
  await keeping.begin(work('a'));
  await keeping.begin(work('b'));
  let isOver = false;
  const end = keeping.end().then(() => {
    isOver = true;
  });
  finish('a');
  await settled();
  expect(isOver).toBe(false);
  finish('b');
  await end;
});
