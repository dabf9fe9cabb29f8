/**
 * What a delivery writes besides the state of an item: fields that changed in the task, and comments. A field is written only
 * if its text differs from the one that the last delivered state of the task yields, so what a person changed at the target
 * stays until the task changes.
 */
import type { Delivery, TargetFailure } from '../../contract/target.ts';
import type { ItemField, ItemSettings } from '../../settings/target-items.ts';
import type { Creating, DetailLog } from './creation-log.ts';
import { type CommentItems, type CommentNeeds, commentOnce } from './item-comments.ts';
import { type FieldValues, openFields, type ReadFields } from './item-fields.ts';
import type { Asked, Detailed, ItemDetails } from './item-target.ts';
import { type Render, renderer, viewOf } from './render.ts';

export interface DetailItems<Item> extends CommentItems<Item> {
  /** `delivery.itemId` is undefined while the item has no link: then the description keeps the marker of the task. */
  update(item: Item, values: FieldValues, delivery: Delivery): Promise<Asked<unknown>>;
  /** Ids of labels by name, where the vendor's calls take ids. */
  labelIds?(names: readonly string[]): Promise<Asked<ReadonlyMap<string, string>>>;
}

export type Details = ItemSettings & { readonly name: string };
const LINKED = 'Mirrors {{ task.kind }} {{ task.id }} of {{ account }}: {{ title }}';
const GONE = 'The {{ task.kind }} {{ task.id }} of {{ account }} that this mirrors is gone: {{ title }}';
const NOTHING: Detailed = { done: [] };

export function openDetails<Item extends { readonly itemId: string }>(
  settings: Details,
  needs: CommentNeeds & { readonly log: DetailLog; readonly priorities: Readonly<Record<string, number>> | undefined },
): (items: DetailItems<Item>) => ItemDetails<Item> {
  const { log } = needs;
  const { onChange, comment, name } = settings;
  const fields = openFields(settings, needs.priorities);
  const template = (text: string): Render => renderer({ text, place: 'text', where: `targets.${name}.comment` });
  const linked = comment === false ? undefined : template(comment === true ? LINKED : comment);
  const gone = template(GONE);

  async function say(
    items: DetailItems<Item>,
    item: Item,
    delivery: Delivery,
    about: 'link' | 'change',
    text: string,
  ): Promise<Detailed> {
    const written = await commentOnce(items, item, delivery, { about, text }, needs);
    if (written.status === 'ok') return written.isNew ? { done: ['comment written'] } : NOTHING;
    if (written.status !== 'missing') return { done: [], failure: written };
    return { done: [], failure: { status: 'refused', reason: 'ITEM_MISSING', detail: written.detail } };
  }

  async function sayBy(
    render: Render,
    items: DetailItems<Item>,
    item: Item,
    delivery: Delivery,
    about: 'link' | 'change',
  ) {
    const text = render(viewOf(delivery));
    return text.status === 'ok' ? say(items, item, delivery, about, text.text) : { done: [], failure: text };
  }

  async function allOf(items: DetailItems<Item>, delivery: Delivery): Promise<ReadFields | TargetFailure> {
    const read = fields.values(delivery, fields.names);
    return read.status === 'ok' ? withLabels(items, read, settings) : read;
  }

  /** The fields to write: of an item that Lockstep created, whatever was written is replaced. */
  async function changedIn(items: DetailItems<Item>, delivery: Delivery, isOurs: boolean) {
    const names = onChange === 'comment' ? [] : onChange;
    const read = isOurs ? fields.values(delivery, names) : await changesOf(delivery, names);
    return read?.status === 'ok' ? withLabels(items, read, settings) : read;
  }

  /** What the task says differently since its last delivery; undefined if that is unknown, or nothing is compared. */
  async function changesOf(
    delivery: Delivery,
    names: readonly ItemField[],
  ): Promise<ReadFields | TargetFailure | undefined> {
    const before = names.length === 0 ? undefined : await log.lastDelivered(delivery);
    return before && fields.values(delivery, names, before);
  }

  return (items) => ({
    forCreation: (delivery) => allOf(items, delivery),

    async writeFields(delivery, { item, isNew, isOurs }) {
      const unfinished = unfinishedOf(delivery, item);
      const left = isNew || !hasOwnFields(settings) ? undefined : await log.lastOf(unfinished);
      const all = isOurs || left !== undefined ? await allOf(items, delivery) : undefined;
      if (all !== undefined && all.status !== 'ok') return { done: [], failure: all };
      const read = left !== undefined ? all : isNew ? undefined : await changedIn(items, delivery, isOurs);
      if (read !== undefined && read.status !== 'ok') return { done: [], failure: read };
      const written =
        read === undefined || read.changed.length === 0 ? NOTHING : await update(items, delivery, item, read);
      const failure = written.failure ?? (all ?? read)?.problem;
      if (all?.problem !== undefined && left === undefined) await log.begin(unfinished, undefined);
      if (failure === undefined && left !== undefined) await log.forget(unfinished);
      return { done: written.done, failure };
    },

    async writeComments(delivery, { item, isOurs }) {
      const first = linked === undefined ? NOTHING : await sayBy(linked, items, item, delivery, 'link');
      if (first.failure !== undefined || onChange !== 'comment' || isOurs) return first;
      const read = await changesOf(delivery, fields.names);
      if (read === undefined) return first;
      if (read.status !== 'ok') return { done: first.done, failure: read };
      if (read.changed.length === 0) return first;
      const text = read.changed.map((change) => `${capital(change.name)}: ${change.text || 'none'}`).join('\n');
      const second = await say(items, item, delivery, 'change', text);
      return { ...second, done: [...first.done, ...second.done] };
    },

    commentGone: (delivery, item) => sayBy(gone, items, item, delivery, 'change'),
  });
}

async function update<Item>(
  items: DetailItems<Item>,
  delivery: Delivery,
  item: Item,
  { values, changed }: ReadFields,
): Promise<Detailed> {
  const names = changed.map(({ name }) => name).join(', ');
  const asked = await items.update(item, values, delivery);
  if (asked.status === 'ok') return { done: [`${names} written`] };
  if (asked.status === 'missing')
    return { done: [], failure: { status: 'refused', reason: 'ITEM_MISSING', detail: asked.detail } };
  return { done: [], failure: { ...asked, detail: `${asked.detail}; not written: ${names}` } };
}

/** A label that the vendor does not know is left out. */
async function withLabels<Item>(
  items: DetailItems<Item>,
  read: ReadFields,
  { name }: Details,
): Promise<ReadFields | TargetFailure> {
  const { labels } = read.values;
  if (items.labelIds === undefined || labels === undefined) return read;
  const asked = await items.labelIds([...labels.add, ...labels.remove]);
  if (asked.status === 'missing') return { status: 'refused', reason: 'PLACE_MISSING', detail: asked.detail };
  if (asked.status !== 'ok') return asked;
  const [add, remove] = [labels.add, labels.remove].map((names) =>
    names.flatMap((each) => asked.value.get(each) ?? []),
  );
  const unknown = labels.add.filter((each) => !asked.value.has(each));
  const values = { ...read.values, labels: { add: add ?? [], remove: remove ?? [] } };
  if (unknown.length === 0) return { ...read, values };
  const detail = `the label "${unknown.join('", "')}" was not written, because the target has no such label: create it there, or correct targets.${name}.fields.labels, then replay`;
  return { ...read, values, problem: { status: 'refused', reason: 'LABEL_UNKNOWN', detail } };
}

/** The item was created, and some of its fields are not written yet. */
function unfinishedOf({ account }: Delivery, { itemId }: { readonly itemId: string }): Creating {
  return { account, task: { kind: 'fields', id: itemId } };
}

function hasOwnFields({ fields }: Details): boolean {
  return Object.keys(fields).length > 0;
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
