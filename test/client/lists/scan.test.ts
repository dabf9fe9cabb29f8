import { describe, expect, test } from 'vitest';
import { LockstepError } from '../../../src/base/errors.ts';
import type { ScannedRecord } from '../../../src/client/lists/pass.ts';
import { type Proof, scan } from '../../../src/client/lists/scan.ts';
import { SeenIds } from '../../../src/client/lists/seen-ids.ts';
import { anError } from '../../support/matchers.ts';
import { DriftingList, type ListOptions } from './drifting-list.ts';
import { bare, missed, scanOf } from './scan-of.ts';

describe('a list that is paged in another way', () => {
  const fixed = (fixedSize: number, length: number) => ({ length, cap: 1e6, fixedSize });
  const fromOne = (pageZero: 'empty' | 'first' | 'missing') => ({ firstPage: 1, pageZero }) as const;
  const cases: readonly [string, ListOptions, Proof][] = [
    ['pages counted from 1, page 0 empty', { length: 230, cap: 50, firstPage: 1, pageZero: 'empty' }, 'proven'],
    ['pages counted from 1, page 0 as page 1', { length: 230, cap: 50, firstPage: 1, pageZero: 'first' }, 'proven'],
    ['page numbers ignored, sizes honoured', { length: 40, cap: 50, ignoresPage: true }, 'unproven'],
    ['page numbers ignored, more records than a page holds', { length: 230, cap: 50, ignoresPage: true }, 'unproven'],
    ['page numbers ignored, three rows a page', { length: 230, cap: 3, ignoresPage: true }, 'unproven'],
    ['page numbers and sizes ignored', { length: 230, cap: 1e6, ignoresPage: true, fixedSize: 1e6 }, 'weak'],
    ['sizes ignored, smaller pages', { length: 230, cap: 50, fixedSize: 20 }, 'weak'],
    ['sizes ignored, larger pages', { length: 230, cap: 1e6, fixedSize: 70 }, 'weak'],
    ['sizes ignored, counted from 1', { ...fixed(25, 100), ...fromOne('first') }, 'weak'],
    [
      'sizes ignored, counted from 1, newest first',
      { ...fixed(20, 300), ...fromOne('first'), order: 'newest' },
      'weak',
    ],
    ['sizes ignored, counted from 1, page 0 empty', { ...fixed(25, 100), ...fromOne('empty') }, 'weak'],
    ['sizes ignored, counted from 1, one page', { ...fixed(25, 20), ...fromOne('first') }, 'weak'],
    ['sizes ignored, counted from 1, larger pages', { ...fixed(70, 230), ...fromOne('first') }, 'weak'],
    ['three rows a page, counted from 1', { length: 9, cap: 3, ...fromOne('first') }, 'weak'],
    ['two rows a page, counted from 1', { length: 9, cap: 2, ...fromOne('empty') }, 'weak'],
    ['two records, counted from 1', { length: 2, cap: 50, ...fromOne('first') }, 'proven'],
    ['sizes rounded down to tens, counted from 1', { length: 230, cap: 50, roundsTo: 10, ...fromOne('first') }, 'weak'],
    ['404 past full pages', { ...fixed(25, 100), missingPastEnd: true }, 'weak'],
    ['404 past full pages, counted from 1', { ...fixed(25, 100), ...fromOne('first'), missingPastEnd: true }, 'weak'],
    ['404 for page 0 and past the end', { ...fixed(25, 100), ...fromOne('missing'), missingPastEnd: true }, 'weak'],
    ['404 past the end, sizes honoured', { length: 100, cap: 25, missingPastEnd: true }, 'proven'],
    ['404 for page 0, sizes honoured', { length: 100, cap: 25, ...fromOne('missing') }, 'proven'],
    ['the first page again past the end', { length: 230, cap: 50, pastEnd: 'first' }, 'proven'],
    ['the last page again past the end', { length: 230, cap: 50, pastEnd: 'last' }, 'proven'],
    ['the first page again past the end, sizes ignored', { ...fixed(20, 230), pastEnd: 'first' }, 'weak'],
    ['the last page again past the end, sizes ignored', { ...fixed(20, 230), pastEnd: 'last' }, 'weak'],
    ['a short first page again past the end', { ...fixed(20, 230), pastEnd: 'first', hides: 19 }, 'weak'],
    ['the first page again past full pages', { ...fixed(25, 100), pastEnd: 'first' }, 'unproven'],
    ['the last page again past full pages', { ...fixed(25, 100), pastEnd: 'last' }, 'unproven'],
    ['404 past an empty page', { length: 0, cap: 25, missingPastEnd: true }, 'proven'],
    ['404 past one page, counted from 1', { length: 20, cap: 25, ...fromOne('empty'), missingPastEnd: true }, 'proven'],
    ['sizes rounded down to tens', { length: 230, cap: 50, roundsTo: 10 }, 'weak'],
    ['one row a page', { length: 12, cap: 1 }, 'weak'],
    ['three rows a page', { length: 12, cap: 3 }, 'weak'],
    ['another order at every read', { length: 230, cap: 50, order: 'random', seed: 3 }, 'unproven'],
  ];

  test.each(cases)('%s: no record is missed silently', async (_name, options, proof) => {
    const list = new DriftingList(options);
    const { report, seen } = await scanOf(list);
    expect(report.proof).toBe(proof);
    if (proof !== 'unproven') expect(missed(list, seen)).toEqual([]);
    else expect(report.reasons.length).toBeGreaterThan(0);
  });

  test.each([
    [12, 10],
    [23, 10],
    [40, 10],
    [60, 20],
  ])('of %i records in pages of %i without any order is hardly ever proven', async (length, size) => {
    let wrongly = 0;
    for (let seed = 0; seed < 100; seed++) {
      const list = new DriftingList({ length, cap: 50, order: 'random', seed });
      const { report, seen } = await scanOf(list, size);
      if (report.proof === 'proven' && seen.size < length) wrongly++;
    }
    expect(wrongly).toBeLessThanOrEqual(5);
  });

  test('a list of two pages of a fixed size is read with few calls, however short the second page is', async () => {
    for (let length = 17; length <= 32; length++) {
      const list = new DriftingList({ length, cap: 1e6, fixedSize: 16 });
      const { report, seen, pages } = await scanOf(list, 16);
      expect([length, seen.size, report.proof]).toEqual([length, length, 'weak']);
      expect(pages).toBeLessThanOrEqual(20);
    }
  });

  test.each<[string, Partial<ListOptions>, number]>([
    ['of a fixed size', { fixedSize: 20 }, 120],
    ['of a chosen size', {}, 120],
    ['of a chosen size, in a longer list', { cap: 50 }, 420],
  ])(
    'of records whose order depends on the request, in pages %s: none is missed silently',
    async (_how, how, length) => {
      let silently = 0;
      for (let seed = 0; seed < 100; seed++) {
        const list = new DriftingList({ length, cap: 20, order: 'tied', seed, ...how });
        const { report, seen } = await scanOf(list, 500);
        if (report.proof !== 'unproven' && seen.size < length) silently++;
      }
      expect(silently).toBeLessThanOrEqual(1);
    },
  );

  test('gives up an endless list within a bounded number of calls', async () => {
    const list = new DriftingList({ length: 100, cap: 20, fixedSize: 20, endless: true });
    const { report, pages } = await scanOf(list);
    expect(report.proof).toBe('unproven');
    expect(pages).toBeLessThan(60);
  });
});

describe('a list without an end', () => {
  const endless = {
    keep: async (records: readonly unknown[]) => ({ newInPass: records.length, newInAll: records.length }),
  };

  test.each([
    ['sizes are honoured', (size: number) => size],
    ['pages are larger than asked for', (size: number) => 2 * size],
    ['pages are smaller than asked for', () => 5],
  ])('because every page holds new records is given up with an error that says so, where %s', async (_how, rows) => {
    let reads = 0;
    const read = async (page: number, size: number) => {
      reads++;
      return Array.from({ length: rows(size) }, (_, i) => ({ id: String(page * rows(size) + i) }));
    };
    const scanning = scan({ ...endless, read: bare(read), rowsPerPage: 50, maxRecords: 1_000 });
    await expect(scanning).rejects.toMatchObject(anError('LIST_ENDLESS', '1000'));
    expect(reads).toBeLessThan(1_000);
  });

  test('because every read makes up new ids is given up within a bounded number of calls', async () => {
    let id = 0;
    let reads = 0;
    const read = async (_page: number, size: number) => {
      reads++;
      return Array.from({ length: size }, () => ({ id: String(++id) }));
    };
    const report = await scan({ ...endless, read: bare(read), rowsPerPage: 50 });
    expect(report.proof).toBe('unproven');
    expect(reads).toBeLessThan(400);
    expect(report.reasons.join()).toMatch(/changes as fast as it is read, or has no end/);
  });
});

describe('a list whose records have', () => {
  const rows = Array.from({ length: 37 }, (_, i) => `Contact ${i}`);
  const lists: readonly (readonly [string, (page: number, size: number) => readonly [from: number, to: number]])[] = [
    ['whole', () => [0, 37]],
    ['in pages of ten', (page) => [page * 10, page * 10 + 10]],
    ['in pages of the size asked for', (page, size) => [page * size, (page + 1) * size]],
  ];
  const scanning = (bounds: (page: number, size: number) => readonly [number, number], idOf: (i: number) => string) => {
    const seen = new SeenIds();
    let reads = 0;
    const read = async (page: number, size: number) => {
      const read = ++reads;
      const [from, to] = bounds(page, size);
      return rows.slice(from, to).map((hash, i) => ({ id: `${idOf(from + i)}-${read}`, hash }));
    };
    return scan({ read: bare(read), keep: async (records, pass) => seen.notePage(records, pass, 0), rowsPerPage: 25 });
  };

  test.each(lists)('another id in each answer, %s, is given up', async (_how, bounds) => {
    const message = expect.stringMatching(/0-\d+, then 0-\d+\).*idField/);
    await expect(scanning(bounds, String)).rejects.toMatchObject({ code: 'IDS_CHANGE', message });
  });

  test('equal content is read to its end', async () => {
    const read = async (page: number) => (page < 5 ? [{ id: String(page), hash: 'equal' }] : []);
    const [seen, kept] = [new SeenIds(), new Set<string>()];
    const keep = async (records: readonly ScannedRecord[], pass: number) => {
      for (const { id } of records) kept.add(id);
      return seen.notePage(records, pass, 0);
    };
    await scan({ read: bare(read), keep, rowsPerPage: 25 });
    expect(kept.size).toBe(5);
  });
});

test.each([4, 7, 25])('reads a list of two pages of %i that ignores sizes to its end', async (size) => {
  for (const length of [size + 1, size * 2 - 1, size * 2]) {
    const all = Array.from({ length }, (_, i) => ({ id: String(i) }));
    const seen = new Set<string>();
    const read = async (page: number) => all.slice(page * size, (page + 1) * size);
    const keep = async (records: readonly { readonly id: string }[]) => {
      const before = seen.size;
      for (const { id } of records) seen.add(id);
      return { newInPass: seen.size - before, newInAll: seen.size - before };
    };
    await scan({ read: bare(read), keep, rowsPerPage: size });
    expect(seen.size).toBe(length);
  }
});

describe('a page that is refused in the middle of a list', () => {
  const refused = (page: number) => new LockstepError('SERVICE_REFUSED', `page ${page} failed`, { httpStatus: 200 });
  const keep = async ({ length }: readonly unknown[]) => ({ newInPass: length, newInAll: length });
  const rows = (page: number) => Array.from({ length: page < 6 ? 25 : 0 }, (_, i) => ({ id: String(page * 25 + i) }));

  test('is not the end where the page after it has records', async () => {
    const read = async (page: number) => {
      if (page === 3) throw refused(page);
      return rows(page);
    };
    await expect(scan({ read: bare(read), keep, rowsPerPage: 50 })).rejects.toThrow('page 3 failed');
  });

  test('is not the end where the second request succeeds: the list is read whole', async () => {
    const failed = new Set<number>();
    const seen = new Set<string>();
    const read = async (page: number) => {
      if (page >= 3 && failed.size < 2 && !failed.has(page)) {
        failed.add(page);
        throw refused(page);
      }
      return rows(page);
    };
    const keepSeen = async (records: readonly { id: string }[]) => {
      for (const { id } of records) seen.add(id);
      return keep(records);
    };
    await scan({ read: bare(read), keep: keepSeen, rowsPerPage: 50 });
    expect([failed.size, seen.size]).toEqual([2, 150]);
  });
});

describe('a 404', () => {
  const notFound = (page: number) => new LockstepError('SERVICE_REFUSED', `no page ${page}`, { httpStatus: 404 });
  const keep = async () => ({ newInPass: 0, newInAll: 0 });

  test('for the first page, whatever its number, ends the scan with that error', async () => {
    const read = async (page: number) => {
      throw notFound(page);
    };
    await expect(scan({ read: bare(read), keep, rowsPerPage: 10 })).rejects.toThrow('no page 0');
  });

  test('for a first page that was there before is not the end of the list', async () => {
    let reads = 0;
    const read = async (page: number) => {
      if (++reads > 4) throw notFound(page); // the service is being replaced
      return Array.from({ length: 25 }, (_, i) => ({ id: String(page * 25 + i) }));
    };
    await expect(scan({ read: bare(read), keep, rowsPerPage: 50 })).rejects.toThrow(/no page/);
  });
});

test('reads a list that fits no known paging to its end, page by page', async () => {
  const list = new DriftingList({ length: 100, cap: 1e6 });
  const keep = list.keeper();
  // Half a page is honoured, as if sizes were supported; any other size is not.
  const read = async (page: number, size: number) => list.page(Math.max(0, page - 1), size === 12 ? 12 : 25);
  const report = await scan({ read: bare(read), keep: keep.keep, rowsPerPage: 50 });
  expect([report.proof, keep.seen.size]).toEqual(['weak', 100]);
});

test.each([3, 0])('a list whose every page is empty is proven unless it counts records: %i', async (total) => {
  const read = async () => ({ records: [], beside: { total } });
  const report = await scan({
    rowsPerPage: 100,
    keep: async () => ({ newInPass: 0, newInAll: 0, otherwise: [] }),
    read,
  });
  expect(report.proof).toBe(total === 0 ? 'proven' : 'unproven');
});

test('reads a list that continues behind the id of its last record to its end', async () => {
  const list = new DriftingList({ length: 57, cap: 10, continues: 'starting_after' });
  const { report, seen } = await scanOf(list);
  expect([report.proof, seen.size]).toEqual(['weak', 57]);
});

test('a page that cannot be read ends the scan with that error', async () => {
  const read = async () => {
    throw new Error('the page is away');
  };
  const keep = async () => ({ newInPass: 0, newInAll: 0 });
  await expect(scan({ read: bare(read), keep, rowsPerPage: 10 })).rejects.toThrow('the page is away');
});
