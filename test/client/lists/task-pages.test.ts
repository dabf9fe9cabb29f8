import { describe, expect, test } from 'vitest';
import { passOverTasks } from '../../../src/client/lists/task-pages.ts';
import { RunFailed } from '../../../src/engine/account/failure.ts';

interface Way {
  readonly tasks: number;
  readonly size?: number;
  readonly first?: 0 | 1;
  readonly zero?: 'first' | 'empty' | 'refused';
  readonly setting?: 'auto' | 0 | 1;
  /** The answer for a page past the end. */
  readonly pastEnd?: 'empty' | 'missing' | 'the last';
}

const notFound = (page: number) => new RunFailed('SERVICE_REFUSED', `no page ${page}`, { httpStatus: 404 });

/** One pass over numbered tasks at a service with this page numbering; returns the ids seen and the pages requested. */
async function passOver({ tasks, size = 10, first = 0, zero = 'first', setting = 'auto', pastEnd = 'empty' }: Way) {
  const seen = new Set<string>();
  const asked: number[] = [];
  const result = await passOverTasks({
    firstPage: setting,
    read: async (page) => {
      asked.push(page);
      if (page < first && zero === 'refused')
        throw new RunFailed('SERVICE_REFUSED', 'page: at least 1', { httpStatus: 400 });
      if (page < first && zero === 'empty') return { records: [] };
      const last = pastEnd === 'the last' ? Math.max(0, Math.ceil(tasks / size) - 1) : Number.POSITIVE_INFINITY;
      const from = Math.min(last, Math.max(0, page - first)) * size;
      if (pastEnd === 'missing' && from > 0 && from >= tasks) throw notFound(page);
      const length = Math.max(0, Math.min(size, tasks - from));
      return { records: Array.from({ length }, (_, i) => ({ id: String(from + i) })) };
    },
    keep: async (records) => {
      const before = seen.size;
      for (const { id } of records) seen.add(id);
      return { newInPass: seen.size - before, newInAll: seen.size - before };
    },
  });
  return { status: result.status, seen: seen.size, asked };
}

describe('pages', () => {
  test.each<Way>([
    { tasks: 35 },
    { tasks: 40 },
    { tasks: 7 },
    { tasks: 0 },
    { tasks: 35, first: 1, zero: 'first' },
    { tasks: 35, first: 1, zero: 'empty' },
    { tasks: 35, first: 1, zero: 'refused' },
    { tasks: 7, first: 1, zero: 'refused' },
    { tasks: 35, first: 1, setting: 1 },
    { tasks: 1_000 },
    { tasks: 40, pastEnd: 'missing' },
    { tasks: 400, pastEnd: 'missing' },
    { tasks: 7, pastEnd: 'missing' },
    { tasks: 0, pastEnd: 'missing' },
    { tasks: 40, first: 1, pastEnd: 'missing' },
    { tasks: 10, first: 1, pastEnd: 'missing' },
    { tasks: 40, first: 1, zero: 'refused', pastEnd: 'missing' },
    { tasks: 40, setting: 0, pastEnd: 'missing' },
    { tasks: 35, pastEnd: 'the last' },
    { tasks: 7, first: 1, zero: 'refused', pastEnd: 'the last' },
    { tasks: 7, first: 1, zero: 'empty', pastEnd: 'the last' },
  ])('are read to the end of the list: %o', async (way) => {
    expect(await passOver(way)).toMatchObject({ status: 'again', seen: way.tasks });
  });

  test('are counted from 0 where page 0 was refused only once', async () => {
    let refused = 0;
    const seen = new Set<string>();
    await passOverTasks({
      firstPage: 'auto',
      read: async (page) => {
        if (page === 0 && refused++ === 0) throw new RunFailed('SERVICE_REFUSED', 'try later', { httpStatus: 200 });
        return { records: page < 2 ? [{ id: `${page}-a` }, { id: `${page}-b` }] : [] };
      },
      keep: async (records) => {
        for (const { id } of records) seen.add(id);
        return { newInPass: records.length, newInAll: records.length };
      },
    });
    expect([...seen]).toEqual(['0-a', '0-b', '1-a', '1-b']);
  });

  test('are requested once each, and little past the end', async () => {
    const { asked } = await passOver({ tasks: 1_000 });
    expect([asked.length, new Set(asked).size]).toEqual([105, 105]);
  });

  test('start at the number in the settings without a search', async () => {
    expect((await passOver({ tasks: 15, first: 1, zero: 'refused', setting: 1 })).asked).toEqual([1, 2, 3]);
  });

  test.each(['auto', 0] as const)(
    'that are all refused report why, with the first page set to %s',
    async (firstPage) => {
      const reading = passOverTasks({
        firstPage,
        read: async (page) => {
          throw notFound(page);
        },
        keep: async () => ({ newInPass: 0, newInAll: 0 }),
      });
      await expect(reading).rejects.toThrow('no page 0');
    },
  );
});
