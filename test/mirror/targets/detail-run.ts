/** Items of a vendor with fields and comments, for its suites: a stand-in of the vendor and a ledger's log, new for each test. */
import { afterEach, beforeEach, expect } from 'vitest';
import type { Delivery, DeliveryOutcome, Target, TaskState } from '../../../src/contract/target.ts';
import type { FieldTemplates, ItemField, ItemSettings } from '../../../src/settings/target-items.ts';
import { context, type DetailedVendor, deliveryOf, type FakeLog, fakeLog, needsOf } from '../../support/item-vendor.ts';

export const ANN = 'person-ann';
const TEMPLATES: Required<FieldTemplates> = {
  title: '{{ task.kind }}: {{ title }}',
  description: 'Due {{ task.endDate }}',
  dueDate: '{{ task.endDate }}',
  labels: ['{{ task.status }}', 'mirror'],
  assignee: '{{ task.parentId }}',
  priority: 'high',
  custom: { Size: "{% if task.status == 'new' %}small{% else %}Large{% endif %}" },
};
export const PEOPLE = { 'ann@example.com': ANN };
export const DUE: Partial<TaskState> = { endDate: '2026-03-02T17:00:00', parentId: 'Ann@example.com', status: 'new' };

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

export function detailRun<Harness extends DetailedVendor>(
  startHarness: () => Promise<Harness>,
  formsOf: (harness: Harness) => DetailForms,
) {
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

  /** Closed with the test. */
  function open(settings: Parameters<Harness['openTarget']>[1], itsLog: FakeLog = log): Target {
    const target = harness.openTarget(needsOf(harness.vendor, { log: itsLog }), settings);
    opened.push(target);
    return target;
  }

  /** Each delivery is sent by a process of its own, so nothing is remembered but the ledger. */
  function send(settings: Partial<ItemSettings>, delivery: Delivery): Promise<DeliveryOutcome> {
    return open({ create: true, ...settings }).deliver(delivery, context());
  }

  async function created(settings: Partial<ItemSettings>, task: Partial<TaskState> = DUE): Promise<string> {
    const outcome = await send(settings, deliveryOf(task));
    expect(outcome).toMatchObject({ status: 'delivered', itemId: expect.any(String) });
    log.delivered = deliveryOf(task);
    return 'itemId' in outcome ? (outcome.itemId ?? '') : '';
  }

  return {
    get harness() {
      return harness;
    },
    get forms() {
      return forms;
    },
    get log() {
      return log;
    },
    open,
    send,
    created,
    own: (): FieldTemplates => Object.fromEntries(forms.fields.map((name) => [name, TEMPLATES[name]])),
    labels: (...names: string[]) => names.map((name) => forms.label?.(name) ?? name),
  };
}

/** As `detailRun` makes it, for the tests that it is made for. */
export type DetailRun = ReturnType<typeof detailRun>;
