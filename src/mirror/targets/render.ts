/** Templates of the settings, filled with a delivery. Pure. */
import { messageOf } from '../../base/errors.ts';
import type { Delivery, TargetFailure } from '../../contract/target.ts';
import { type ChangeView, compileTemplate, FULL, type Place, type TemplateView } from '../../settings/template.ts';
import { itemTextOf, taskTitle, withoutMentions } from './items/item-text.ts';
import { markerOf } from './items/marker.ts';

/** A change of no task, for calls that only try whether a search works. */
export const SAMPLE: Delivery = {
  ...FULL,
  id: FULL.delivery,
  account: 'check',
  seenAt: new Date(0),
  itemId: undefined,
};

/** A template of a target. `where`: its setting, such as targets.hook.body. */
interface Rendering {
  readonly text: string;
  readonly place: Place;
  readonly where: string;
}

export type Rendered = { readonly status: 'ok'; readonly text: string } | Extract<TargetFailure, { status: 'refused' }>;
export type Render = (view: TemplateView) => Rendered;

/** Throws if the text is not a template, which the settings have checked. */
export function renderer({ text, place, where }: Rendering): Render {
  const render = compileTemplate(text, place);
  return (view) => {
    try {
      const rendered = render(view);
      if (place === 'json') JSON.parse(rendered);
      return { status: 'ok', text: rendered };
    } catch (error) {
      const why = error instanceof SyntaxError ? 'does not yield JSON' : 'cannot be filled';
      const what = 'task' in view ? view.task.kind : 'item';
      const detail = `${where} ${why} for this ${what}: ${messageOf(error)}; correct the template, then replay`;
      return { status: 'refused', reason: 'TEMPLATE_INVALID', detail };
    }
  };
}

/** For texts that people read at the target: nothing in the task mentions a person there. */
export function quietViewOf(delivery: Delivery): ChangeView {
  const { task, ...view } = viewOf(delivery);
  const { title, description, status } = task;
  const quiet = {
    title: withoutMentions(title),
    description: withoutMentions(description),
    status: withoutMentions(status),
  };
  return { ...view, task: { ...task, ...quiet } };
}

export function viewOf(delivery: Delivery): ChangeView {
  const { id, account, sequence, event, seenAt, task } = delivery;
  const { startDate = null, endDate = null, parentId = null } = task;
  return {
    event,
    account,
    sequence,
    delivery: id,
    seenAt: seenAt.toISOString(),
    title: taskTitle(task),
    text: itemTextOf(task),
    marker: markerOf(delivery),
    task: { ...task, startDate, endDate, parentId },
  };
}
