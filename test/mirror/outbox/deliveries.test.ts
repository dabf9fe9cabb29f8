import { afterAll, expect, test } from 'vitest';
import { countDeliveries } from '../../../src/mirror/outbox/deliveries.ts';
import { freshDatabase } from '../../support/database.ts';

const database = await freshDatabase();
afterAll(() => database.close());

test('each target that has deliveries is listed with its open ones and its dead letters', async () => {
  expect(await countDeliveries(database.pool)).toEqual([]);
  await database.pool.query(
    `insert into ledger.deliveries (id, target, scope, sync, kind, task_id, sequence, event, task, seen_at, state, verdict)
     select 'msg-' || row_number() over (), target, 'acme', 'mirror', 'task', row_number() over (), 1, 'changed', '{}', now(), state, verdict
     from (values ('b', 'waiting', null), ('b', 'waiting', null), ('b', 'sending', null), ('b', 'ended', 'dead'),
       ('b', 'ended', 'delivered'), ('a', 'ended', 'delivered'), ('c', 'ended', 'dead')) as d (target, state, verdict)`,
  );
  expect(await countDeliveries(database.pool)).toEqual([
    { target: 'a', open: 0, dead: 0 },
    { target: 'b', open: 3, dead: 1 },
    { target: 'c', open: 0, dead: 1 },
  ]);
});
