import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/client/call/json.ts';
import { type Beside, besideOf } from '../../../src/client/lists/beside.ts';

const PATH = '/contacts/getall';
const besides = (body: Json, headers = {}) => besideOf(body, headers, PATH);
const records = [{ id: 1, total: 99, next: '/contacts/getall?x=1' }];

describe('what an answer says beside its list', () => {
  test.each<[string, Json, Beside | undefined]>([
    ['nothing', { status: 'success', content: records, message: 'OK' }, undefined],
    ['a total', { items: records, total: 137 }, { total: 137 }],
    ['a total as text', { content: { items: records, totalCount: '137' } }, { total: 137 }],
    ['a total that is an object', { hits: { total: { value: 137, relation: 'eq' }, hits: records } }, { total: 137 }],
    ['the larger of two counts', { data: records, meta: { pagination: { count: 50, total: 137 } } }, { total: 137 }],
    ['no count, but a sum', { data: records, total: 13.5 }, undefined],
    ['no total of the list: a member of a record', { data: records, owner: { id: 7, count: 4 } }, undefined],
    ['a page number', { data: records, current_page: 2 }, { page: 2 }],
    [
      'a link',
      { results: records, next: 'https://x.test/api/v1/contacts/getall?cursor=a%2Bb' },
      { next: { cursor: 'a+b' } },
    ],
    [
      'a link by its path',
      { data: records, links: { next: '/v1/contacts/getall?page[after]=9' } },
      { next: { 'page[after]': '9' } },
    ],
    ['a link in an object', { _links: { next: { href: '?skip=50&take=50' } } }, { next: { skip: '50', take: '50' } }],
    ['a link to another path, which is not followed', { next: 'https://x.test/other?cursor=2' }, { next: {} }],
    ['the last page', { results: records, next: null, has_more: false }, { end: true }],
    ['a cursor', { data: records, next_cursor: 'abc' }, { next: { cursor: 'abc' } }],
    ['a page token', { data: records, nextPageToken: 'abc' }, { next: { pageToken: 'abc' } }],
    ['a cursor without a name', { data: records, next: 'abc' }, { next: { cursor: 'abc' } }],
    ['a number of the next page', { data: records, next_page: 2 }, { next: { page: 2 } }],
    ['more, without a way', { data: records, has_more: true }, { next: {} }],
    [
      'more, with a cursor',
      { data: records, pageInfo: { hasNextPage: true, endCursor: 'c' } },
      { next: { cursor: 'c', after: 'c' } },
    ],
    ['not the last page', { content: records, last: false, totalElements: 3 }, { total: 3, next: {} }],
    ['not the last page, under another name', { items: records, is_last_page: false }, { next: {} }],
    ['the row where a page ends', { items: records, start: 0, end: 0 }, undefined],
    ['a truncated list', { items: records, IsTruncated: true, NextMarker: 'm' }, { next: { marker: 'm' } }],
    ['more in a collection', { data: records, page: { more_items_in_collection: true } }, { next: {} }],
    ['how many pages there are', { data: records, page: 1, total_pages: 3 }, { page: 1, pages: 3 }],
    ['the last page’s number', { data: records, last_page: 3 }, { pages: 3 }],
    [
      'an object with a cursor and a link',
      { results: records, paging: { next: { after: 'abc', link: '?after=abc' } } },
      { next: { after: 'abc' } },
    ],
    [
      'an object with parameters',
      { data: records, pages: { next: { page: 2, starting_after: 'abc' } } },
      { next: { page: 2, starting_after: 'abc' } },
    ],
    ['a link to more records', { records, done: false, nextRecordsUrl: '/services/query/01g' }, { next: {} }],
    ['a cursor alone', { items: records, cursor: 'abc' }, { next: { cursor: 'abc' } }],
    ['a cursor at the end', { items: records, cursor: 'abc', has_more: false }, { end: true }],
    ['an offset that is a text', { records, offset: 'itr1/rec2' }, { next: { offset: 'itr1/rec2' } }],
    ['the offset of this page', { records, offset: '50' }, undefined],
    ['a token to continue with', { value: records, continuationToken: 'abc' }, { next: { continuationToken: 'abc' } }],
    ['the key of the last record', { Items: records, LastEvaluatedKey: { pk: 'a' } }, { next: { pk: 'a' } }],
    ['a cursor that is too long', { next_cursor: 'x'.repeat(3_000) }, { next: {} }],
  ])('%s', (_what, body, beside) => {
    expect(besides(body)).toEqual(beside);
  });

  test.each<[string, Record<string, string>, Beside]>([
    ['x-wp-total', { 'x-wp-total': '120', 'x-wp-totalpages': '3' }, { total: 120, pages: 3 }],
    ['x-next-page', { 'x-next-page': '2', 'x-page': '1' }, { page: 1, next: { page: '2' } }],
    ['content-range', { 'content-range': 'items 0-49/120' }, { total: 120 }],
    ['x-pagination', { 'x-pagination': '{"TotalCount":120,"HasNext":true}' }, { total: 120, next: {} }],
  ])('in the header %s', (_name, headers, beside) => {
    expect(besides(records, headers)).toEqual(beside);
  });

  test('in headers: the link to the next page, and the total', () => {
    const link = '</contacts/getall?cursor=0>; rel="first", <https://x.test/v1/contacts/getall?cursor=5,6>; rel="next"';
    expect(besides(records, { link, 'x-total-count': '12' })).toEqual({ total: 12, next: { cursor: '5,6' } });
  });
});
