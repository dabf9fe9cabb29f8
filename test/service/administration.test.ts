import { afterAll, describe, expect, test } from 'vitest';
import { createPipeline, deleteRecord, listPipelines } from '../../src/service/administration.ts';
import { startedService } from './started-service.ts';

const at = await startedService();
const cards = ['a', 'b', 'c'].map((title) => ({ title }));
const board = await createPipeline(at.pool, at.tenantId, {
  name: 'Sales',
  columns: [{ name: 'New', cards }, { name: 'Won', cards: [{ title: 'x', contactId: 7 }] }, { name: 'Lost' }],
});
afterAll(() => at.close());

/** Titles by column, as the API shows them. */
async function shown(): Promise<Record<string, string[]>> {
  const { columns } = await at.content('pipelines.get', { query: { pipeline_id: board.id } });
  for (const column of columns) {
    const positions = column.cards.map((card: { position: number }) => card.position);
    if (column.name === 'New' || column.name === 'Won') expect(positions).toEqual([...positions].sort((a, b) => a - b));
  }
  return Object.fromEntries(
    // biome-ignore lint/suspicious/noExplicitAny: as the API shows it
    columns.map((column: any) => [column.name, column.cards.map((card: any) => card.title)]),
  );
}

const idOf = (title: string): number =>
  board.columns.flatMap((column) => column.cards).find((card) => card.title === title)?.id ?? 0;
const columnOf = (name: string): number => board.columns.find((column) => column.name === name)?.id ?? 0;

test('a pipeline is shown with its columns and cards in their order', async () => {
  expect(await shown()).toEqual({ New: ['a', 'b', 'c'], Won: ['x'], Lost: [] });
  expect(await listPipelines(at.pool, at.tenantId)).toEqual([{ id: board.id, name: 'Sales', columns: 3, cards: 4 }]);
  const { columns } = await at.content('pipelines.get', { query: { pipeline_id: board.id } });
  expect(columns[1].cards[0]).toMatchObject({
    title: 'x',
    position: 0,
    contact_id: 7,
    column_id: columnOf('Won'),
    comments: [],
  });
});

test.each([
  ['to the top of another column', 'b', 'Won', 0, { New: ['a', 'c'], Won: ['b', 'x'], Lost: [] }],
  ['to the end, without a position', 'a', 'Won', undefined, { New: ['c'], Won: ['b', 'x', 'a'], Lost: [] }],
  ['past the end, which is the end', 'c', 'Lost', 99, { New: [], Won: ['b', 'x', 'a'], Lost: ['c'] }],
  ['within its column', 'a', 'Won', 1, { New: [], Won: ['b', 'a', 'x'], Lost: ['c'] }],
  ['to where it is', 'b', 'Won', 0, { New: [], Won: ['b', 'a', 'x'], Lost: ['c'] }],
])('a card moves %s', async (_case, title, column, position, expected) => {
  await at.content('pipelines.moveCard', { body: { card_id: idOf(title), column_id: columnOf(column), position } });
  expect(await shown()).toEqual(expected);
});

test('many moves at once leave every card once, with positions without gaps', async () => {
  const moves = Array.from({ length: 24 }, (_, n) => ({
    card_id: idOf('abcx'[n % 4] ?? 'a'),
    column_id: columnOf(['New', 'Won'][n % 2] ?? 'New'),
    position: n % 3,
  }));
  const answers = await Promise.all(moves.map((body) => at.call('pipelines.moveCard', { body })));
  expect(answers.map((answer) => answer.status)).toEqual(moves.map(() => 200));
  const { New = [], Won = [], Lost = [] } = await shown();
  expect([...New, ...Won, ...Lost].sort()).toEqual(['a', 'b', 'c', 'x']);
});

test('a card does not move to a column of another pipeline', async () => {
  const other = await createPipeline(at.pool, at.tenantId, { name: 'Other', columns: [{ name: 'Only' }] });
  const body = { card_id: idOf('a'), column_id: other.columns[0]?.id };
  const { status, json } = await at.call('pipelines.moveCard', { body });
  expect([status, json.message]).toEqual([400, expect.stringMatching(/^column_id: /)]);
});

test('a comment on a card is shown with the card', async () => {
  const card = idOf('x');
  await at.content('pipelines.comment', { body: { module_type: 'card', module_id: card, comment_text: 'Nice' } });
  const { columns } = await at.content('pipelines.get', { query: { pipeline_id: board.id } });
  // biome-ignore lint/suspicious/noExplicitAny: as the API shows it
  const shownCard = columns.flatMap((column: any) => column.cards).find((one: any) => one.id === card);
  expect(shownCard.comments).toMatchObject([{ module_type: 'card', module_id: card, comment_text: 'Nice' }]);
});

describe('deleting', () => {
  test.each([
    ['contact', 'contacts.create', 'contacts.get', { first_name: 'A' }],
    ['customer', 'customers.create', 'customers.get', { full_name: 'A' }],
    ['task', 'tasks.create', 'tasks.get', { taskName: 'A' }],
  ] as const)('a %s leaves nothing to get, and is in the commit log', async (kind, create, get, body) => {
    const id = await at.create(create, body);
    expect(await deleteRecord(at.pool, at.tenantId, kind, id)).toEqual({ status: 'deleted' });
    expect(await deleteRecord(at.pool, at.tenantId, kind, id)).toEqual({ status: 'absent' });
    const query = kind === 'contact' ? { contact_id: id } : { id };
    expect((await at.call(get, { query })).status).toBe(404);
    const { rows } = await at.pool.query('select operation from service.commits where kind = $1 and record_id = $2', [
      kind,
      id,
    ]);
    expect(rows.map((row) => row.operation)).toEqual([create, `${kind}s.delete`]);
  });

  test('a customer who has orders is refused until they are gone', async () => {
    const id = await at.create('customers.create', { full_name: 'A' });
    const order = await at.create('orders.create', { client_id: id });
    expect(await deleteRecord(at.pool, at.tenantId, 'customer', id)).toEqual({ status: 'in-use' });
    expect(await deleteRecord(at.pool, at.tenantId, 'order', order)).toEqual({ status: 'deleted' });
    expect(await deleteRecord(at.pool, at.tenantId, 'customer', id)).toEqual({ status: 'deleted' });
  });

  test('a task takes its subtasks with it, a contact its comments', async () => {
    const task_id = await at.create('tasks.create', {});
    await at.create('subtasks.create', { task_id });
    const contact = await at.create('contacts.create', {});
    await at.content('contacts.comment', { body: { module_type: 'contact', module_id: contact, comment_text: 'x' } });
    await deleteRecord(at.pool, at.tenantId, 'task', task_id);
    await deleteRecord(at.pool, at.tenantId, 'contact', contact);
    const { rows } = await at.pool.query(
      `select (select count(*)::int from service.subtasks where task_id = $1) as subtasks,
              (select count(*)::int from service.comments where module_type = 'contact' and module_id = $2) as comments`,
      [task_id, contact],
    );
    expect(rows[0]).toEqual({ subtasks: 0, comments: 0 });
  });
});
