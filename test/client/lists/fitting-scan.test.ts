import { expect, test } from 'vitest';
import { LockstepError } from '../../../src/base/errors.ts';
import { type FittingSource, fittingScan } from '../../../src/client/lists/fitting-scan.ts';
import type { ScannedRecord } from '../../../src/client/lists/pass.ts';

const IDS = Array.from({ length: 42 }, (_, n) => ({ id: String(n) }));
const refused = (httpStatus: number, message: string) => new LockstepError('SERVICE_REFUSED', message, { httpStatus });
const failed = new Error('HTTP 504');

/** Reads `IDS`; a page of more than `most` rows throws `error`. */
function listWithPages(most: number, error: Error) {
  const sizes: number[] = [];
  const seen = new Set<string>();
  const source: FittingSource<ScannedRecord> = {
    rowsPerPage: 500,
    hasFailed: (one) => one === failed,
    async read(page, size) {
      sizes.push(size);
      if (size > most) throw error;
      return { records: IDS.slice(page * size, (page + 1) * size) };
    },
    async keep(records) {
      const fresh = records.filter(({ id }) => !seen.has(id));
      for (const { id } of fresh) seen.add(id);
      return { newInPass: fresh.length, newInAll: fresh.length };
    },
  };
  return { source, sizes, seen };
}

test.each([
  ['with a 400', 100, refused(400, 'HTTP 400 with an HTML page')],
  ['with a 422', 20, refused(422, 'invalid')],
  ['in an envelope that names it', 10, refused(200, 'rows_per_page must be at most 10')],
  ['by failing', 100, failed],
  ['by failing in an envelope', 100, refused(200, 'upstream timed out')],
])('smaller pages are requested from a service that refuses the wanted size %s', async (_how, most, error) => {
  const { source, seen } = listWithPages(most, error);
  expect((await fittingScan(source)).proof).toBe('proven');
  expect(seen.size).toBe(42);
});

test.each([
  ['a key', refused(403, 'forbidden')],
  ['everything', refused(200, 'under repair')],
])('a service that refuses %s is not asked for smaller pages', async (_what, error) => {
  const { source, sizes } = listWithPages(0, error);
  await expect(fittingScan(source)).rejects.toBe(error);
  expect(new Set(sizes)).toEqual(new Set([500]));
});

test('the error for the wanted size is thrown if no size helps', async () => {
  const { source, sizes } = listWithPages(0, failed);
  await expect(fittingScan(source)).rejects.toBe(failed);
  expect(new Set(sizes)).toEqual(new Set([500, 100]));
});

test('an error in the middle of a list is thrown', async () => {
  const { source } = listWithPages(500, failed);
  const broken: typeof source.read = (page, size) => (page > 0 ? Promise.reject(failed) : source.read(page, size));
  await expect(fittingScan({ ...source, rowsPerPage: 20, read: broken })).rejects.toBe(failed);
});
