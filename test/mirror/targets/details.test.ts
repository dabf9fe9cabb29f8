/** The behaviour of every target whose items have fields and comments, for all vendors. */
import { describe, expect, test } from 'vitest';
import type { ItemField } from '../../../src/settings/target-items.ts';
import { context, deliveryOf, fakeLog } from '../../support/item-vendor.ts';
import { ANN, DUE, PEOPLE } from './detail-run.ts';
import { DETAILED } from './detailed-vendors.ts';
import { newItemsSuite } from './new-items-suite.ts';

describe.each(DETAILED)('as every target with fields and comments, $noun', ({ run }) => {
  const at = run();
  const { send, created, own, labels } = at;
  const updates = () => at.harness.vendor.requests.filter((request) => at.harness.isUpdate(request)).length;
  const fieldsOf = (itemId: string) =>
    Object.fromEntries(at.forms.fields.map((name) => [name, at.harness.field(itemId, name)]));
  newItemsSuite(at);

  test('is created with the fields that the templates yield, in the form of the vendor', async () => {
    const itemId = await created({ fields: own(), people: PEOPLE });
    const all: Readonly<Record<ItemField, unknown>> = {
      title: 'task: Call the printer',
      description: expect.stringMatching(/^Due 2026-03-02T17:00:00/),
      dueDate: '2026-03-02',
      labels: expect.arrayContaining(labels('new', 'mirror')),
      assignee: ANN,
      priority: at.forms.priority,
      custom: at.forms.small,
    };
    expect(fieldsOf(itemId)).toEqual(Object.fromEntries(at.forms.fields.map((name) => [name, all[name]])));
    expect(updates()).toBe(0);
  });

  test('keeps what looks like markup in a title, and mentions no one, whichever variable a template uses', async () => {
    const fields = { description: '{{ task.description }}, {{ title }}' };
    const task = { title: 'Use &lt;b&gt; @octocat', description: 'by @octocat' };
    const itemId = await created({ fields, comment: '{{ task.title }}' }, task);
    expect(at.harness.field(itemId, 'title')).toBe('Use <b> @\u200boctocat');
    expect(at.harness.field(itemId, 'description')).toMatch(/^by @\u200boctocat, Use <b> @\u200boctocat/);
    expect(at.harness.comments.at(-1)?.text).toMatch(/^Use &lt;b&gt; @\u200boctocat/);
  });

  test('has changed fields written, and keeps what a person changed there', async () => {
    const settings = { fields: own(), people: PEOPLE, onChange: [...at.forms.fields] };
    const itemId = await created(settings);
    await send({ onChange: ['title'] }, deliveryOf({ ...DUE, title: 'By a person' }, { itemId }));
    at.log.delivered = deliveryOf(DUE);
    const outcome = await send(settings, deliveryOf({ ...DUE, endDate: '2026-04-05T09:00:00' }, { itemId }));
    expect(outcome).toMatchObject({ status: 'delivered', detail: expect.stringMatching(/description.* written/) });
    expect(fieldsOf(itemId)).toMatchObject({
      title: 'By a person',
      description: 'Due 2026-04-05T09:00:00',
      ...(at.forms.fields.includes('dueDate') && { dueDate: '2026-04-05' }),
    });
  });

  test('is not written to if no field has changed in the task, or none is to be written', async () => {
    const settings = { fields: own(), people: PEOPLE };
    const itemId = await created(settings);
    const same = await send({ ...settings, onChange: [...at.forms.fields] }, deliveryOf(DUE, { itemId }));
    const unwanted = await send(settings, deliveryOf({ ...DUE, title: 'New' }, { itemId }));
    expect([same.status, unwanted.status, updates()]).toEqual(['already', 'already', 0]);
  });

  test('that was linked by a person keeps its fields until the task changes', async () => {
    const itemId = at.harness.put(false);
    const settings = { onChange: ['title'] as ItemField[] };
    expect(await send(settings, deliveryOf(DUE, { itemId }))).toMatchObject({ status: 'already' });
    at.log.delivered = deliveryOf(DUE);
    await send(settings, deliveryOf({ ...DUE, title: 'Call Lee' }, { itemId }));
    expect([at.harness.field(itemId, 'title'), updates()]).toEqual(['Call Lee', 1]);
  });

  test("has the target's own fields written on change; what it does not have is named, and stops nothing", async () => {
    if (!at.forms.fields.includes('custom')) return;
    const settings = { fields: own(), people: PEOPLE, onChange: ['custom'] as ItemField[] };
    const itemId = await created(settings);
    await send(settings, deliveryOf({ ...DUE, status: 'old' }, { itemId }));
    const large = JSON.parse(JSON.stringify(at.forms.small).replace('Small', 'Large'));
    expect(at.harness.field(itemId, 'custom')).toEqual(large);
    const done = deliveryOf({ ...DUE, id: '13', isCompleted: true });
    const removed = await send({ fields: { custom: { Weight: '3', Size: 'Huge' } } }, done);
    expect(removed).toMatchObject({ status: 'refused', reason: 'FIELD_UNKNOWN', itemId: expect.any(String) });
    expect(removed.detail).toMatch(
      /no field "Weight" \(available: Size\).*no option "Huge" \(available: Small, Large\)/,
    );
    expect(at.harness.isCompleted('itemId' in removed ? (removed.itemId ?? '') : '')).toBe(true);
  });

  test('whose creation was under way when its process was killed is created again only if it must be shown', async () => {
    at.harness.vendor.next('break', at.harness.isCreation);
    expect(await send({}, deliveryOf())).toMatchObject({ status: 'later' });
    const unseen = { status: 'later', reason: 'NOT_SHOWN_YET', retryAfterMs: expect.any(Number) };
    expect(await send({}, deliveryOf())).toMatchObject(unseen);
    expect(at.harness.count()).toBe(0);
    at.log.age(5 * 60_000);
    expect(await send({}, deliveryOf())).toMatchObject({ status: 'delivered', itemId: expect.any(String) });
    expect(at.harness.count()).toBe(1);
  });

  test('whose creation got no answer keeps what a person has changed since, and gets what has changed in the task', async () => {
    const settings = { onChange: ['title', 'description'] as ItemField[] };
    at.harness.vendor.next('lose', at.harness.isCreation);
    expect(await send(settings, deliveryOf())).toMatchObject({ status: 'later' });
    const found = await at.open({ create: true }, fakeLog()).deliver(deliveryOf(), context());
    const itemId = 'itemId' in found ? (found.itemId ?? '') : '';
    const log = Object.assign(fakeLog(), { delivered: deliveryOf() });
    const person = at.open({ create: false, onChange: ['title'] }, log);
    await person.deliver(deliveryOf({ title: 'By a person' }, { itemId }), context());
    expect(await send(settings, deliveryOf())).toMatchObject({ status: 'already', itemId });
    expect(at.harness.field(itemId, 'title')).toBe('By a person');
    const newer = deliveryOf({ description: 'Newer' }, { id: 'msg_newer', sequence: 3 });
    expect(await send(settings, newer)).toMatchObject({ status: 'delivered', itemId });
    expect(at.harness.field(itemId, 'title')).toBe('By a person');
    expect(at.harness.field(itemId, 'description')).toMatch(/^Newer/);
  });

  test('whose link was lost in a crash is read by the id that it was created with', async () => {
    const first = await send({}, deliveryOf());
    const requests = at.harness.vendor.requests.length;
    expect(await send({}, deliveryOf())).toMatchObject({
      status: 'already',
      itemId: 'itemId' in first && first.itemId,
    });
    expect([at.harness.count(), at.harness.vendor.requests.length]).toEqual([1, requests + 1]);
  });

  test('is completed although a field is refused, and the field is written once its cause is fixed', async () => {
    const settings = { fields: own(), people: {} };
    const done = deliveryOf({ ...DUE, isCompleted: true });
    const outcome = await send(settings, done);
    expect(outcome).toMatchObject({ status: 'refused', reason: 'PERSON_UNKNOWN', itemId: expect.any(String) });
    const itemId = 'itemId' in outcome ? (outcome.itemId ?? '') : '';
    expect([at.harness.isCompleted(itemId), at.harness.field(itemId, 'title')]).toEqual([
      true,
      'task: Call the printer',
    ]);
    const open = deliveryOf(DUE, { itemId });
    expect(await send({ ...settings, people: PEOPLE }, open)).toMatchObject({ status: 'delivered' });
    expect(at.harness.field(itemId, 'assignee')).toBe(ANN);
    expect(await send({ ...settings, people: PEOPLE }, open)).toMatchObject({ status: 'already' });
  });

  test('without a value for a field any more has it emptied', async () => {
    const fields = at.forms.fields.filter((name) => name === 'dueDate' || name === 'assignee');
    const settings = { fields: own(), people: PEOPLE, onChange: fields };
    const itemId = await created(settings);
    await send(settings, deliveryOf({ ...DUE, endDate: undefined, parentId: undefined }, { itemId }));
    for (const name of fields) expect(at.harness.field(itemId, name) ?? null).toBeNull();
  });

  test('keeps labels of people when those of the task change', async () => {
    if (!at.forms.fields.includes('labels')) return;
    const settings = { fields: own(), people: PEOPLE, onChange: ['labels'] as ItemField[] };
    const itemId = await created(settings);
    const byPerson = { ...settings, fields: { labels: ['{{ task.title }}'] } };
    await send(byPerson, deliveryOf({ ...DUE, title: 'urgent' }, { itemId }));
    await send(settings, deliveryOf({ ...DUE, status: 'mirror' }, { itemId }));
    const now = at.harness.field(itemId, 'labels');
    expect(now).toEqual(expect.arrayContaining(labels('urgent', 'mirror')));
    expect(now).not.toEqual(expect.arrayContaining(labels('new')));
  });

  test.each(['leave', 'close', 'comment'] as const)('of a task that is gone follows whenGone: %s', async (whenGone) => {
    const itemId = at.harness.put(false);
    const gone = deliveryOf({ isGone: true }, { itemId, event: 'gone' });
    const outcome = await send({ whenGone }, gone);
    expect(outcome.status).toBe(whenGone === 'leave' ? 'skipped' : 'delivered');
    expect(at.harness.isCompleted(itemId)).toBe(whenGone === 'close');
    expect(at.harness.comments).toHaveLength(whenGone === 'comment' ? 1 : 0);
    if (whenGone === 'close') expect(at.forms.cancelled(itemId)).toEqual(at.forms.closed);
    expect((await send({ whenGone }, gone)).status).toBe(whenGone === 'leave' ? 'skipped' : 'already');
    expect(at.harness.comments).toHaveLength(whenGone === 'comment' ? 1 : 0);
  });

  test('that is deleted leaves nothing to do for a task that is gone', async () => {
    const itemId = `${at.harness.put(false)}99`;
    const outcome = await send({ whenGone: 'close' }, deliveryOf({ isGone: true }, { itemId, event: 'gone' }));
    const detail = expect.stringMatching(/if it is deleted, nothing is left to do$/);
    expect(outcome).toMatchObject({ status: 'refused', reason: 'ITEM_MISSING', detail });
  });

  test('gets one comment when it is linked, however often its task is delivered', async () => {
    const comment = 'See https://crm.example.com/tasks/{{ task.id }}';
    const itemId = await created({ comment });
    await send({ comment }, deliveryOf({ isCompleted: true }, { itemId }));
    await send({ comment }, deliveryOf({}, { itemId, id: 'msg_another' }));
    expect(at.harness.comments).toEqual([
      { id: expect.any(String), itemId, text: expect.stringMatching(/^See https:\/\/crm\.example\.com\/tasks\/12/) },
    ]);
  });

  test('gets its comment once though a crash comes between the comment and its record', async () => {
    const itemId = at.harness.put(false);
    const noteTaken = at.log.noteTaken;
    at.log.noteTaken = () => Promise.reject(new Error('the process is killed'));
    await expect(send({ comment: true }, deliveryOf({}, { itemId }))).rejects.toThrow('killed');
    at.log.noteTaken = noteTaken;
    expect(await send({ comment: true }, deliveryOf({}, { itemId }))).toMatchObject({ status: 'already' });
    expect(at.harness.comments).toHaveLength(1);
  });

  test('gets its comment once though the answer is lost', async () => {
    const itemId = at.harness.put(false);
    at.harness.vendor.next('lose', at.harness.isComment);
    const lost = await send({ comment: true }, deliveryOf({}, { itemId }));
    expect(lost).toMatchObject({ status: 'later', detail: expect.stringContaining('may have been created') });
    expect(await send({ comment: true }, deliveryOf({}, { itemId }))).toMatchObject({ status: 'already' });
    expect(at.harness.comments).toHaveLength(1);
  });

  test('gets a comment again only after the target must show it, if it is not shown', async () => {
    const itemId = at.harness.put(false);
    at.harness.vendor.next('break', at.harness.isComment);
    expect(await send({ comment: true }, deliveryOf({}, { itemId }))).toMatchObject({ status: 'later' });
    expect(await send({ comment: true }, deliveryOf({}, { itemId }))).toMatchObject({ reason: 'NOT_SHOWN_YET' });
    expect(at.harness.comments).toEqual([]);
    at.log.age(5 * 60_000);
    expect(await send({ comment: true }, deliveryOf({}, { itemId }))).toMatchObject({ status: 'delivered' });
    expect(at.harness.comments).toHaveLength(1);
  });

  test('whose comment is refused has its state, and gets the comment by a replay', async () => {
    const itemId = at.harness.put(false);
    const done = deliveryOf({ isCompleted: true }, { itemId });
    at.harness.vendor.next({ status: 403, body: {} }, at.harness.isComment);
    expect(await send({ comment: true }, done)).toMatchObject({ status: 'refused', reason: 'NOT_ALLOWED' });
    expect([at.harness.isCompleted(itemId), at.harness.comments.length]).toEqual([true, 0]);
    expect(await send({ comment: true }, done)).toMatchObject({ status: 'delivered' });
    expect(at.harness.comments).toHaveLength(1);
  });

  test('gets changes as a comment, once for each delivery, with onChange: comment', async () => {
    const settings = { fields: own(), people: PEOPLE, onChange: 'comment' as const };
    const itemId = await created(settings);
    const changed = deliveryOf({ ...DUE, title: 'Call Lee' }, { itemId, id: 'msg_changed' });
    expect(await send(settings, changed)).toMatchObject({ status: 'delivered' });
    expect(await send(settings, changed)).toMatchObject({ status: 'already' });
    expect(at.harness.comments.map(({ text }) => text.split('\n')[0])).toEqual(['Title: task: Call Lee']);
    expect([at.harness.field(itemId, 'title'), updates()]).toEqual(['task: Call the printer', 0]);
  });
});
