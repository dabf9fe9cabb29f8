/** Keys of targets with items of a vendor: the fields they write, comments, and what follows if a task is gone. */
import { z } from 'zod';
import { choice, nonEmpty } from './fields.ts';
import { template } from './template.ts';

const text = template('text').optional();

const FIELDS = z.strictObject({
  title: text.describe('Template of the title. Default: {{ title }}.'),
  description: text.describe('Template of the description. Default: {{ text }}.'),
  dueDate: text.describe('Template of the due date, such as {{ task.endDate }}; its time is left out. Default: none.'),
  labels: z.array(template('text')).max(20).optional().describe('Templates of labels, by their names. Default: none.'),
  assignee: text.describe('Template of the e-mail address of the assignee, who is looked up in people. Default: none.'),
  priority: text.describe('Template of the priority: urgent, high, medium or low; for Jira its name. Default: none.'),
  custom: z
    .record(nonEmpty.max(200), template('text'))
    .optional()
    .describe("Templates of the target's own fields, by their names or ids there. Default: none."),
});

export type FieldTemplates = z.output<typeof FIELDS>;
export type ItemField = keyof FieldTemplates;

/** For the strict object of a target: `...itemKeys({ title: true, … })`, with the fields that its items have. */
export function itemKeys<Mask extends Partial<Record<ItemField, true>>>(
  mask: Mask & Record<Exclude<keyof Mask, ItemField>, never>,
) {
  const names = Object.keys(mask) as ItemField[]; // safe: the keys of the mask
  return {
    fields: FIELDS.pick(mask as Partial<Record<ItemField, true>>)
      .prefault({})
      .describe('Templates of the fields of an item, written when it is created. Default: title and description.'),
    people: z
      .record(z.email().toLowerCase(), nonEmpty.max(200))
      .prefault({})
      .describe("Each person's id at the target by e-mail address, for the field assignee. Default: none."),
    onChange: z
      .union([z.literal('comment'), z.array(z.enum(names))], {
        error: () => `expected comment, or a list of ${names.join(', ')}`,
      })
      .prefault([])
      .describe(
        'Fields that are also written when they change in the task; or comment: changes are written as a comment. Default: none.',
      ),
    comment: z
      .union([z.boolean(), template('text')])
      .prefault(false)
      .describe('Write one comment when a task and an item are linked: true, or its template. Default: false.'),
    createTasks: z
      .union([z.boolean(), z.strictObject({ labels: z.array(nonEmpty).min(1) })], {
        error: () => 'expected true, false or { labels: [NAME] }',
      })
      .prefault(false)
      .describe(
        'Create a task for each item that people create there, if a sync polls the target: true, or only items with all of these labels. Default: false.',
      ),
    whenGone: choice(['leave', 'close', 'comment'], 'leave').describe(
      'What happens to the item of a task that is gone: leave, close or comment. Default: leave.',
    ),
  };
}

type ItemKeys = ReturnType<typeof itemKeys>;
export type ItemSettings = { readonly [Key in keyof ItemKeys]: z.output<ItemKeys[Key]> };

/** These have a template without being named. */
const ALWAYS: readonly ItemField[] = ['title', 'description'];

/** For `.check`: a field that is written on change needs its template, and an assignee needs people. */
export const fieldsFit = z.superRefine<Pick<ItemSettings, 'fields' | 'people' | 'onChange'>>(
  ({ fields, people, onChange }, context) => {
    const names = onChange === 'comment' ? [] : onChange;
    for (const [index, name] of names.entries()) {
      if (ALWAYS.includes(name) || fields[name] !== undefined) continue;
      context.addIssue({
        code: 'custom',
        path: ['onChange', index],
        message: `missing: a template under fields.${name}`,
      });
    }
    if (fields.assignee === undefined || Object.keys(people).length > 0) return;
    const message = 'missing: fields.assignee needs people, which has the id of each person by e-mail address';
    context.addIssue({ code: 'custom', path: ['people'], message });
  },
);
