import { expect, test } from 'vitest';
import { createParking } from '../../src/worker/parked.ts';

function latch<T>() {
  let open = (_value: T): void => undefined;
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

const parkingFor = (slotMs: number, errors: unknown[] = []) =>
  createParking<string>({ slotMs, onError: (error) => errors.push(error) });

test('work that ends soon is never parked', async () => {
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

test('work that waits is parked, begun once however often it is asked for, and its end is told', async () => {
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
      async () => 'anew',
      async () => {},
    ),
  ).toBe('anew');
});

test('what goes wrong at the end is told, and the place is free again', async () => {
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
      async () => 'anew',
      async () => {},
    ),
  ).toBe('anew');
});
