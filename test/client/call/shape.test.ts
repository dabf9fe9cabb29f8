import { describe, expect, test } from 'vitest';
import { autoDialect, dialectSchema } from '../../../src/client/call/dialect.ts';
import type { Json } from '../../../src/client/call/json.ts';
import { driftOf, shapeOf } from '../../../src/client/call/shape.ts';

const ann: Json = { contact_id: 7, first_name: 'Ann' };

describe('a list’s shape', () => {
  test('is the list’s path and the member that carries the id', () => {
    expect(shapeOf(['content', 'items'], ann, 'contacts', autoDialect)).toEqual({
      path: 'content.items',
      idField: 'contact_id',
    });
    expect(shapeOf([], { id: 1 }, 'contacts', autoDialect)).toEqual({ path: '$', idField: 'id' });
  });

  test('does not include what the settings name', () => {
    const dialect = dialectSchema.parse({ listPath: { contacts: 'content' }, idField: { contacts: 'contact_id' } });
    expect(shapeOf(['content'], ann, 'contacts', dialect)).toEqual({});
  });
});

test.each([
  [{ path: 'content', idField: 'id' }, { path: 'content', idField: 'id' }, []],
  [{}, { path: 'content', idField: 'id' }, []],
  [{ path: 'content', idField: 'id' }, { idField: 'id' }, []],
  [{ path: 'content' }, { path: 'data' }, ['the list is at "data", formerly "content"']],
  [{ idField: 'id' }, { path: 'data', idField: '_id' }, ['the id is in "_id", formerly "id"']],
])('from %o to %o is a drift of %o', (known, seen, drift) => {
  expect(driftOf(known, seen)).toEqual(drift);
});
