/** Tags and custom fields of Asana, which its calls name by their ids. developers.asana.com/reference/tags and …/custom-fields. */
import { z } from 'zod';
import type { CustomField, CustomForms } from './custom-fields.ts';
import { type Calls, readWhole } from './item-calls.ts';
import type { Asked } from './item-target.ts';

const PER_PAGE = '100';
const MAX_PAGES = 20;
const TYPES = { text: 'text', number: 'number', date: 'date', enum: 'one', multi_enum: 'many' } as const;

const next_page = z.object({ offset: z.string() }).nullish();
const tags = z.object({ data: z.array(z.object({ gid: z.string(), name: z.string() })), next_page });
const option = z.object({ gid: z.string(), name: z.string(), enabled: z.boolean().nullish() });
const setting = z.object({
  custom_field: z.object({
    gid: z.string(),
    name: z.string(),
    resource_subtype: z.string().nullish(),
    enum_options: z.array(option).nullish(),
  }),
});
const settings = z.object({ data: z.array(setting), next_page });

export const ASANA_FORMS: CustomForms = {
  one: (gid) => gid,
  date: (date) => ({ date }),
  document: (text) => text,
};

/** By their names. */
export async function readTags(calls: Calls, project: string): Promise<Asked<ReadonlyMap<string, string>>> {
  const workspace = await workspaceOf(calls, project);
  if (workspace.status !== 'ok') return workspace;
  const path = `/workspaces/${workspace.value}/tags`;
  const asked = await readList(calls, path, 'name', tags);
  return asked.status === 'ok'
    ? { status: 'ok', value: new Map(asked.value.map(({ gid, name }) => [name, gid])) }
    : asked;
}

export async function readCustomFields(calls: Calls, project: string): Promise<Asked<readonly CustomField[]>> {
  const shown = ['name', 'resource_subtype', 'enum_options.name', 'enum_options.enabled'];
  const fields = shown.map((each) => `custom_field.${each}`).join(',');
  const asked = await readList(calls, `/projects/${project}/custom_field_settings`, fields, settings);
  return asked.status === 'ok' ? { status: 'ok', value: asked.value.map(toField) } : asked;
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

interface Page<Item> {
  readonly data: Item[];
  readonly next_page?: { readonly offset: string } | null | undefined;
}

/** A whole list. `fields`: the members to show. */
export function readList<Item>(
  calls: Calls,
  path: string,
  fields: string,
  page: z.ZodType<Page<Item>>,
  query: Readonly<Record<string, string>> = {},
): Promise<Asked<readonly Item[]>> {
  return readWhole(MAX_PAGES, async (offset) => {
    const all = new URLSearchParams({
      ...query,
      opt_fields: fields,
      limit: PER_PAGE,
      ...(offset !== undefined && { offset }),
    });
    const asked = await calls.ask({ method: 'GET', path: `${path}?${all}` }, page);
    if (asked.status !== 'ok') return asked;
    return { status: 'ok', value: { items: asked.value.data, next: asked.value.next_page?.offset } };
  });
}
