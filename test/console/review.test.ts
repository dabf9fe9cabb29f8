/** Decisions about rows in review, also when two people decide about the same row. */
import { expect, test } from 'vitest';
import { anAccount } from '../engine/worker/an-account.ts';
import { pageAt } from './requests.ts';
import { ITEM, openReviewConsole } from './review-console.ts';

const AWAY = new Error('the service is away');
const REFUSED = { status: 'refused', httpStatus: 404, message: 'not found' } as const;

/** Ids of the customers that the service has; undefined: it is away. */
let customers: readonly number[] | undefined;
const account = anAccount(async (_, { query }) => {
  const id = customers?.find((one) => one === query?.id);
  return id === undefined ? REFUSED : { status: 'applied', httpStatus: 200, content: { id } };
});
const { database, web, inReview, ordersInReview, decisions, call } = await openReviewConsole({
  openAccount: () => (customers ? Promise.resolve(account) : Promise.reject(AWAY)),
});

test('a row that can only be ignored says what to do at the service, and its run has nothing to retry', async () => {
  const twice = await ordersInReview(['Ann'], { reason: 'DUPLICATE', facts: { what: 'order', ids: ['14', '15'] } });
  const [{ id }] = (await call('/review')).json.items;
  const page = await pageAt(web, `/review/items/${encodeURIComponent(id)}`);
  expect(page).toContain('Delete all but one at the service.');
  expect(page).toContain(
    '<p class="dim">“Ignore” sends nothing, and the row counts as existing. “Later” keeps it in review.</p>',
  );
  expect(await pageAt(web, `/runs/${twice}`)).not.toContain('action=retry');
  expect(await pageAt(web, `/runs/${await ordersInReview(['Bob'])}`)).toContain('action=retry');
});

test('what differs is shown side by side, with the record that differs', async () => {
  const differences = [
    { field: 'amount', is: '9', expected: '<b>5' },
    { field: 'status', is: '', expected: 'paid' },
    { field: 'description' },
  ];
  await ordersInReview(['Ann'], { reason: 'CONTENT_DIFFERS', facts: { order: '88', action: 'created', differences } });
  const [{ id }] = (await call('/review')).json.items;
  const page = await pageAt(web, `/review/items/${encodeURIComponent(id)}`);
  const table = page.slice(page.indexOf('<table class="list evidence">'), page.indexOf('</table>'));
  const cells = table.split(/<[^>]+>/).filter((text) => text !== '' && text !== 'different: ');
  expect(cells).toEqual([
    ...['Record', 'amount', 'status', 'description'],
    ...['This order', '&lt;b&gt;5', 'paid', '(as in the row)'],
    ...['Order 88', '9', '(empty)', '(another)'],
  ]);
});

test('the second of two people who decide about a row is told, and the first decision stays', async () => {
  await inReview(['Ann']);
  const { mark } = (await call(ITEM)).json.item;
  expect(await pageAt(web, ITEM)).toContain('<code>lockstep review decide acme/contact-1 --use 15</code>');
  expect((await call(`${ITEM}/decide`, { choice: 'use', record: '15', mark })).json.said).toContain(
    'linked with customer 15',
  );
  const second = await call(`${ITEM}/decide`, { choice: 'ignore', mark });
  expect([second.status, second.json.error.code]).toEqual([409, 'REVIEW_DECIDED']);
  expect(second.json.error.message).toContain('operator in the console decided about acme/contact-1 meanwhile: use 15');
  expect(await decisions()).toEqual([['1', 'use', '15', null]]);
  const offersUndo = async () => (await pageAt(web, ITEM)).includes('Undo its decision below');
  const apply = (by: string | null) =>
    database.pool.query(
      'update ledger.decisions set applied_by = $1::text, applied_at = case when $1::text is not null then now() end',
      [by],
    );
  expect(await offersUndo()).toBe(true);
  expect(await pageAt(web, ITEM)).toContain('<code>lockstep review undo acme/contact-1</code>');
  await apply('run-2');
  expect(await offersUndo()).toBe(false);
  await apply(null);
  const { entry } = (await call(ITEM)).json.decisions[0];
  expect((await call(`${ITEM}/undo`, { entry })).status).toBe(200);
  expect((await call(`${ITEM}/undo`, { entry })).json.error.code).toBe('REVIEW_DECIDED');
});

test('the page of a run says how many of its rows people have decided, and offers no decision when none is left', async () => {
  await inReview(['Ann', 'Bob']);
  const { runs } = (await call('/runs')).json;
  const page = () => pageAt(web, `/runs/${runs[0].run}`);
  const decide = async (item: string, choice: object = { choice: 'ignore' }) => {
    const { mark } = (await call(item)).json.item;
    expect((await call(`${item}/decide`, { ...choice, mark })).status).toBe(200);
  };
  expect(await page()).not.toContain('People have decided');
  await decide(ITEM);
  expect(await page()).toMatch(/Decide them.*People have decided about 1 of them/s);
  for (const path of ['/runs', `/confirm?action=retry&run=${runs[0].run}`])
    expect(await pageAt(web, path)).toContain('2 in review (1 of them decided)');
  await decide(`/review/items/${encodeURIComponent('acme/contact-2')}`);
  const html = await page();
  expect(html).toContain('People have decided about all of them');
  expect(html).not.toMatch(/Decide (them|it)|Retry the load/);
  const load = await ordersInReview(['Ann']);
  expect(await pageAt(web, `/runs/${load}`)).toContain('Decide it with');
  await decide(`/review/items/${encodeURIComponent(`${load}/1`)}`, { choice: 'use', record: '15' });
  expect(await pageAt(web, `/runs/${load}`)).toContain(
    `<a href="/confirm?action=retry&amp;run=${load}">Retry the load</a>`,
  );
  expect(await pageAt(web, `/runs/${load}`)).not.toContain('Decide it with');
});

test('of all rows of a reason, orders are ignored at once, and contacts by the next run', async () => {
  const all = { choice: 'ignore', reason: 'AMBIGUOUS_MATCH' };
  const ignore = async () => {
    const page = await pageAt(web, `/review/confirm?${new URLSearchParams(all)}`);
    const { mark } = (await call(`/review/group?${new URLSearchParams(all)}`)).json;
    return [
      /nothing is sent for them\. ([^.]*\.)/.exec(page)?.[1],
      (await call('/review/group', { ...all, mark })).json.said,
    ];
  };
  await ordersInReview(['Ann', 'Bob'], { reason: 'AMBIGUOUS_MATCH', facts: {} });
  expect(await ignore()).toEqual(['Orders count as existing.', '2 orders are ignored.']);
  await inReview(['Ann']);
  expect(await ignore()).toEqual([
    'Contacts are listed again when their evidence changes.',
    '1 contact will be ignored until the evidence changes. The next run of the sync applies it.',
  ]);
});

test('names are shown as the contact and its customers have them, and compared without case and order', async () => {
  await inReview(['Ann']);
  const asRead = [
    `update ledger.inputs set name = 'ann lee', email = null, org = 'lee ltd', fields = '{"full_name":"Ann Lee","organization":"LEE Ltd"}'`,
    `update ledger.evidence set customers = '{"15": {"name": "ann lee", "org": "lee ltd"}}',
       written = '{"15": {"full_name": "Lee, Ann", "organization": "Lee Ltd"}}'`,
  ];
  for (const sql of asRead) await database.pool.query(sql);
  const html = await pageAt(web, ITEM);
  for (const name of ['Ann Lee', 'LEE Ltd', 'Lee, Ann', 'Lee Ltd']) expect(html).toContain(`>${name}<`);
  expect(html).not.toMatch(/>ann lee<|<mark>/);
});

test('a decision is refused if the evidence has changed, and if it is not possible', async () => {
  await inReview(['Ann']);
  const { mark } = (await call(ITEM)).json.item;
  await database.pool.query(`update ledger.evidence set customers = '{"15": null}'`);
  expect((await call(`${ITEM}/decide`, { choice: 'create', mark })).json.error.code).toBe('REVIEW_CHANGED');
  const now = (await call(ITEM)).json.item.mark;
  expect((await call(`${ITEM}/decide`, { choice: 'use', mark: now })).status).toBe(400);
  expect((await call(`${ITEM}/decide`, { choice: 'ignore', note: 'a\0b', mark: now })).status).toBe(400);
  expect((await call('/review/items/contact-9')).json.error.code).toBe('REVIEW_UNKNOWN');
  expect(await decisions()).toEqual([]);
});

test('a record that the service does not have is refused at once, and taken unchecked while the service is away', async () => {
  await inReview(['Ann']);
  const { mark } = (await call(ITEM)).json.item;
  const use99 = () => call(`${ITEM}/decide`, { choice: 'use', record: '99', mark });
  customers = [15, 16];
  const refused = (await use99()).json.error;
  expect([refused.code, refused.message]).toEqual([
    'CHOICE_NOT_POSSIBLE',
    'Contact 1 (Ann): the service of account "acme" has no customer 99.',
  ]);
  expect(await decisions()).toEqual([]);
  customers = undefined;
  expect((await use99()).json.said).toContain('The service could not be asked whether it has this record');
  expect(await decisions()).toEqual([['1', 'use', '99', null]]);
});

test('lists rows by page, with how many each reason has', async () => {
  await inReview(['a', 'b', 'c'], ['d']);
  const first = (await call('/review?limit=3')).json;
  const rest = (await call(`/review?limit=3&after=${encodeURIComponent(first.next)}`)).json;
  const labels = [...first.items, ...rest.items].map(({ label }: { label: string }) => label);
  expect([labels, rest.next, first.groups]).toEqual([['a', 'b', 'c', 'd'], null, { AMBIGUOUS_MATCH: 3, NO_KEY: 1 }]);
  expect((await call('/review?after=x')).status).toBe(400);
});
