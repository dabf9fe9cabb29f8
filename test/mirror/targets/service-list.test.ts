import { describe, expect, test } from 'vitest';
import { autoDialect } from '../../../src/client/call/dialect.ts';
import type { StreamOutcome } from '../../../src/client/call/outcome.ts';
import type { ServiceAccount } from '../../../src/mirror/targets/service/service-account.ts';
import { readTaskList } from '../../../src/mirror/targets/service/service-list.ts';
import { anOutcome } from '../../support/matchers.ts';

interface Way {
  readonly tasks: number;
  readonly first?: 0 | 1;
  readonly setting?: 'auto' | 0 | 1;
  /** Pages that are answered with 404 although the list is long enough. */
  readonly isGone?: (page: number) => boolean;
}

const SIZE = 10;
const MISSING: StreamOutcome = { status: 'refused', httpStatus: 404, message: 'no such page' };

/** An account whose tasks come in pages of ten, and which answers 404 to a page that is none. */
function accountWith({ tasks, first = 0, setting = 'auto', isGone = () => false }: Way): ServiceAccount {
  return {
    name: 'branch',
    dialect: { ...autoDialect, firstTaskPage: setting },
    settleMs: 60_000,
    keySource: 'accounts.branch.apiKey',
    suspend: async () => undefined,
    client: {
      call: async () => ({ status: 'not-sent', message: 'nothing is called' }),
      async stream(_operation, { query, onRecords }) {
        const page = Number(query?.page);
        const from = (page - first) * SIZE;
        if (from < 0 || (from > 0 && from >= tasks) || isGone(page)) return MISSING;
        const records = Array.from({ length: Math.min(SIZE, tasks - from) }, (_, i) => ({ id: from + i }));
        if (records.length > 0) await onRecords(records);
        return { status: 'applied', httpStatus: 200, records: records.length };
      },
    },
    checkKey: async () => ({ status: 'accepted' }),
    takeRetry: async () => ({ status: 'granted' }),
  };
}

const read = (way: Way) => readTaskList(accountWith(way), new AbortController().signal);

describe('where a page past the end is answered with 404', () => {
  test.each<Way>([
    { tasks: 0 },
    { tasks: 0, first: 1 },
    { tasks: 10 },
    { tasks: 40 },
    { tasks: 40, first: 1 },
    { tasks: 40, first: 1, setting: 1 },
    { tasks: 10, setting: 0 },
  ])('the list is read to its end: %o', async (way) => {
    const list = await read(way);
    expect(list).toMatchObject({ status: 'read', fingerprint: expect.stringMatching(`^${way.tasks}/`) });
  });

  test.each(['auto', 0, 1] as const)(
    'a list without a first page could not be read, which is set to %s',
    async (setting) => {
      const list = await read({ tasks: 40, setting, isGone: () => true });
      expect(list).toMatchObject(anOutcome('refused', 'REJECTED', 'no such page'));
    },
  );
});
