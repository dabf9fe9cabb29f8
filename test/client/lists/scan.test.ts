import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LockstepError } from '../../../src/base/errors.ts';
import type { ReadPage } from '../../../src/client/lists/continuation.ts';
import type { ScannedRecord } from '../../../src/client/lists/pass.ts';
import { type Proof, scan } from '../../../src/client/lists/scan.ts';
import { SeenIds } from '../../../src/client/lists/seen-ids.ts';
import { anError } from '../../support/matchers.ts';
import { DriftingList, type ListOptions } from './drifting-list.ts';

/** Answers that say nothing beside their records. */
function bare<R extends ScannedRecord>(read: (page: number, size: number) => Promise<readonly R[]>): ReadPage<R> {
  return async (page, size) => ({ records: await read(page, size) });
}

async function scanOf(list: DriftingList, rowsPerPage = 50) {
  const keep = list.keeper();
  let pages = 0;
  const read: ReadPage<ScannedRecord> = async (...asked) => {
    pages++;
    return list.answer(...asked);
  };
  const report = await scan({ read, keep: keep.keep, rowsPerPage });
  return { report, seen: keep.seen, pages };
}

function missed(list: DriftingList, seen: ReadonlySet<string>): readonly string[] {
  return list.persistent().filter((id) => !seen.has(id));
}

const drifting: fc.Arbitrary<ListOptions> = fc.record({
  seed: fc.integer(),
  length: fc.integer({ min: 10, max: 120 }), // a page holds more records than are added while it is read
  cap: fc.integer({ min: 8, max: 30 }),
  changesPerRead: fc.double({ min: 0, max: 2, noNaN: true }),
  deletesShare: fc.double({ min: 0.2, max: 0.8, noNaN: true }),
  order: fc.constantFrom('oldest', 'newest'),
  inserts: fc.constantFrom('end', 'anywhere'),
  total: fc.constantFrom(undefined, 'all'),
  continues: fc.constantFrom(undefined, undefined, 'offset', 'cursor', 'starting_after'),
}) as fc.Arbitrary<ListOptions>; // safe: fast-check adds undefined to optional members

const renamed = { updatesShare: 0.5, movesTo: 'anywhere', inserts: 'anywhere' } as const;

describe('a list that drifts during the scan', () => {
  test('a proven scan has missed no record that existed throughout', async () => {
    await fc.assert(
      fc.asyncProperty(drifting, async (options) => {
        const list = new DriftingList(options);
        const { report, seen } = await scanOf(list);
        if (report.proof === 'proven') expect(missed(list, seen)).toEqual([]);
      }),
      { numRuns: 3_000 },
    );
  });

  test('a proven scan of a list that is sorted by the last update has missed no record either', async () => {
    const updated = fc.record({
      seed: fc.integer(),
      length: fc.integer({ min: 10, max: 400 }),
      cap: fc.integer({ min: 8, max: 60 }),
      changesPerRead: fc.double({ min: 0, max: 2, noNaN: true }),
      deletesShare: fc.double({ min: 0, max: 0.5, noNaN: true }),
      updatesShare: fc.double({ min: 0.1, max: 1, noNaN: true }),
      order: fc.constant('newest' as const),
    });
    await fc.assert(
      fc.asyncProperty(updated, async (options) => {
        const list = new DriftingList(options);
        const { report, seen } = await scanOf(list);
        if (report.proof === 'proven') expect(missed(list, seen)).toEqual([]);
      }),
      { numRuns: 3_000 },
    );
  });

  test.each([
    ['at every tenth read', undefined, 0.1, 0],
    ['at every second read', undefined, 0.5, 3],
    ['at every tenth read for the first time', 'oldest', 0.1, 0],
    ['at every tenth read for the first time, backwards', 'newest', 0.1, 0],
  ] as const)(
    'a proven scan of a list that is sorted by name, in which records are renamed %s, misses hardly any',
    async (_how, order, changesPerRead, most) => {
      let missing = 0;
      for (let seed = 0; seed < 300; seed++) {
        const drift = { changesPerRead, deletesShare: 0.2, ...renamed };
        const list = new DriftingList({ seed, length: 400, cap: 40, ...drift, ...(order && { order }) });
        const { report, seen } = await scanOf(list);
        if (report.proof === 'proven' && missed(list, seen).length > 0) missing++;
      }
      expect(missing).toBeLessThanOrEqual(most);
    },
  );

  test('nearly every scan from the newest id is proven while records are added and deleted', async () => {
    const proofs: Proof[] = [];
    for (let seed = 0; seed < 100; seed++) {
      const list = new DriftingList({ seed, length: 400, cap: 40, changesPerRead: 0.5, order: 'newest' });
      const { report, seen } = await scanOf(list);
      proofs.push(report.proof);
      expect(missed(list, seen)).toEqual([]);
    }
    expect(proofs.filter((proof) => proof === 'proven').length).toBeGreaterThanOrEqual(97);
  });

  test('a scan of a list whose pages lack records misses none of the others, and is not proven against a total', async () => {
    const lacking = fc.record({
      length: fc.nat(400),
      cap: fc.integer({ min: 8, max: 50 }),
      hides: fc.integer({ min: 3, max: 40 }), // no page lacks all of its records
      total: fc.constantFrom(undefined, 'all', 'shown'),
      continues: fc.constantFrom(undefined, 'cursor', 'offset', 'starting_after'),
      fixedSize: fc.constantFrom(undefined, 20),
    }) as fc.Arbitrary<ListOptions>; // safe: as above
    await fc.assert(
      fc.asyncProperty(lacking, async (options) => {
        const list = new DriftingList(options);
        const { report, seen } = await scanOf(list);
        if (report.proof === 'proven') expect(missed(list, seen)).toEqual([]);
        if (options.total === 'all' && seen.size < (options.length ?? 0)) expect(report.proof).toBe('unproven');
      }),
      { numRuns: 2_000 },
    );
  });

  test('a scan of short pages that lack records, and count only what they show, finds all the same', async () => {
    for (let length = 0; length <= 60; length++) {
      for (const [cap, hides] of [
        [6, 7],
        [6, 8],
        [5, 4],
        [8, 3],
      ] as const) {
        const list = new DriftingList({ length, cap, hides, total: 'shown' });
        const { report, seen } = await scanOf(list);
        expect([length, cap, hides, report.proof === 'unproven', missed(list, seen)]).toEqual([
          ...[length, cap, hides, false, []],
        ]);
      }
    }
  });

  test('nearly every scan under ordinary drift is proven', async () => {
    const proofs: Proof[] = [];
    for (let seed = 0; seed < 100; seed++) {
      const list = new DriftingList({ seed, length: 2_000, cap: 100, changesPerRead: 0.5, deletesShare: 0.5 });
      proofs.push((await scanOf(list, 500)).report.proof);
    }
    expect(proofs.filter((proof) => proof === 'proven').length).toBeGreaterThanOrEqual(99);
  });

  test('a plain loop over the same list misses records', () => {
    const list = new DriftingList({ seed: 1, length: 2_000, cap: 100, changesPerRead: 2, deletesShare: 0.5 });
    const seen = new Set<string>();
    for (let page = 0; ; page++) {
      const records = list.page(page, 100);
      for (const { id } of records) seen.add(id);
      if (records.length < 100) break;
    }
    expect(missed(list, seen).length).toBeGreaterThan(0);
  });
});

describe('a list that does not change', () => {
  test.each([0, 1, 2, 3, 4, 5, 49, 50, 51, 99, 100, 101, 499, 500, 501, 1_000, 5_000, 50_000])(
    'of %i records is proven, within 1.2 × its pages + 3 calls',
    async (length) => {
      const { report, seen, pages } = await scanOf(new DriftingList({ length, cap: 500 }), 500);
      expect([report.proof, seen.size]).toEqual(['proven', length]);
      expect(pages).toBeLessThanOrEqual(1.2 * Math.ceil(length / 500) + 3);
    },
  );

  test.each([100, 200, 1_000])('capped at %i rows a page is read within 1.2 × its pages + 3 calls', async (cap) => {
    const { report, seen, pages } = await scanOf(new DriftingList({ length: 20_000, cap }), 5_000);
    expect([report.proof, seen.size]).toEqual(['proven', 20_000]);
    expect(pages).toBeLessThanOrEqual((1.2 * 20_000) / cap + 3);
  });
});

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

describe('ids that repeat', () => {
  type Row = { readonly id: string; readonly hash: string };
  const rowsOf = (length: number, idOf = (n: number) => n): Row[] =>
    Array.from({ length }, (_, n) => ({ id: String(idOf(n)), hash: `hash ${n}` }));
  const pagesOf = (rows: readonly Row[]) => (page: number, size: number) => rows.slice(page * size, (page + 1) * size);
  const scanOver = async (pages: (page: number, size: number) => readonly Row[]) => {
    const { keep, seen } = new DriftingList({ length: 0, cap: 1 }).keeper();
    const report = await scan({ read: bare(async (page, size) => pages(page, size)), keep, rowsPerPage: 10 });
    return [report.proof, seen.size];
  };

  test('on one page with the same content are one record, and the scan is still proven', async () => {
    const twice = rowsOf(40).flatMap((row) => [row, row]);
    expect(await scanOver(pagesOf(twice))).toEqual(['proven', 40]);
  });

  test.each<[string, (page: number, size: number) => readonly Row[]]>([
    ['two records', pagesOf(rowsOf(45, (n) => (n === 7 ? 6 : n)))],
    ['all records', pagesOf(rowsOf(45, () => 1))],
    [
      'the same position of every page',
      (page, size) => pagesOf(rowsOf(45))(page, size).map((row, index) => ({ ...row, id: String(index) })),
    ],
  ])('in %s that differ end the scan with an error that names one', async (_which, pages) => {
    await expect(scanOver(pages)).rejects.toMatchObject({
      ...anError('ID_NOT_UNIQUE', /id \d.*idField/),
    });
  });

  test('only for a moment, while a record moves, are read again', async () => {
    let reads = 0;
    const pages = (page: number, size: number) => {
      const rows = pagesOf(rowsOf(45))(page, size);
      return ++reads === 1 ? [...rows.slice(0, -1), { id: '0', hash: 'as it was' }] : rows;
    };
    expect(await scanOver(pages)).toEqual(['proven', 45]);
  });
});

describe('a record that appears again later with other content', () => {
  /** Pages of ten of a list whose record 3 is also at its end; `read` counts the reads of the first page. */
  async function scanWith(hashAtFirst: (read: number) => string | undefined) {
    const seen = new SeenIds();
    let firstReads = 0;
    let calls = 0;
    const ids = [...Array.from({ length: 45 }, (_, i) => String(i)), '3'];
    return scan({
      rowsPerPage: 10,
      read: bare(async (page, size) => {
        const from = page * size;
        const rows = ids.slice(from, from + size).map((id, i) => ({ id, hash: from + i === 45 ? 'new' : 'old' }));
        if (page > 0) return rows;
        const hash = hashAtFirst(++firstReads);
        return rows.flatMap((row) => (row.id !== '3' ? [row] : hash === undefined ? [] : [{ ...row, hash }]));
      }),
      keep: async (records, pass) => {
        const keptIn = calls++;
        const sightings = records.map(({ id, hash }) => ({ id, ...seen.note(id, pass, hash, keptIn) }));
        return {
          newInPass: sightings.filter(({ lastPass }) => lastPass !== pass).length,
          newInAll: sightings.filter(({ lastPass }) => lastPass === undefined).length,
          otherwise: sightings.flatMap(({ id, otherwiseAt }) =>
            otherwiseAt === undefined ? [] : [{ id, keptIn: otherwiseAt }],
          ),
        };
      },
    });
  }

  test('has changed and moved where it is no longer at its first position', async () => {
    expect((await scanWith((read) => (read === 1 ? 'old' : undefined))).proof).toBe('proven');
  });

  test('has changed where its first position now shows the same content', async () => {
    expect((await scanWith((read) => (read === 1 ? 'old' : 'new'))).proof).toBe('proven');
  });

  test('is two records where both are there', async () => {
    await expect(scanWith(() => 'old')).rejects.toMatchObject({ code: 'ID_NOT_UNIQUE' });
  });
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
