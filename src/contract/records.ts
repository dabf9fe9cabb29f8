/**
 * The records of the service's contract: what may be sent, and what our service answers.
 *
 * Request fields are the contract's (docs/contract.md, "Resources and their fields"), all optional. The contract shows
 * no response record; ours are the request fields plus `id`, `tenant_id`, `created_at` and `updated_at` (our choice,
 * see gaps.ts).
 */
import { z } from 'zod';

const text = z.string();
const nullableText = z.string().nullable();
const flag = z.boolean();
const id = z.number().int().positive().max(Number.MAX_SAFE_INTEGER);

/** The form of task dates in the contract: ISO 8601 without offset, and a date that exists. */
export const localDateTime = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}$/, 'expected the form YYYY-MM-DDTHH:MM:SS, without offset')
  .refine(isRealDateTime, 'expected a date and time that exist')
  .describe('ISO 8601 date-time without an offset, in the form YYYY-MM-DDTHH:MM:SS');

export const contactCreate = z
  .object({
    category: text,
    first_name: text,
    last_name: text,
    picture_url: text,
    email: text,
    organization: text,
    phone: nullableText,
    address: text,
    state: text,
    zip_code: text,
    country: text,
    timezone: text,
    currency: text,
    industry: text,
    company_size: text,
    position: text,
    revenue: text,
    mrr: text,
    churn: text,
    lead_source: text,
    lead_status: text,
    instagram: text,
    tiktok: text,
    facebook: text,
    twitter: text,
    linkedIn: text,
    by_phone: flag,
    by_email: flag,
    by_text: flag,
    by_social: flag,
  })
  .partial();

export const contactUpdate = contactCreate.extend(
  z
    .object({
      has_client_portal: flag,
      company_phone: nullableText,
      whatsapp: nullableText,
      phone_code: text,
      account_type: text,
    })
    .partial().shape,
);

export const customerCreate = z
  .object({
    full_name: text,
    gender: text,
    picture_url: text,
    email: text,
    organization: text,
    phone_number: text,
  })
  .partial();

export const customerUpdate = customerCreate.extend({ id, tenant_id: id.optional() });

/** The body of customers/import is a gap; ours names one contact. */
export const customerImport = z.object({ contact_id: id });

export const orderCreate = z
  .object({ order_id: text, client_id: id, description: text, amount: z.number(), status: text })
  .partial();

export const orderUpdate = orderCreate.extend({ id });

export const taskFields = z
  .object({
    taskName: text,
    description: text,
    startDate: localDateTime,
    endDate: localDateTime,
    local_date: localDateTime,
    isCompleted: flag,
  })
  .partial();

export const taskCompletion = z.object({ isCompleted: flag });

const subtaskFields = z
  .object({
    item_name: text,
    startDate: localDateTime,
    endDate: localDateTime,
    local_date: localDateTime,
    taskItem_assignee: z.array(z.unknown()),
    isCompleted: flag,
  })
  .partial();

export const subtaskCreate = subtaskFields.extend({ task_id: id.optional(), description: text.optional() });

/** `id` names the subtask. The path has only the id of the parent task. */
export const subtaskUpdate = subtaskFields.extend({ id: id.optional(), description: text.optional() });

/** `module_type` says whether the comment belongs to a contact or a card. */
export const CONTACT_MODULE = 'contact';
export const CARD_MODULE = 'card';

export const comment = z.object({
  comment_text: text.optional(),
  module_type: text.optional(),
  module_id: id.optional(),
});

/** The body of move-card is a gap; ours names the card and the column it goes to. */
export const cardMove = z.object({ card_id: id, column_id: id, position: z.number().int().min(0).optional() });

const stored = { id, tenant_id: id, created_at: z.string(), updated_at: z.string() };

export const contactRecord = contactUpdate.extend(stored);
export const customerRecord = customerCreate.extend({ ...stored, contact_id: id.nullable() });
export const orderRecord = orderCreate.extend(stored);
export const taskRecord = taskFields.extend(stored);
export const subtaskRecord = subtaskCreate.extend(stored);
export const commentRecord = comment.extend(stored);

export const cardRecord = z.object({
  id,
  column_id: id,
  title: text,
  position: z.number().int(),
  contact_id: id.nullable(),
  comments: z.array(commentRecord),
});
export const columnRecord = z.object({ id, name: text, position: z.number().int(), cards: z.array(cardRecord) });
export const pipelineRecord = z.object({ id, name: text, created_at: z.string(), updated_at: z.string() });
export const pipelineWithColumns = pipelineRecord.extend({ columns: z.array(columnRecord) });

export type CustomerFields = z.infer<typeof customerCreate>;

function isRealDateTime(value: string): boolean {
  const at = new Date(`${value}Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().slice(0, 19) === value;
}
