/** The fields that issues of a project can be created with: developer.atlassian.com/cloud/jira/platform/rest/v3, issue create metadata. */
import { z } from 'zod';
import type { CustomField } from '../items/custom-fields.ts';
import { type Calls, mapAsked } from '../items/item-calls.ts';
import type { Asked } from '../items/item-target.ts';
import { isSameName } from '../items/wanted-state.ts';
import { JIRA_ISSUE } from './jira-issue.ts';

const issueTypes = z.object({ issueTypes: z.array(z.object({ id: z.string(), name: z.string() })).default([]) });
const option = z.object({ id: z.string(), value: z.string().optional(), name: z.string().optional() });
const field = z.object({
  fieldId: z.string().optional(),
  key: z.string().optional(),
  name: z.string(),
  required: z.boolean(),
  hasDefaultValue: z.boolean().optional(),
  schema: z.object({ type: z.string(), items: z.string().optional(), custom: z.string().optional() }).optional(),
  allowedValues: z.array(z.unknown()).optional(),
});
const fields = z.object({ fields: z.array(field).default([]) });

export interface JiraField extends CustomField {
  readonly isNeeded: boolean;
}

/** `missing`: the project has no issue type of this name. */
export async function readJiraFields(
  calls: Calls,
  project: string,
  issueType: string,
): Promise<Asked<readonly JiraField[]>> {
  const path = `${JIRA_ISSUE}/createmeta/${project}/issuetypes`;
  const types = await calls.ask({ method: 'GET', path: `${path}?maxResults=200` }, issueTypes);
  if (types.status !== 'ok') return types;
  const type = types.value.issueTypes.find(({ name }) => isSameName(name, issueType));
  if (type === undefined) {
    const known = types.value.issueTypes.map(({ name }) => name).join(', ') || 'none';
    return { status: 'missing', detail: `the project has no issue type ${issueType} (available: ${known})` };
  }
  const asking = calls.ask({ method: 'GET', path: `${path}/${type.id}?maxResults=200` }, fields);
  return mapAsked(asking, (known) => known.fields.map(toField));
}

function toField({
  key,
  fieldId,
  name,
  required,
  hasDefaultValue,
  schema,
  allowedValues = [],
}: z.output<typeof field>) {
  const options = allowedValues.flatMap((each): CustomField['options'] => {
    const read = option.safeParse(each).data;
    return read === undefined ? [] : [{ id: read.id, name: read.value ?? read.name ?? read.id }];
  });
  const type = typeOf(schema, options.length > 0);
  return { id: fieldId ?? key ?? name, name, type, options, isNeeded: required && hasDefaultValue !== true };
}

function typeOf(schema: z.output<typeof field>['schema'], hasOptions: boolean): CustomField['type'] {
  const { type = '', items, custom = '' } = schema ?? {};
  if (hasOptions) return type === 'array' ? 'many' : 'one';
  if (type === 'array') return items === 'string' ? 'list' : undefined;
  if (type === 'string') return custom.endsWith(':textarea') ? 'document' : 'text';
  return type === 'number' || type === 'date' ? type : undefined;
}
