/** Tags and custom fields of Asana, which its calls name by their ids. developers.asana.com/reference/tags and …/custom-fields. */
import { z } from 'zod';
import type { CustomField, CustomForms, NamedValues } from '../items/custom-fields.ts';
import { type Calls, mapAsked } from '../items/item-calls.ts';
import { type Pages, readWhole } from '../items/item-pages.ts';
import type { Asked } from '../items/item-target.ts';
import { keptMetadata } from '../items/kept-metadata.ts';

const PER_PAGE = 100;
const MOST_PAGES = 20;
const TYPES = { text: 'text', number: 'number', date: 'date', enum: 'one', multi_enum: 'many' } as const;

const tag = z.object({ gid: z.string(), name: z.string() });
const option = z.object({ gid: z.string(), name: z.string(), enabled: z.boolean().nullish() });
const setting = z.object({
  custom_field: z.object({
    gid: z.string(),
    name: z.string(),
    resource_subtype: z.string().nullish(),
    enum_options: z.array(option).nullish(),
  }),
});

const FORMS: CustomForms = { one: (gid) => gid, date: (date) => ({ date }), document: (text) => text };

export function asanaNamed(project: string, now: () => Date): NamedValues {
  const tags = keptMetadata(now, (calls) => readTags(calls, project));
  return {
    labels: (calls, names) => tags.read(calls, (known) => names.every((name) => known.has(name))),
    custom: { read: (calls) => readCustomFields(calls, project), forms: FORMS },
  };
}

/** By their names. */
async function readTags(calls: Calls, project: string): Promise<Asked<ReadonlyMap<string, string>>> {
  const workspace = await workspaceOf(calls, project);
  if (workspace.status !== 'ok') return workspace;
  const tags = asanaList(calls, `/workspaces/${workspace.value}/tags`, tag, { opt_fields: 'name' });
  const reading = readWhole(tags, { what: 'tags', remedy: 'delete those that nothing uses' });
  return mapAsked(reading, (all) => new Map(all.map(({ gid, name }) => [name, gid])));
}

async function readCustomFields(calls: Calls, project: string): Promise<Asked<readonly CustomField[]>> {
  const shown = ['name', 'resource_subtype', 'enum_options.name', 'enum_options.enabled'];
  const opt_fields = shown.map((each) => `custom_field.${each}`).join(',');
  const fields = asanaList(calls, `/projects/${project}/custom_field_settings`, setting, { opt_fields });
  const reading = readWhole(fields, { what: 'custom fields', remedy: 'remove those that nothing uses' });
  return mapAsked(reading, (all) => all.map(toField));
}

function toField({
  custom_field: { gid, name, resource_subtype, enum_options },
}: z.output<typeof setting>): CustomField {
  const type = Object.entries(TYPES).find(([subtype]) => subtype === resource_subtype)?.[1];
  const options = (enum_options ?? []).filter(({ enabled }) => enabled !== false);
  return { id: gid, name, type, options: options.map((each) => ({ id: each.gid, name: each.name })) };
}

export async function workspaceOf(calls: Calls, project: string): Promise<Asked<string>> {
  const answer = z.object({ data: z.object({ workspace: z.object({ gid: z.string() }) }) });
  const read = answer.transform(({ data }) => data.workspace.gid);
  return calls.ask({ method: 'GET', path: `/projects/${project}?opt_fields=workspace` }, read);
}

/** `query`: `opt_fields` names the members to show. */
export function asanaList<Item>(
  calls: Calls,
  path: string,
  item: z.ZodType<Item>,
  query: Readonly<Record<string, string>>,
): Pages<Item> {
  const page = z
    .object({ data: z.array(item), next_page: z.object({ offset: z.string() }).nullish() })
    .transform(({ data, next_page }) => ({ items: data, next: next_page?.offset }));
  return {
    most: MOST_PAGES,
    isLost: (asked) => asked.status === 'refused' && /pagination token/i.test(asked.detail),
    read(offset) {
      const all = new URLSearchParams({ ...query, limit: String(PER_PAGE), ...(offset !== undefined && { offset }) });
      return calls.ask({ method: 'GET', path: `${path}?${all}` }, page);
    },
  };
}
