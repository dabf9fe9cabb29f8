import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { extendClaim } from '../../../src/engine/ledger/claims.ts';
import { keepItemLinks } from '../../../src/mirror/links/item-links.ts';
import {
  type Claimed,
  claimDue,
  type DeliveryClaim,
  dropDeadOutboxClaims,
  dropOutboxClaims,
  takeOutboxClaim,
} from '../../../src/mirror/outbox/claims.ts';
import { type Outcome, writeOutcomes } from '../../../src/mirror/outbox/outcomes.ts';
import { blockTarget, disableTarget } from '../../../src/mirror/outbox/target-states.ts';
import { inTransaction } from '../../../src/storage/transaction.ts';
import { freshLedger, WORKER } from '../../engine/ledger/fresh-ledger.ts';
import { change, changes, deliveryRows, fates, forgetDeliveries, queue } from './delivery-worlds.ts';

const database = await freshLedger();
afterEach(() => forgetDeliveries(database));
afterAll(() => database.close());

const NOW = new Date('2100-01-01T00:00:00Z'); // what was queued today is due then
const later = (ms: number) => new Date(NOW.getTime() + ms);

const take = (worker = WORKER): Promise<DeliveryClaim> =>
  takeOutboxClaim(database.pool, 'hook', { worker, ttlMs: 30_000, now: NOW });
const due = (claim: DeliveryClaim, limit = 100, now = NOW): Promise<readonly Claimed[]> =>
  claimDue(database.pool, claim, { limit, now });
const namesOf = (claimed: readonly Claimed[]) =>
  claimed.map(({ delivery }) => `${delivery.task.id}#${delivery.sequence}`).sort();
const delivered = ({ delivery }: Claimed): Outcome => ({
  id: delivery.id,
  decision: { status: 'ended', verdict: 'delivered' },
});
const write = (claim: DeliveryClaim, outcomes: readonly Outcome[]) =>
  writeOutcomes(database.pool, claim, outcomes, NOW);

/** Several states of a task that all wait, as after a replay. */
async function waitAgain(): Promise<void> {
  await database.pool.query(`update ledger.deliveries set state = 'waiting', verdict = null, newer_id = null`);
}

describe('a claim', () => {
  test('takes the oldest open delivery of each task, and the next one once that has ended', async () => {
    await queue(database, [change(1), change(1, 2), change(1, 3), change(2, 7)]);
    await waitAgain();
    const claim = await take();
    const first = await due(claim);
    expect(namesOf(first)).toEqual(['1#1', '2#7']);
    expect(await due(claim)).toEqual([]);
    await write(claim, first.map(delivered));
    expect(namesOf(await due(claim))).toEqual(['1#2']);
  });

  test('takes nothing of a task while a newer delivery of it is in flight', async () => {
    await queue(database, [change(1, 2)]);
    const claim = await take();
    await due(claim);
    await queue(database, [change(1, 1)]);
    expect(await due(claim)).toEqual([]);
  });

  test('takes what the given runs have seen, and what has to go before it', async () => {
    await queue(database, [change(1), change(2), change(1, 2, { runId: 'run-2' }), change(3, 1, { runId: 'run-2' })]);
    await waitAgain();
    const claim = await take();
    expect(namesOf(await claimDue(database.pool, claim, { limit: 9, now: NOW, runs: ['run-2'] }))).toEqual([
      '1#1',
      '3#1',
    ]);
    expect(namesOf(await due(claim))).toEqual(['2#1']);
  });

  test('goes to one of many workers that claim at once', async () => {
    await queue(database, changes(200));
    const claims = await Promise.all(Array.from({ length: 6 }, () => take()));
    const all = await Promise.all(claims.map((claim) => due(claim, 50)));
    const got = namesOf(all.flat());
    expect(new Set(got).size).toBe(got.length);
  });

  test('takes what is due, up to the limit', async () => {
    await queue(database, changes(5));
    await database.pool.query(`update ledger.deliveries set due_at = $1 where task_id in ('3', '4')`, [later(1)]);
    const claim = await take();
    expect(await due(claim, 2)).toHaveLength(2);
    expect(await due(claim)).toHaveLength(1);
    expect(await due(claim, 100, later(1))).toHaveLength(2);
  });

  test('takes nothing while the target is disabled or asks for a pause', async () => {
    await queue(database, changes(1));
    const claim = await take();
    await blockTarget(database.pool, 'hook', { forMs: 1_000, now: NOW });
    expect(await due(claim, 100, later(999))).toEqual([]);
    await disableTarget(database.pool, 'hook', { reason: 'GONE', detail: '', now: NOW });
    expect(await due(claim, 100, later(1_000))).toEqual([]);
  });

  test('includes the item that the task is linked with', async () => {
    await queue(database, changes(2));
    const link = { scope: 'demo', itemId: 'o/r#7', runId: 'run-1' };
    await keepItemLinks(database.pool, 'hook', [
      { ...link, task: { kind: 'task', id: '0' } },
      { ...link, task: { kind: 'task', id: '1' } }, // the item is taken
    ]);
    const items = (await due(await take())).map(({ delivery }) => [delivery.task.id, delivery.itemId]);
    expect(items.sort()).toEqual([
      ['0', 'o/r#7'],
      ['1', undefined],
    ]);
  });

  test('never puts two states of one task in flight at once, for any operations', async () => {
    await queue(database, [change(1), change(1, 2)]);
    const force = database.pool.query(`update ledger.deliveries set state = 'sending', verdict = null`);
    await expect(force).rejects.toThrow('deliveries_one_sending');
  });
});

describe('a claim fences writes', () => {
  test('a claim that was taken over writes nothing, and what it sent waits again under its id', async () => {
    await queue(database, changes(1));
    const claim = await take();
    const sent = await due(claim);
    expect(await dropDeadOutboxClaims(database.pool, later(30_001))).toBe(1);
    expect(await write(claim, sent.map(delivered))).toEqual({ status: 'claim-lost' });
    expect(await fates(database)).toEqual(['0#1 waiting']);
    const again = await due(await take());
    expect(again.map(({ delivery }) => delivery)).toEqual(sent.map(({ delivery }) => delivery));
  });

  test('one claim does not end deliveries of another claim', async () => {
    await queue(database, changes(1));
    const [mine, other] = [await take(), await take()];
    const sent = await due(mine);
    expect(await write(other, sent.map(delivered))).toEqual({ status: 'written', left: new Set() });
    expect(await fates(database)).toEqual(['0#1 sending']);
  });

  test('an expired claim gets nothing and cannot be renewed, even before it is taken over', async () => {
    await queue(database, changes(1));
    const claim = await take();
    expect(await due(claim, 1, later(30_000))).toEqual([]);
    expect(
      await extendClaim(database.pool, 'ledger.delivery_claims', { ...claim, ttlMs: 30_000, now: later(30_000) }),
    ).toBe(false);
  });

  test('all processes see the new end of a renewed claim', async () => {
    const claim = await take();
    expect(
      await extendClaim(database.pool, 'ledger.delivery_claims', { ...claim, ttlMs: 30_000, now: later(20_000) }),
    ).toBe(true);
    expect(await dropDeadOutboxClaims(database.pool, later(40_000))).toBe(0);
  });

  test('a delivery lost with a claim is superseded where a newer state has been seen meanwhile', async () => {
    await queue(database, changes(1));
    const claim = await take();
    await due(claim);
    await queue(database, changes(1, 2));
    await dropOutboxClaims(database.pool, [claim.id]);
    expect(await fates(database)).toEqual(['0#1 superseded', '0#2 waiting']);
  });

  test('the claim of a dead process on this host is taken over at once', async () => {
    await queue(database, changes(1));
    await due(await take({ ...WORKER, pid: 2 ** 22 + 1 }));
    expect(await dropDeadOutboxClaims(database.pool, NOW)).toBe(1);
    expect(await fates(database)).toEqual(['0#1 waiting']);
  });

  test('a delivery given to a process while it dies is not forgotten', async () => {
    await queue(database, changes(1));
    const claim = await take();
    let dropping: Promise<void> = Promise.resolve();
    await inTransaction(database.pool, async (db) => {
      await claimDue(db, claim, { limit: 1, now: NOW });
      dropping = dropOutboxClaims(database.pool, [claim.id]);
      await untilBlocked();
    });
    await dropping;
    expect(await fates(database)).toEqual(['0#1 waiting']);
  });
});

describe('an outcome', () => {
  test('that is unsent changes nothing', async () => {
    await queue(database, changes(1));
    const [before] = await deliveryRows(database);
    const claim = await take();
    const sent = await due(claim);
    await write(
      claim,
      sent.map(({ delivery }) => ({ id: delivery.id, decision: { status: 'unsent' } })),
    );
    expect(await deliveryRows(database)).toEqual([{ ...before, claim_id: null }]);
  });

  test('spends an attempt, keeps the answer, and sets the time of the next attempt', async () => {
    await queue(database, changes(1));
    const claim = await take();
    const [sent] = await due(claim);
    const decision = { status: 'again', afterMs: 5_000, reason: 'HTTP_503', detail: 'busy' } as const;
    await write(claim, [{ id: sent?.delivery.id ?? '', decision, answer: { httpStatus: 503, text: 'x' } }]);
    const told = { state: 'waiting', attempts: 1, reason: 'HTTP_503', detail: 'busy', due_at: later(5_000) };
    expect(await deliveryRows(database)).toMatchObject([{ ...told, answer: { httpStatus: 503, text: 'x' } }]);
  });

  test('of a target that asks for a pause spends no attempt', async () => {
    await queue(database, changes(1));
    const claim = await take();
    const [sent] = await due(claim);
    await write(claim, [{ id: sent?.delivery.id ?? '', decision: { status: 'limited', afterMs: 7_000 } }]);
    expect(await deliveryRows(database)).toMatchObject([{ state: 'waiting', attempts: 0, due_at: later(7_000) }]);
  });
});

describe('after an attempt without a clear answer, the target may still make the change, so', () => {
  const failed = ({ delivery }: Claimed, isUnclear = true): Outcome => ({
    id: delivery.id,
    decision: { status: 'again', afterMs: 5_000, reason: 'TIMEOUT', detail: '' },
    isUnclear,
  });
  const takeLong = () => takeOutboxClaim(database.pool, 'hook', { worker: WORKER, ttlMs: 90_000, now: NOW });

  test('a newer state waits for a minute, whether the retry has succeeded or is superseded', async () => {
    await queue(database, changes(2));
    const claim = await takeLong();
    const sent = await due(claim);
    await write(
      claim,
      sent.map((one) => failed(one)),
    );
    await queue(database, [change(1, 2)]);
    const retried = await due(claim, 100, later(5_000));
    expect(namesOf(retried)).toEqual(['0#1']);
    await write(claim, retried.map(delivered));
    await queue(database, [change(0, 2)]);
    expect(await due(claim, 100, later(59_999))).toEqual([]);
    const waiting = { state: 'waiting', reason: 'EARLIER_UNCLEAR', due_at: later(60_000) };
    expect((await deliveryRows(database)).filter(({ sequence }) => sequence === 2)).toMatchObject([waiting, waiting]);
    expect(namesOf(await due(claim, 100, later(60_000)))).toEqual(['0#2', '1#2']);
  });

  test('a state that was queued during the attempt waits too, also if the process was killed', async () => {
    await queue(database, changes(2));
    const [claim, next] = [await takeLong(), await takeLong()];
    const [first] = await due(claim);
    await queue(database, changes(2, 2));
    if (first) await write(claim, [failed(first)]);
    await dropOutboxClaims(database.pool, [claim.id], NOW);
    expect(await due(next, 100, later(59_999))).toEqual([]);
    expect(namesOf(await due(next, 100, later(60_000)))).toEqual(['0#2', '1#2']);
  });

  test('but not after an attempt that wrote nothing', async () => {
    await queue(database, changes(1));
    const claim = await take();
    const sent = await due(claim);
    await write(
      claim,
      sent.map((one) => failed(one, false)),
    );
    await queue(database, changes(1, 2));
    expect(namesOf(await due(claim))).toEqual(['0#2']);
  });
});

async function untilBlocked(): Promise<void> {
  const waiting = async () => {
    const found = await database.pool.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return found.rowCount;
  };
  await expect.poll(waiting).toBe(1);
}
