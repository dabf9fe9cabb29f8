import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { batched } from '../../src/service/store/batches.ts';
import { startedService } from './started-service.ts';

const at = await startedService();
afterAll(() => at.close());

/** Work whose batches end when the test says so. */
function heldWork() {
  const batches: number[][] = [];
  const ends: ((error?: Error) => void)[] = [];
  const ask = batched(async (items: readonly number[]) => {
    batches.push([...items]);
    await new Promise<void>((resolve, reject) => ends.push((error) => (error ? reject(error) : resolve())));
    return items.map((item) => item * 10);
  });
  return { batches, ends, ask };
}

const postgresError = (code: string): Error => Object.assign(new Error(code), { code });

test('works on a single item at once; later items form the next batch, answered in order', async () => {
  const { batches, ends, ask } = heldWork();
  const asked = [1, 2, 3].map(ask);
  expect(batches).toEqual([[1]]);
  ends[0]?.();
  await nextTurn();
  expect(batches).toEqual([[1], [2, 3]]);
  ends[1]?.();
  expect(await Promise.all(asked)).toEqual([10, 20, 30]);
});

test.each([
  ['08006', 'a lost connection'],
  ['57P01', 'a shutdown'],
])('after %s (%s) no item of the batch is tried again: it may be committed', async (code) => {
  const { batches, ends, ask } = heldWork();
  const asked = [1, 2, 3].map(ask);
  ends[0]?.();
  await nextTurn();
  ends[1]?.(postgresError(code));
  const outcomes = await Promise.allSettled(asked);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
  expect(batches).toHaveLength(2);
});

test('a batch refused for one of its items fails for that item only', async () => {
  const ask = batched(async (items: readonly number[]) => {
    await nextTurn();
    if (items.includes(70)) throw postgresError('22P02');
    return items;
  });
  const outcomes = await Promise.allSettled(Array.from({ length: 250 }, (_, n) => ask(n)));
  const refused = outcomes.flatMap(({ status }, n) => (status === 'rejected' ? [n] : []));
  expect(refused).toEqual([70]);
  expect(outcomes[249]).toEqual({ status: 'fulfilled', value: 249 });
});

test('of concurrent creates, the bad ones are refused and the good ones are written once', async () => {
  const client_id = await at.create('customers.create', { full_name: 'Busy' });
  const sent = Array.from({ length: 120 }, (_, n) => ({
    order_id: `G-${n}`,
    client_id: n % 10 === 3 ? 999_999 : client_id,
  }));
  const answers = await Promise.all(sent.map((body) => at.call('orders.create', { body })));
  expect(answers.map(({ status }) => status)).toEqual(sent.map((body) => (body.client_id === client_id ? 200 : 400)));
  const { rows } = await at.pool.query('select natural_key from service.commits where natural_key like $1', ['G-%']);
  const good = sent.filter((body) => body.client_id === client_id).map((body) => body.order_id);
  expect(rows.map((row) => row.natural_key).sort()).toEqual(good.sort());
});

test('imports and comments at the same time each get their own record, or none', async () => {
  const contacts = [];
  for (const first_name of ['Ann', 'Bea']) contacts.push(await at.create('contacts.create', { first_name }));
  const ids = [...contacts, 999_999, ...contacts];
  const imports = await Promise.all(ids.map((contact_id) => at.call('customers.import', { body: { contact_id } })));
  const comment = { module_type: 'contact', comment_text: 'Hello' };
  const comments = await Promise.all(
    ids.map((module_id) => at.call('contacts.comment', { body: { ...comment, module_id } })),
  );
  for (const answers of [imports, comments]) {
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 404, 200, 200]);
  }
  const { rows } = await at.pool.query(
    `select fields->>'full_name' as name from service.customers where contact_id = any ($1) order by 1`,
    [contacts],
  );
  expect(rows.map(({ name }) => name)).toEqual(['Ann', 'Ann', 'Bea', 'Bea']);
});
