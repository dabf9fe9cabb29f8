/**
 * What a delivery writes besides the state of an item: fields that changed in the task, and comments. A field is written only
 * if its text differs from the one that the last delivered state of the task yields, so what a person changed at the target
 * stays until the task changes.
 */
import { capital } from '../../../base/texts.ts';
import type { Delivery, TargetFailure } from '../../../contract/target.ts';
import type { ItemSettings } from '../../../settings/target-items.ts';
import { quietViewOf, type Render, renderer } from '../render.ts';
import type { CreationNeeds } from './create-once.ts';
import type { Creating, DetailLog, LoggedCreation } from './creation-log.ts';
import type { Resolved } from './custom-fields.ts';
import { type CommentItems, commentOnce } from './item-comments.ts';
import { type FieldValues, openFields, type Problem, type ReadFields } from './item-fields.ts';
import type { Asked, Detailed, ItemDetails, Missing } from './item-target.ts';
import { withoutMentions } from './item-text.ts';
import { markerOf } from './marker.ts';

export interface DetailItems<Item> extends CommentItems<Item> {
  /** `marker`: of the task, while the item has no link; the description keeps it. */
  update(item: Item, values: FieldValues, marker: string | undefined): Promise<Asked<Item | undefined>>;
  /** For vendors that leave out values without an error: those that the written item does not have. */
  leftOut?(item: Item, values: FieldValues): readonly Problem[];
  /** The values in the vendor's own form, where its calls take ids; those that it does not have are problems. */
  resolve?(values: FieldValues): Promise<Asked<Resolved>>;
}

export type Details = ItemSettings & { readonly name: string };
const LINKED = 'Mirrors {{ task.kind }} {{ task.id }} of {{ account }}: {{ title }}';
const GONE = 'The {{ task.kind }} {{ task.id }} of {{ account }} that this mirrors is gone: {{ title }}';
const NOTHING: Detailed = { done: [] };

export function openDetails<Item extends { readonly itemId: string }>(
  settings: Details,
  needs: CreationNeeds & { readonly log: DetailLog; readonly priorities: Readonly<Record<string, number>> | undefined },
): (items: DetailItems<Item>) => ItemDetails<Item> {
  const { log } = needs;
  const { onChange, comment, name } = settings;
  const fields = openFields(settings, needs.priorities);
  /** The fields that are written when they change in the task. */
  const followed = onChange === 'comment' ? [] : onChange;
  const template = (text: string): Render => renderer({ text, place: 'text', where: `targets.${name}.comment` });
  const linked = comment === false ? undefined : template(comment === true ? LINKED : comment);
  const gone = template(GONE);

  async function say(
    items: DetailItems<Item>,
    item: Item,
    delivery: Delivery,
    about: 'link' | 'change',
    render: Render,
  ): Promise<Detailed> {
    const rendered = render(quietViewOf(delivery));
    if (rendered.status !== 'ok') return { done: [], failure: rendered };
    const written = await commentOnce(items, item, delivery, { about, text: rendered.text }, needs);
    if (written.status === 'ok') return written.value ? { done: ['comment written'] } : NOTHING;
    return { done: [], failure: orMissing(written) };
  }

  /** The new texts of the fields that differ from the last delivered state. */
  async function sayChange(items: DetailItems<Item>, item: Item, delivery: Delivery): Promise<Detailed> {
    const before = (await log.lastDelivered(delivery))?.task;
    if (before === undefined) return NOTHING;
    const read = fields.values(delivery, fields.names, before);
    if (read.status !== 'ok') return { done: [], failure: read };
    if (read.changed.length === 0) return NOTHING;
    const text = read.changed.map(({ name, text }) => `${capital(name)}: ${text || 'none'}`).join('\n');
    return say(items, item, delivery, 'change', () => ({ status: 'ok', text: withoutMentions(text) }));
  }

  async function keepDue(what: Creating, had: LoggedCreation | undefined, problems: readonly Problem[]): Promise<void> {
    const due = problems.filter(({ isLeftOut }) => isLeftOut !== true).map(({ field }) => field);
    if (due.length === 0) return had && log.forget(what);
    await log.begin(what, had);
    await log.noteTaken(what, due.join(','));
  }

  return (items) => ({
    async forCreation(delivery) {
      const read = await resolved(items, fields.values(delivery, fields.names));
      // Before the creation, so that a crash after it does not lose them.
      if (read.status === 'ok' && read.problems.length > 0) await keepDue(dueOf(delivery), undefined, read.problems);
      return read;
    },

    async writeFields(delivery, { item, isNew, given }) {
      if (isNew) return { done: [], failure: failureOf(problemsOf(items, item, given)) };
      const what = dueOf(delivery);
      const had = Object.keys(settings.fields).length > 0 ? await log.lastOf(what) : undefined;
      const before = followed.length === 0 ? undefined : (await log.lastDelivered(delivery))?.task;
      // Of an item that a person has linked, nothing is known: its fields are kept.
      const wanted = before === undefined ? [] : followed;
      const read = await resolved(items, fields.values(delivery, wanted, before, had?.result?.split(',')));
      if (read.status !== 'ok') return { done: [], failure: read };
      const { done, failure, leftOut } = await update(items, delivery, item, read);
      if (failure !== undefined) return { done, failure };
      const problems = [...read.problems, ...leftOut];
      await keepDue(what, had, problems);
      return { done, failure: failureOf(problems) };
    },

    async writeComments(delivery, { item }) {
      const first = linked === undefined ? NOTHING : await say(items, item, delivery, 'link', linked);
      if (first.failure !== undefined || onChange !== 'comment') return first;
      const second = await sayChange(items, item, delivery);
      return { ...second, done: [...first.done, ...second.done] };
    },

    commentGone: (delivery, item) => say(items, item, delivery, 'change', gone),
  });
}

async function update<Item>(
  items: DetailItems<Item>,
  delivery: Delivery,
  item: Item,
  { values, changed }: ReadFields,
): Promise<Detailed & { readonly leftOut: readonly Problem[] }> {
  if (changed.length === 0) return { done: [], leftOut: [] };
  const names = changed.map(({ name }) => name).join(', ');
  const asked = await items.update(item, values, delivery.itemId === undefined ? markerOf(delivery) : undefined);
  if (asked.status === 'ok') {
    const leftOut = (asked.value && items.leftOut?.(asked.value, values)) ?? [];
    return { done: [`${names} written`], leftOut };
  }
  const failure = orMissing(asked);
  return { done: [], failure: { ...failure, detail: `${failure.detail}; not written: ${names}` }, leftOut: [] };
}

/** What a new item lacks of the fields that it was created with. */
function problemsOf<Item>(items: DetailItems<Item>, item: Item, given: ReadFields | undefined): readonly Problem[] {
  return given === undefined ? [] : [...given.problems, ...(items.leftOut?.(item, given.values) ?? [])];
}

/** The item was there when it was read. */
function orMissing(failure: Missing | TargetFailure): TargetFailure {
  return failure.status === 'missing' ? { ...failure, status: 'refused', reason: 'ITEM_MISSING' } : failure;
}

/** In the vendor's own form. */
async function resolved<Item>(
  items: DetailItems<Item>,
  read: ReadFields | TargetFailure,
): Promise<ReadFields | TargetFailure> {
  if (read.status !== 'ok' || items.resolve === undefined) return read;
  const asked = await items.resolve(read.values);
  if (asked.status === 'missing') return { status: 'refused', reason: 'PLACE_MISSING', detail: asked.detail };
  if (asked.status !== 'ok') return asked;
  const { values, problems } = asked.value;
  return { ...read, values, problems: [...read.problems, ...problems] };
}

function failureOf([first, ...others]: readonly Problem[]): TargetFailure | undefined {
  return first && { ...first.failure, detail: [first, ...others].map(({ failure }) => failure.detail).join('; ') };
}

/** Under this name the ledger has the fields of the item of a task that could not be written yet. */
function dueOf({ account, task }: Delivery): Creating {
  return { account, task: { kind: `fields of ${task.kind}`, id: task.id } };
}
