import { describe, expect, test } from 'vitest';
import { cardsOf } from '../../../src/mirror/tasks/cards.ts';

const isDone = (column: string) => column === 'Won';
const card = { id: 5, title: 'Offer' };

describe('a pipeline gives its cards', () => {
  test.each([
    ['in columns', { id: 1, columns: [{ id: 2, name: 'Won', cards: [card] }] }],
    ['in stages of other names', { pipeline: { stages: [{ title: 'Won', items: [{ cardId: '5', name: 'Offer' }] }] } }],
    ['in a list of one pipeline', [{ id: 1, lists: [{ label: 'Won', deals: [card] }] }]],
    [
      'beside the columns',
      { columns: [{ id: 2, name: 'Won' }], cards: [{ card_id: 5, title: 'Offer', column_id: '2' }] },
    ],
  ])('%s', (_where, content) => {
    expect(cardsOf(content, '1', isDone)).toMatchObject({
      status: 'read',
      cards: [{ kind: 'card', id: '5', title: 'Offer', status: 'Won', isCompleted: true, parentId: '1' }],
    });
  });

  test('of which there may be none', () => {
    expect(cardsOf({ columns: [{ name: 'Won', cards: [] }] }, '1', isDone)).toEqual({ status: 'read', cards: [] });
    expect(cardsOf({ columns: [] }, '1', isDone)).toEqual({ status: 'read', cards: [] });
  });

  test.each([
    [{ id: 1, name: 'Sales' }, 'has no columns; its members are id, name'],
    [null, 'has no columns; it is not an object'],
    [{ columns: [{ id: 2, stack: [] }] }, 'has columns but no cards; for the first column, its members are id, stack'],
    [{ columns: [{ cards: [{ title: 'x' }] }] }, 'has a card without an id; its members are title'],
  ])('or says why not: %o', (content, why) => {
    expect(cardsOf(content, '1', isDone)).toEqual({ status: 'unreadable', why });
  });
});
