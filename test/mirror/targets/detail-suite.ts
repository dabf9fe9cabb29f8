/** The behaviour of every target whose items have fields and comments, for all vendors. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Delivery, DeliveryOutcome, Target, TaskState } from '../../../src/contract/target.ts';
import { markerUuidOf } from '../../../src/mirror/targets/items/marker.ts';
import type { FieldTemplates, ItemField, ItemSettings } from '../../../src/settings/target-items.ts';
import type { Reply } from '../../support/http-server.ts';
import { context, type DetailedVendor, deliveryOf, type FakeLog, fakeLog, needsOf } from '../../support/item-vendor.ts';

const ANN = 'person-ann';
const TEMPLATES: Required<FieldTemplates> = {
  title: '{{ task.kind }}: {{ title }}',
  description: 'Due {{ task.endDate }}',
  dueDate: '{{ task.endDate }}',
  labels: ['{{ task.status }}', 'mirror'],
  assignee: '{{ task.parentId }}',
  priority: 'high',
  custom: { Size: "{% if task.status == 'new' %}small{% else %}Large{% endif %}" },
};
const PEOPLE = { 'ann@example.com': ANN };
const DUE: Partial<TaskState> = { endDate: '2026-03-02T17:00:00', parentId: 'Ann@example.com', status: 'new' };

export interface DetailForms {
  readonly fields: readonly ItemField[];
  readonly priority?: unknown;
  /** The option Small of the target's own field Size. */
  readonly small?: unknown;
  /** A label as the vendor has it. */
  label?(name: string): string;
  /** The state of an item whose task is gone. */
  readonly cancelled: (itemId: string) => unknown;
  readonly closed: unknown;
  /** Items that Lockstep created are shown as new, under ids that it has chosen. */
  readonly showsOwn?: boolean;
  /** The body of an error. */
  readonly failure: object;
  /** False if its list of changes has no order. Default: true. */
  readonly sortsChanges?: boolean;
}

/** What may come instead of an answer, or as one: a vendor's document has most of these for most of its operations. */
const FAULTS: readonly (readonly [string, Reply | 'fail' | 'lose' | 'break' | ((forms: DetailForms) => Reply)])[] = [
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

export function detailSuite<Harness extends DetailedVendor>(
  noun: string,
  startHarness: () => Promise<Harness>,
  formsOf: (harness: Harness) => DetailForms,
): void {
  describe(`as every target with fields and comments, ${noun}`, () => {
    let harness: Harness;
    let forms: DetailForms;
    let log: FakeLog;
    let opened: Target[];

    beforeEach(async () => {
      harness = await startHarness();
      forms = formsOf(harness);
      log = fakeLog();
      opened = [];
    });

    afterEach(async () => {
      await Promise.all(opened.map((target) => target.close()));
      await harness.vendor.close();
      expect(harness.vendor.complaints).toEqual([]);
    });

    /** Each delivery is sent by a process of its own, so nothing is remembered but the ledger. */
    const send = (settings: Partial<ItemSettings>, delivery: Delivery) => {
      const target = harness.openTarget(needsOf(harness.vendor, { log }), { create: true, ...settings });
      opened.push(target);
      return target.deliver(delivery, context());
    };
    const own = (): FieldTemplates => Object.fromEntries(forms.fields.map((name) => [name, TEMPLATES[name]]));
    const updates = () => harness.vendor.requests.filter((request) => harness.isUpdate(request)).length;
    const fieldsOf = (itemId: string) =>
      Object.fromEntries(forms.fields.map((name) => [name, harness.field(itemId, name)]));
    const labels = (...names: string[]) => names.map((name) => forms.label?.(name) ?? name);

    async function created(settings: Partial<ItemSettings>, task: Partial<TaskState> = DUE): Promise<string> {
      const outcome = await send(settings, deliveryOf(task));
      expect(outcome).toMatchObject({ status: 'delivered', itemId: expect.any(String) });
      log.delivered = deliveryOf(task);
      return 'itemId' in outcome ? (outcome.itemId ?? '') : '';
    }

    test('is created with the fields that the templates yield, in the form of the vendor', async () => {
      const itemId = await created({ fields: own(), people: PEOPLE });
      const all: Readonly<Record<ItemField, unknown>> = {
        title: 'task: Call the printer',
        description: expect.stringMatching(/^Due 2026-03-02T17:00:00/),
        dueDate: '2026-03-02',
        labels: expect.arrayContaining(labels('new', 'mirror')),
        assignee: ANN,
        priority: forms.priority,
        custom: forms.small,
      };
      expect(fieldsOf(itemId)).toEqual(Object.fromEntries(forms.fields.map((name) => [name, all[name]])));
      expect(updates()).toBe(0);
    });

    test('keeps what looks like markup in a title, and mentions no one, whichever variable a template uses', async () => {
      const fields = { description: '{{ task.description }}, {{ title }}' };
      const task = { title: 'Use &lt;b&gt; @octocat', description: 'by @octocat' };
      const itemId = await created({ fields, comment: '{{ task.title }}' }, task);
      expect(harness.field(itemId, 'title')).toBe('Use <b> @\u200boctocat');
      expect(harness.field(itemId, 'description')).toMatch(/^by @\u200boctocat, Use <b> @\u200boctocat/);
      expect(harness.comments.at(-1)?.text).toMatch(/^Use &lt;b&gt; @\u200boctocat/);
    });

    test('has changed fields written, and keeps what a person changed there', async () => {
      const settings = { fields: own(), people: PEOPLE, onChange: [...forms.fields] };
      const itemId = await created(settings);
      await send({ onChange: ['title'] }, deliveryOf({ ...DUE, title: 'By a person' }, { itemId }));
      log.delivered = deliveryOf(DUE);
      const outcome = await send(settings, deliveryOf({ ...DUE, endDate: '2026-04-05T09:00:00' }, { itemId }));
      expect(outcome).toMatchObject({ status: 'delivered', detail: expect.stringMatching(/description.* written/) });
      expect(fieldsOf(itemId)).toMatchObject({
        title: 'By a person',
        description: 'Due 2026-04-05T09:00:00',
        ...(forms.fields.includes('dueDate') && { dueDate: '2026-04-05' }),
      });
    });

    test('is not written to if no field has changed in the task, or none is to be written', async () => {
      const settings = { fields: own(), people: PEOPLE };
      const itemId = await created(settings);
      const same = await send({ ...settings, onChange: [...forms.fields] }, deliveryOf(DUE, { itemId }));
      const unwanted = await send(settings, deliveryOf({ ...DUE, title: 'New' }, { itemId }));
      expect([same.status, unwanted.status, updates()]).toEqual(['already', 'already', 0]);
    });

    test('that was linked by a person keeps its fields until the task changes', async () => {
      const itemId = harness.put(false);
      const settings = { onChange: ['title'] as ItemField[] };
      expect(await send(settings, deliveryOf(DUE, { itemId }))).toMatchObject({ status: 'already' });
      log.delivered = deliveryOf(DUE);
      await send(settings, deliveryOf({ ...DUE, title: 'Call Lee' }, { itemId }));
      expect([harness.field(itemId, 'title'), updates()]).toEqual(['Call Lee', 1]);
    });

    test("has the target's own fields written on change; what it does not have is named, and stops nothing", async () => {
      if (!forms.fields.includes('custom')) return;
      const settings = { fields: own(), people: PEOPLE, onChange: ['custom'] as ItemField[] };
      const itemId = await created(settings);
      await send(settings, deliveryOf({ ...DUE, status: 'old' }, { itemId }));
      const large = JSON.parse(JSON.stringify(forms.small).replace('Small', 'Large'));
      expect(harness.field(itemId, 'custom')).toEqual(large);
      const done = deliveryOf({ ...DUE, id: '13', isCompleted: true });
      const removed = await send({ fields: { custom: { Weight: '3', Size: 'Huge' } } }, done);
      expect(removed).toMatchObject({ status: 'refused', reason: 'FIELD_UNKNOWN', itemId: expect.any(String) });
      expect(removed.detail).toMatch(
        /no field "Weight" \(available: Size\).*no option "Huge" \(available: Small, Large\)/,
      );
      expect(harness.isCompleted('itemId' in removed ? (removed.itemId ?? '') : '')).toBe(true);
    });

    test('whose creation was under way when its process was killed is created again only if it must be shown', async () => {
      harness.vendor.next('break', harness.isCreation);
      expect(await send({}, deliveryOf())).toMatchObject({ status: 'later' });
      const unseen = { status: 'later', reason: 'NOT_SHOWN_YET', retryAfterMs: expect.any(Number) };
      expect(await send({}, deliveryOf())).toMatchObject(unseen);
      expect(harness.count()).toBe(0);
      log.age(5 * 60_000);
      expect(await send({}, deliveryOf())).toMatchObject({ status: 'delivered', itemId: expect.any(String) });
      expect(harness.count()).toBe(1);
    });

    test('whose creation got no answer keeps what a person has changed since, and gets what has changed in the task', async () => {
      const settings = { onChange: ['title', 'description'] as ItemField[] };
      harness.vendor.next('lose', harness.isCreation);
      expect(await send(settings, deliveryOf())).toMatchObject({ status: 'later' });
      const target = harness.openTarget(needsOf(harness.vendor), { create: true });
      opened.push(target);
      const found = await target.deliver(deliveryOf(), context());
      const itemId = 'itemId' in found ? (found.itemId ?? '') : '';
      const byPerson = needsOf(harness.vendor, { log: Object.assign(fakeLog(), { delivered: deliveryOf() }) });
      const person = harness.openTarget(byPerson, { create: false, onChange: ['title'] });
      opened.push(person);
      await person.deliver(deliveryOf({ title: 'By a person' }, { itemId }), context());
      expect(await send(settings, deliveryOf())).toMatchObject({ status: 'already', itemId });
      expect(harness.field(itemId, 'title')).toBe('By a person');
      const newer = deliveryOf({ description: 'Newer' }, { id: 'msg_newer', sequence: 3 });
      expect(await send(settings, newer)).toMatchObject({ status: 'delivered', itemId });
      expect(harness.field(itemId, 'title')).toBe('By a person');
      expect(harness.field(itemId, 'description')).toMatch(/^Newer/);
    });

    test('whose link was lost in a crash is read by the id that it was created with', async () => {
      const first = await send({}, deliveryOf());
      const requests = harness.vendor.requests.length;
      expect(await send({}, deliveryOf())).toMatchObject({
        status: 'already',
        itemId: 'itemId' in first && first.itemId,
      });
      expect([harness.count(), harness.vendor.requests.length]).toEqual([1, requests + 1]);
    });

    test('is completed although a field is refused, and the field is written once its cause is fixed', async () => {
      const settings = { fields: own(), people: {} };
      const done = deliveryOf({ ...DUE, isCompleted: true });
      const outcome = await send(settings, done);
      expect(outcome).toMatchObject({ status: 'refused', reason: 'PERSON_UNKNOWN', itemId: expect.any(String) });
      const itemId = 'itemId' in outcome ? (outcome.itemId ?? '') : '';
      expect([harness.isCompleted(itemId), harness.field(itemId, 'title')]).toEqual([true, 'task: Call the printer']);
      const open = deliveryOf(DUE, { itemId });
      expect(await send({ ...settings, people: PEOPLE }, open)).toMatchObject({ status: 'delivered' });
      expect(harness.field(itemId, 'assignee')).toBe(ANN);
      expect(await send({ ...settings, people: PEOPLE }, open)).toMatchObject({ status: 'already' });
    });

    test('without a value for a field any more has it emptied', async () => {
      const fields = forms.fields.filter((name) => name === 'dueDate' || name === 'assignee');
      const settings = { fields: own(), people: PEOPLE, onChange: fields };
      const itemId = await created(settings);
      await send(settings, deliveryOf({ ...DUE, endDate: undefined, parentId: undefined }, { itemId }));
      for (const name of fields) expect(harness.field(itemId, name) ?? null).toBeNull();
    });

    test('keeps labels of people when those of the task change', async () => {
      if (!forms.fields.includes('labels')) return;
      const settings = { fields: own(), people: PEOPLE, onChange: ['labels'] as ItemField[] };
      const itemId = await created(settings);
      const byPerson = { ...settings, fields: { labels: ['{{ task.title }}'] } };
      await send(byPerson, deliveryOf({ ...DUE, title: 'urgent' }, { itemId }));
      await send(settings, deliveryOf({ ...DUE, status: 'mirror' }, { itemId }));
      const now = harness.field(itemId, 'labels');
      expect(now).toEqual(expect.arrayContaining(labels('urgent', 'mirror')));
      expect(now).not.toEqual(expect.arrayContaining(labels('new')));
    });

    test.each(['leave', 'close', 'comment'] as const)(
      'of a task that is gone follows whenGone: %s',
      async (whenGone) => {
        const itemId = harness.put(false);
        const gone = deliveryOf({ isGone: true }, { itemId, event: 'gone' });
        const outcome = await send({ whenGone }, gone);
        expect(outcome.status).toBe(whenGone === 'leave' ? 'skipped' : 'delivered');
        expect(harness.isCompleted(itemId)).toBe(whenGone === 'close');
        expect(harness.comments).toHaveLength(whenGone === 'comment' ? 1 : 0);
        if (whenGone === 'close') expect(forms.cancelled(itemId)).toEqual(forms.closed);
        expect((await send({ whenGone }, gone)).status).toBe(whenGone === 'leave' ? 'skipped' : 'already');
        expect(harness.comments).toHaveLength(whenGone === 'comment' ? 1 : 0);
      },
    );

    test('that is deleted leaves nothing to do for a task that is gone', async () => {
      const itemId = `${harness.put(false)}99`;
      const outcome = await send({ whenGone: 'close' }, deliveryOf({ isGone: true }, { itemId, event: 'gone' }));
      const detail = expect.stringMatching(/if it is deleted, nothing is left to do$/);
      expect(outcome).toMatchObject({ status: 'refused', reason: 'ITEM_MISSING', detail });
    });

    test('gets one comment when it is linked, however often its task is delivered', async () => {
      const comment = 'See https://crm.example.com/tasks/{{ task.id }}';
      const itemId = await created({ comment });
      await send({ comment }, deliveryOf({ isCompleted: true }, { itemId }));
      await send({ comment }, deliveryOf({}, { itemId, id: 'msg_another' }));
      expect(harness.comments).toEqual([
        { id: expect.any(String), itemId, text: expect.stringMatching(/^See https:\/\/crm\.example\.com\/tasks\/12/) },
      ]);
    });

    test('gets its comment once though a crash comes between the comment and its record', async () => {
      const itemId = harness.put(false);
      const noteTaken = log.noteTaken;
      log.noteTaken = () => Promise.reject(new Error('the process is killed'));
      await expect(send({ comment: true }, deliveryOf({}, { itemId }))).rejects.toThrow('killed');
      log.noteTaken = noteTaken;
      expect(await send({ comment: true }, deliveryOf({}, { itemId }))).toMatchObject({ status: 'already' });
      expect(harness.comments).toHaveLength(1);
    });

    test('gets its comment once though the answer is lost', async () => {
      const itemId = harness.put(false);
      harness.vendor.next('lose', harness.isComment);
      const lost = await send({ comment: true }, deliveryOf({}, { itemId }));
      expect(lost).toMatchObject({ status: 'later', detail: expect.stringContaining('may have been created') });
      expect(await send({ comment: true }, deliveryOf({}, { itemId }))).toMatchObject({ status: 'already' });
      expect(harness.comments).toHaveLength(1);
    });

    test('gets a comment again only after the target must show it, if it is not shown', async () => {
      const itemId = harness.put(false);
      harness.vendor.next('break', harness.isComment);
      expect(await send({ comment: true }, deliveryOf({}, { itemId }))).toMatchObject({ status: 'later' });
      expect(await send({ comment: true }, deliveryOf({}, { itemId }))).toMatchObject({ reason: 'NOT_SHOWN_YET' });
      expect(harness.comments).toEqual([]);
      log.age(5 * 60_000);
      expect(await send({ comment: true }, deliveryOf({}, { itemId }))).toMatchObject({ status: 'delivered' });
      expect(harness.comments).toHaveLength(1);
    });

    test('whose comment is refused has its state, and gets the comment by a replay', async () => {
      const itemId = harness.put(false);
      const done = deliveryOf({ isCompleted: true }, { itemId });
      harness.vendor.next({ status: 403, body: {} }, harness.isComment);
      expect(await send({ comment: true }, done)).toMatchObject({ status: 'refused', reason: 'NOT_ALLOWED' });
      expect([harness.isCompleted(itemId), harness.comments.length]).toEqual([true, 0]);
      expect(await send({ comment: true }, done)).toMatchObject({ status: 'delivered' });
      expect(harness.comments).toHaveLength(1);
    });

    test('that a person created is shown as new while it is open; those of Lockstep, and older ones, are not', async () => {
      const itemId = harness.put(false);
      harness.put(true);
      const own = await created({});
      const target = harness.openTarget(needsOf(harness.vendor), { create: true, createTasks: true });
      opened.push(target);
      const since = async (time: string) => {
        const read = await target.newItems?.({ baseline: new Date(time), since: new Date('2026-02-28') }, context());
        return read?.status === 'read' ? read.items : read;
      };
      const mine = { itemId: own, lastingId: markerUuidOf(deliveryOf()) };
      expect(await since('2026-02-01T12:00:00Z')).toMatchObject([
        { itemId, title: 'Old', text: '', createdAt: new Date('2026-02-01T12:00:00Z') },
        ...(forms.showsOwn === true ? [mine] : []),
      ]);
      expect(await since('2026-02-01T12:00:01Z')).toEqual([]);
      expect(target.itemsIn?.(`Seen there\n\n${target.nameOf?.(itemId)}\n\nlockstep-0123456789ab`)).toEqual([itemId]);
    });

    test('is shown as new only if it has the labels of the filter, with the time at the target', async () => {
      harness.put(false);
      const itemId = harness.put(false, ['mirror', 'urgent']);
      const settings = { create: true, createTasks: { labels: ['mirror'] } };
      const target = harness.openTarget(needsOf(harness.vendor), settings);
      opened.push(target);
      const date = new Date('2031-01-01T00:00:00Z');
      harness.vendor.serverTime = date;
      // It was created long before it got the last change, which may be the label.
      const times = { baseline: new Date('2026-02-01T12:00:00Z'), since: new Date('2026-02-28T11:50:00Z') };
      expect(await target.newItems?.(times, context())).toMatchObject({ items: [{ itemId }], at: date });
      expect(await target.newItems?.(undefined, context())).toMatchObject({ items: [], at: date });
    });

    test('is shown as new among thousands of changes, though items change again while they are read', async () => {
      const target = harness.openTarget(needsOf(harness.vendor), { create: true, createTasks: true });
      opened.push(target);
      const begun = new Date('2026-02-01T12:00:00Z');
      const minutes = (count: number) => new Date(begun.getTime() + count * 60_000);
      // The first two and a half pages, and two and a half in the middle, have one time of change each.
      const timeOf = (n: number) => (n < 250 ? 1 : n >= 1500 && n < 1750 ? 1500 : n);
      const ids = Array.from({ length: 3_000 }, (_, n) => {
        const itemId = harness.put(false);
        harness.touch(itemId, minutes(timeOf(n)));
        return itemId;
      });
      let lists = 0;
      harness.vendor.serverTime = minutes(10_000);
      harness.vendor.before = () => {
        // Each time, an item that was shown leaves its place, which moves the others to earlier pages.
        if (++lists % 2 === 0 && lists < 60) harness.touch(ids[(lists / 2 - 1) * 55] ?? '', minutes(5_000 + lists));
      };
      const shown = new Set<string>();
      let since: Date | undefined = begun;
      let readings = 0;
      for (; since !== undefined && readings < 9; readings++) {
        const read: Awaited<ReturnType<NonNullable<Target['newItems']>>> | undefined = await target.newItems?.(
          { baseline: new Date(0), since },
          context(),
        );
        if (read?.status !== 'read') throw new Error(JSON.stringify(read));
        for (const { itemId } of read.items) shown.add(itemId);
        since = read.until;
      }
      expect(ids.filter((itemId) => !shown.has(itemId))).toEqual([]);
      expect([since, shown.size]).toEqual([undefined, ids.length]);
      if (forms.sortsChanges !== false) expect(readings).toBeGreaterThan(1);
    });

    test.each(FAULTS)('has everything once after %s, at whichever call of its creation it comes', async (_, twist) => {
      const answer = typeof twist === 'function' ? twist(forms) : twist;
      const settings = { fields: own(), people: PEOPLE, comment: true };
      let isMet = true;
      for (let at = 1; isMet; at++) {
        const items = harness.count();
        let calls = 0;
        harness.vendor.next(answer, () => ++calls === at);
        let outcome: DeliveryOutcome | undefined;
        let itemId: string | undefined;
        for (let attempts = 0; attempts < 5 && !isDone(outcome); attempts++) {
          outcome = await send(settings, deliveryOf({ ...DUE, id: `7${at}`, isCompleted: true }, { itemId }));
          if ('itemId' in outcome) itemId = outcome.itemId ?? itemId;
          if (attempts === 0) isMet = calls === at;
          if (attempts === 0) expect([at, isDone(outcome)]).toEqual([at, !isMet]);
          log.age(5 * 60_000);
        }
        expect([at, outcome]).toEqual([
          at,
          expect.objectContaining({ status: expect.stringMatching(/delivered|already/) }),
        ]);
        expect([at, harness.count() - items, harness.isCompleted(itemId ?? '')]).toEqual([at, 1, true]);
        expect(harness.comments.filter((comment) => comment.itemId === itemId)).toHaveLength(1);
        if (forms.fields.includes('dueDate')) expect(harness.field(itemId ?? '', 'dueDate')).toBe('2026-03-02');
      }
    });

    test.each(FAULTS)('has its changes once after %s, at whichever call of them it comes', async (_, twist) => {
      const answer = typeof twist === 'function' ? twist(forms) : twist;
      const given = { fields: own(), people: PEOPLE };
      const settings = { ...given, onChange: [...forms.fields], comment: true };
      let isMet = true;
      for (let at = 1; isMet; at++) {
        const id = `6${at}`;
        const itemId = await created(given, { ...DUE, id });
        const later = { ...DUE, id, endDate: '2026-04-05T09:00:00', status: 'urgent' };
        let calls = 0;
        harness.vendor.next(answer, () => ++calls === at);
        let outcome: DeliveryOutcome | undefined;
        for (let attempts = 0; attempts < 5 && !isDone(outcome); attempts++) {
          outcome = await send(settings, deliveryOf(later, { itemId, id: `msg_${id}`, sequence: 2 }));
          if (attempts === 0) isMet = calls >= at;
          log.age(5 * 60_000);
        }
        const delivered = expect.objectContaining({ status: expect.stringMatching(/delivered|already/) });
        expect([at, outcome]).toEqual([at, delivered]);
        expect(harness.comments.filter((comment) => comment.itemId === itemId)).toHaveLength(1);
        expect(harness.field(itemId, 'description')).toMatch(/^Due 2026-04-05T09:00:00/);
        expect(harness.field(itemId, 'labels')).toEqual(expect.arrayContaining(labels('urgent', 'mirror')));
        expect(harness.field(itemId, 'labels')).not.toEqual(expect.arrayContaining(labels('new')));
      }
    });

    test('gets changes as a comment, once for each delivery, with onChange: comment', async () => {
      const settings = { fields: own(), people: PEOPLE, onChange: 'comment' as const };
      const itemId = await created(settings);
      const changed = deliveryOf({ ...DUE, title: 'Call Lee' }, { itemId, id: 'msg_changed' });
      expect(await send(settings, changed)).toMatchObject({ status: 'delivered' });
      expect(await send(settings, changed)).toMatchObject({ status: 'already' });
      expect(harness.comments.map(({ text }) => text.split('\n')[0])).toEqual(['Title: task: Call Lee']);
      expect([harness.field(itemId, 'title'), updates()]).toEqual(['task: Call the printer', 0]);
    });
  });
}
