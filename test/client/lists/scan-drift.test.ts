/** Scans of lists that change meanwhile, and of lists that do not. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Proof } from '../../../src/client/lists/scan.ts';
import { DriftingList, type ListOptions } from './drifting-list.ts';
import { missed, scanOf } from './scan-of.ts';

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
