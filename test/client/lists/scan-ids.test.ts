import { describe, expect, test } from 'vitest';
import { scan } from '../../../src/client/lists/scan.ts';
import { SeenIds } from '../../../src/client/lists/seen-ids.ts';
import { anError } from '../../support/matchers.ts';
import { DriftingList } from './drifting-list.ts';
import { bare } from './scan-of.ts';

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
