import { expect, test } from 'vitest';
import { type Choice, choose, type Difference } from '../../../src/mirror/inbound/choose-side.ts';

/** The item is completed and the task is open; both were last known as open unless a case says otherwise. */
const difference: Difference = { item: true, known: false, lastSeen: false, isTelling: false, source: 'hook' };

test.each<[string, Partial<Difference>, Choice]>([
  ['the item has moved alone', {}, 'take'],
  ['the item has moved alone, and a read has found it', { source: 'read' }, 'take'],
  ['the task has moved, and a scan has seen it', { lastSeen: true }, 'keep'],
  ['the task has moved, and no scan has seen it', { lastSeen: true, known: true }, 'keep'],
  ['the task has moved, and is being told', { lastSeen: true, isTelling: true }, 'keep'],
  ['the item has moved while the task is being told', { isTelling: true }, 'conflict'],
  ['the item has moved, and the task went there and back unseen', { known: true }, 'conflict'],
  ['the item was never read, and a call reports the change', { lastSeen: undefined }, 'take'],
  [
    'the item was never read, a call reports the change, and the task is being delivered',
    { lastSeen: undefined, isTelling: true },
    'conflict',
  ],
  ['the item was never read, and a read finds the change', { lastSeen: undefined, source: 'read' }, 'conflict'],
])('%s', (_what, given, choice) => {
  expect(choose({ ...difference, ...given })).toBe(choice);
  const mirrored = { ...difference, ...given };
  const { lastSeen } = mirrored;
  const opposite = {
    item: !mirrored.item,
    known: !mirrored.known,
    lastSeen: lastSeen === undefined ? undefined : !lastSeen,
  };
  expect(choose({ ...mirrored, ...opposite })).toBe(choice);
});
