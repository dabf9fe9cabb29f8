import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { behind } from '../src/behind.ts';

/** Work that lasts until it is told to end, and says when it began. */
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

test('two pieces are under way at once, a third waits for room', async () => {
  const { begun, work, finish } = pieces();
  const keeping = behind();
  await keeping.begin(work('a'));
  await keeping.begin(work('b'));
  const third = keeping.begin(work('c'));
  await settled();
  expect(begun).toEqual(['a', 'b']);
  finish('b');
  await third;
  expect(begun).toEqual(['a', 'b', 'c']);
});

test('of two pieces about one thing the later begins when the earlier has ended', async () => {
  const { begun, work, finish } = pieces();
  const keeping = behind();
  await keeping.begin(work('a'), ['1', '2']);
  const later = keeping.begin(work('b'), ['3', '2']);
  await settled();
  expect(begun).toEqual(['a']);
  finish('a');
  await later;
  expect(begun).toEqual(['a', 'b']);
});

test('pieces about different things need not wait for each other', async () => {
  const { begun, work } = pieces();
  const keeping = behind();
  await keeping.begin(work('a'), ['1']);
  await keeping.begin(work('b'), ['2']);
  expect(begun).toEqual(['a', 'b']);
});

test('what a piece throws meets whoever begins the next, and whoever waits for the end', async () => {
  const { work, finish } = pieces();
  const keeping = behind();
  await keeping.begin(work('a'));
  finish('a', new Error('the disk is full'));
  await settled();
  await expect(keeping.begin(work('b'))).rejects.toThrow('the disk is full');
  await expect(keeping.end()).rejects.toThrow('the disk is full');
});

test('the end waits for all that was begun', async () => {
  const { work, finish } = pieces();
  const keeping = behind();
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
