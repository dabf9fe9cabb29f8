import { expect, test } from 'vitest';
import { autoDialect } from '../../../src/client/call/dialect.ts';
import type { CreationLog } from '../../../src/mirror/targets/items/creation-log.ts';
import { markerAtEnd } from '../../../src/mirror/targets/items/marker.ts';
import type { ServiceAccount } from '../../../src/mirror/targets/service/service-account.ts';
import { createCreations } from '../../../src/mirror/targets/service/service-creation.ts';
import type { SharedList } from '../../../src/mirror/targets/service/shared-lists.ts';
import { deliveryOf } from '../../support/item-vendor.ts';

/** An account whose creations are counted; its list is as given, one read after another. */
function world(fingerprints: readonly string[], begin: CreationLog['begin'] = async () => 'now') {
  const left = [...fingerprints];
  let created = 0;
  const account: ServiceAccount = {
    name: 'branch',
    dialect: autoDialect,
    settleMs: 60_000,
    keySource: 'accounts.branch.apiKey',
    suspend: async () => undefined,
    client: {
      async call() {
        created++;
        return { status: 'applied', httpStatus: 200, content: undefined };
      },
      stream: async () => ({ status: 'applied', httpStatus: 200, records: 0 }),
    },
    checkKey: async () => ({ status: 'accepted' }),
    takeRetry: async () => ({ status: 'granted' }),
  };
  const listOf = (fingerprint = ''): SharedList => ({
    status: 'read',
    marked: new Map(),
    fingerprint,
    startedMs: 0,
    endedMs: 0,
  });
  const creations = createCreations({
    lists: { since: async () => listOf(left.shift()), close: async () => {} },
    log: {
      lastOf: async () => ({ at: 'long ago', agoMs: 1_000_000, isTaken: false }),
      begin,
      noteTaken: async () => {},
      forget: async () => {},
    },
    nowMs: () => 0,
    lookAfterMs: [],
  });
  const deliver = () => creations(deliveryOf(), account, new AbortController().signal);
  return { deliver, created: () => created };
}

test('creates a task again when two equal reads do not show it', async () => {
  const { deliver, created } = world(['cached', 'a', 'b', 'b']);
  await deliver();
  expect(created()).toBe(1);
});

test('the process that comes second sends nothing', async () => {
  const { deliver, created } = world(['cached', 'a', 'a'], async () => undefined);
  expect(await deliver()).toMatchObject({ status: 'later', reason: 'CREATED_UNSEEN' });
  expect(created()).toBe(0);
});

test('reads that differ do not prove that a task is absent', async () => {
  const { deliver, created } = world(['a', 'a', 'b', 'c']);
  expect(await deliver()).toMatchObject({ status: 'later', reason: 'LIST_UNSTEADY' });
  expect(created()).toBe(0);
});

test.each([
  ['lockstep-0123456789ab', 'lockstep-0123456789ab'],
  ['text\n\nlockstep-0123456789ab \n', 'lockstep-0123456789ab'],
  ['<p>text</p><p>lockstep-0123456789ab</p>&nbsp;<br/>', 'lockstep-0123456789ab'],
  ['see lockstep-0123456789ab for more', undefined],
  ['lockstep-0123456789ab -->', undefined],
  ['lockstep-0123456789abc', undefined],
  ['', undefined],
])('the text %j ends with the marker %j', (text, marker) => {
  expect(markerAtEnd(text)).toBe(marker);
});
