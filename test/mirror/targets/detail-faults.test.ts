/** Fields and comments are written once, whatever comes instead of an answer; for all vendors. */
import { describe, expect, test } from 'vitest';
import type { DeliveryOutcome } from '../../../src/contract/target.ts';
import type { Reply } from '../../support/http-server.ts';
import { deliveryOf } from '../../support/item-vendor.ts';
import { type DetailForms, DUE, PEOPLE } from './detail-run.ts';
import { DETAILED } from './detailed-vendors.ts';

type Fault = Reply | 'fail' | 'lose' | 'break' | ((forms: DetailForms) => Reply);

/** What may come instead of an answer, or as one: a vendor's document has most of these for most of its operations. */
const FAULTS: readonly (readonly [string, Fault])[] = [
  ['a redirect', { status: 301, body: {} }],
  ['a refusal', { status: 400, body: {} }],
  ['a token that is refused half way', { status: 401, body: {} }],
  ['a lack of permission', { status: 403, body: {} }],
  ['an item or a place that is not found', { status: 404, body: {} }],
  ['a conflict', { status: 409, body: {} }],
  ['a thing that is gone', { status: 410, body: {} }],
  ['a limit of a size', { status: 413, body: {} }],
  ['a refusal of a value', { status: 422, body: {} }],
  ['a limit', { status: 429, body: {} }],
  ['a defect', { status: 500, body: {} }],
  ['a failure', { status: 503, body: {} }],
  ['a failure after the change', 'fail'],
  ['an answer that is lost', 'lose'],
  ['a connection that breaks off', 'break'],
  ['a success that is an error', ({ failure }) => ({ body: failure })],
];

function isDone(outcome: DeliveryOutcome | undefined): boolean {
  return outcome?.status === 'delivered' || outcome?.status === 'already';
}

describe.each(DETAILED)('as every target with fields and comments, $noun', ({ run }) => {
  const at = run();
  const { send, created, own, labels } = at;
  const commentsOn = (itemId: string | undefined) => at.harness.comments.filter((comment) => comment.itemId === itemId);

  /**
   * Sends the same delivery until it is done, with the fault instead of the answer to its first call, then to its second, and so
   * on. `begin` prepares a delivery, which is sent to the item that it was linked with; `check` sees the item in the end.
   */
  async function atEachCall(
    twist: Fault,
    begin: (nth: number) => Promise<(itemId: string | undefined) => Promise<DeliveryOutcome>>,
    check: (nth: number, itemId: string | undefined) => void,
  ): Promise<void> {
    const answer = typeof twist === 'function' ? twist(at.forms) : twist;
    let isMet = true;
    for (let nth = 1; isMet; nth++) {
      const deliver = await begin(nth);
      let calls = 0;
      at.harness.vendor.next(answer, () => ++calls === nth);
      let outcome: DeliveryOutcome | undefined;
      let itemId: string | undefined;
      for (let attempts = 0; attempts < 5 && !isDone(outcome); attempts++) {
        outcome = await deliver(itemId);
        if ('itemId' in outcome) itemId = outcome.itemId ?? itemId;
        if (attempts === 0) isMet = calls >= nth;
        if (attempts === 0) expect([nth, isDone(outcome)]).toEqual([nth, !isMet]);
        at.log.age(5 * 60_000);
      }
      const delivered = expect.objectContaining({ status: expect.stringMatching(/delivered|already/) });
      expect([nth, outcome]).toEqual([nth, delivered]);
      check(nth, itemId);
    }
  }

  test.each(FAULTS)('has everything once after %s, at whichever call of its creation it comes', async (_, twist) => {
    const settings = { fields: own(), people: PEOPLE, comment: true };
    let items = 0;
    const begin = async (nth: number) => {
      items = at.harness.count();
      const task = { ...DUE, id: `7${nth}`, isCompleted: true };
      return (itemId: string | undefined) => send(settings, deliveryOf(task, { itemId }));
    };
    await atEachCall(twist, begin, (nth, itemId = '') => {
      expect([nth, at.harness.count() - items, at.harness.isCompleted(itemId)]).toEqual([nth, 1, true]);
      expect(commentsOn(itemId)).toHaveLength(1);
      if (at.forms.fields.includes('dueDate')) expect(at.harness.field(itemId, 'dueDate')).toBe('2026-03-02');
    });
  });

  test.each(FAULTS)('has its changes once after %s, at whichever call of them it comes', async (_, twist) => {
    const given = { fields: own(), people: PEOPLE };
    const settings = { ...given, onChange: [...at.forms.fields], comment: true };
    let itemId = '';
    const begin = async (nth: number) => {
      const id = `6${nth}`;
      itemId = await created(given, { ...DUE, id });
      const later = { ...DUE, id, endDate: '2026-04-05T09:00:00', status: 'urgent' };
      return () => send(settings, deliveryOf(later, { itemId, id: `msg_${id}`, sequence: 2 }));
    };
    await atEachCall(twist, begin, () => {
      expect(commentsOn(itemId)).toHaveLength(1);
      expect(at.harness.field(itemId, 'description')).toMatch(/^Due 2026-04-05T09:00:00/);
      expect(at.harness.field(itemId, 'labels')).toEqual(expect.arrayContaining(labels('urgent', 'mirror')));
      expect(at.harness.field(itemId, 'labels')).not.toEqual(expect.arrayContaining(labels('new')));
    });
  });
});
