/** A refused page is past the end of its list, or in its middle, or the list has just grown. */
import { expect, test } from 'vitest';
import { LockstepError } from '../../../src/base/errors.ts';
import { emptyPastEnd } from '../../../src/client/lists/missing-page.ts';

/** Reads pages of a list that has three; `refusals`: how often each page is refused before it is answered. */
function reading(refusals: Readonly<Record<number, number>>) {
  const left = new Map(Object.entries(refusals).map(([page, times]) => [Number(page), times]));
  return emptyPastEnd(async (page: number) => {
    const times = left.get(page) ?? 0;
    left.set(page, times - 1);
    if (times > 0 || page > 2) throw new LockstepError('SERVICE_REFUSED', `no page ${page}`, { httpStatus: 404 });
    return [`record of page ${page}`];
  });
}

test('a page that is refused twice past the last one is empty', async () => {
  const read = reading({});
  await read(0);
  expect(await read(3)).toEqual([]);
});

test('a page that is refused once has its records', async () => {
  const read = reading({ 2: 1 });
  await read(0);
  expect(await read(2)).toEqual(['record of page 2']);
});

test('a page that is refused twice before another one is an error', async () => {
  const read = reading({ 1: 9 });
  await read(0);
  await expect(read(1)).rejects.toThrow('no page 1');
});
