import { expect, test } from 'vitest';
import { createParking } from '../../../src/engine/worker/parked.ts';

function latch<T>() {
  let open = (_value: T): void => undefined;
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

const parkingFor = (slotMs: number, errors: unknown[] = []) =>
  createParking<string>(slotMs, (error) => errors.push(error));

test('does not park work that ends soon', async () => {
  const parking = parkingFor(60_000);
  expect(
    await parking.await(
      'a',
      async () => 'done',
      async () => {},
    ),
  ).toBe('done');
  await expect(
    parking.await(
      'a',
      async () => Promise.reject(new Error('broke')),
      async () => {},
    ),
  ).rejects.toThrow('broke');
});

test('parks work that waits, begins it once however often it is requested, and reports its end', async () => {
  const parking = parkingFor(1);
  const { opened, open } = latch<string>();
  let begun = 0;
  const ends: string[] = [];
  const ask = () =>
    parking.await(
      'a',
      () => {
        begun++;
        return opened;
      },
      async (ended) => void ends.push(await ended),
    );
  expect([await ask(), await ask()]).toEqual(['parked', 'parked']);
  open('done');
  await parking.empty();
  expect([begun, ends]).toEqual([1, ['done']]);
  expect(
    await parking.await(
      'a',
      async () => 'again',
      async () => {},
    ),
  ).toBe('again');
});

test('reports an error at the end, and frees the slot', async () => {
  const errors: unknown[] = [];
  const parking = parkingFor(1, errors);
  const { opened, open } = latch<string>();
  await parking.await(
    'a',
    () => opened,
    async (ended) => Promise.reject(new Error(await ended)),
  );
  open('broke');
  await parking.empty();
  expect(errors).toEqual([new Error('broke')]);
  expect(
    await parking.await(
      'a',
      async () => 'again',
      async () => {},
    ),
  ).toBe('again');
});
