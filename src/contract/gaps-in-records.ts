/** What the contract leaves open about its records: their fields, and what an operation makes of them. */
import type { Gap } from './gap.ts';

export const gapsInRecords: readonly Gap[] = [
  {
    id: 'record-fields',
    where: 'Gaps in resource definitions',
    question: 'Which fields do the returned records have?',
    ourService:
      'The fields that were sent, and id, tenant_id, created_at and updated_at. A field that was never sent is absent.',
    clientFindsOut: 'It takes every field it needs as optional and passes over those it does not know.',
  },
  {
    id: 'record-id',
    where: 'Gaps in resource definitions',
    question: 'Which member carries the id of a record, and is it a number or text?',
    ourService: '`id`, an integer that is unique over all tenants and never used again.',
    clientFindsOut:
      'It looks for id, then for names such as contact_id, customerId or uuid, without regard to case; the first that is there decides, and order_id is a label. 7 and "7" are the same id; digits beyond 2^53 are kept and sent back as they came.',
    override: 'accounts.*.dialect.idField',
  },
  {
    id: 'booleans',
    where: 'Resources and their fields',
    question: 'How are booleans and amounts written in returned records?',
    ourService: 'As JSON true and false, and as JSON numbers.',
    clientFindsOut: 'It understands 1, 0, "true" and "false" as well, and amounts as numbers or text.',
  },
  {
    id: 'unknown-fields',
    where: 'Resources and their fields',
    question: 'What becomes of a field that the contract does not list?',
    ourService:
      'It is ignored, and named in the message of the answer. One called __proto__, constructor or prototype is refused with HTTP 400.',
    clientFindsOut: 'It sends listed fields only.',
  },
  {
    id: 'update-only-fields',
    where: 'Contact',
    question: 'What if an update-only contact field is sent on create?',
    ourService: 'It is ignored, and named in the message of the answer, as any field the create does not know.',
    clientFindsOut: 'It never sends them on create.',
  },
  {
    id: 'field-types',
    where: 'Resources and their fields',
    question: 'What if a field has another type than listed?',
    ourService:
      'HTTP 400 that names the field. Null is taken for phone, company_phone and whatsapp only; a phone may be empty.',
    clientFindsOut: 'It checks what it sends by the contract, and reports a refusal with the words of the service.',
  },
  {
    id: 'field-values',
    where: 'Gaps in resource definitions',
    question:
      'Which values do category, lead_status, lead_source, account_type, gender and order status take, and how long is a text?',
    ourService:
      'Any text, in any transition; a body may have 1 MiB. E-mails, URLs, time zones and currencies are not checked.',
    clientFindsOut: 'It passes values on as they are; a refused value becomes a rejected row.',
  },
  {
    id: 'partial-update',
    where: 'Endpoints',
    question: 'Does an update replace the record or change only the fields that are sent?',
    ourService: 'It changes only the fields that are sent.',
    clientFindsOut: 'It sends all the fields it keeps in step, so that both readings give the same record.',
  },
  {
    id: 'customer-tenant',
    where: 'Order customer',
    question: 'What is tenant_id in a customer update for?',
    ourService: 'It may be absent; any other than the tenant of the key is an HTTP 400.',
    clientFindsOut: 'It sends back the tenant_id that the record carries, if it carries one.',
  },
  {
    id: 'import-body',
    where: 'Order customers',
    question: 'What is the body of customers/import?',
    ourService: '{"contact_id": 7}; a contact that does not exist is an HTTP 404.',
    clientFindsOut:
      'It tries the import with its first contact and, where that is refused, creates customers from the contact instead.',
    override: 'accounts.*.dialect.importBody',
  },
  {
    id: 'import-or-create',
    where: 'Order customers',
    question: 'Can contacts be imported at all, or only created as customers?',
    ourService: 'Both work.',
    clientFindsOut: 'By whether the import is refused.',
    override: 'syncs.*.options.importWith',
  },
  {
    id: 'import-mapping',
    where: 'Order customers',
    question: 'Which of the contact becomes which of the customer?',
    ourService:
      'full_name is first and last name, phone_number is phone; email, organization and picture_url keep their names. What is empty is left out.',
    clientFindsOut: 'It reads the customers back and matches them by what they say, not by what was sent.',
  },
  {
    id: 'import-twice',
    where: 'Order customers',
    question: 'What does importing the same contact again do?',
    ourService: 'It makes a second customer: the contract promises nothing else, and a client must not count on it.',
    clientFindsOut: 'It keeps a link for each imported contact, and reads the customers before it writes.',
  },
  {
    id: 'import-link',
    where: 'Order customers',
    question: 'Does an imported customer say which contact it came from?',
    ourService: 'Yes, as contact_id; it is null in a customer that was created.',
    clientFindsOut: 'It uses contact_id where there is one, and matches by e-mail and phone otherwise.',
    override: 'syncs.*.options.matchBy',
  },
  {
    id: 'order-customer',
    where: 'Order',
    question: 'What if the customer of an order does not exist?',
    ourService: 'HTTP 400 that names client_id. A customer of another tenant does not exist.',
    clientFindsOut: 'It looks the customers up before it sends an order.',
  },
  {
    id: 'order-label',
    where: 'Order',
    question: 'Is order_id unique?',
    ourService: 'No: it is a label, and two orders may carry the same one.',
    clientFindsOut:
      'It takes client_id and order_id together for the identity of an order, and reads the orders before it writes.',
  },
  {
    id: 'amount-digits',
    where: 'Order',
    question: 'How many digits may an amount have?',
    ourService:
      '15 significant digits, which a JSON number carries exactly; more is an HTTP 400 and never rounded. Stored as a decimal.',
    clientFindsOut: 'It keeps amounts as decimal text until they are sent.',
  },
  {
    id: 'task-dates',
    where: 'Task',
    question: 'Which time zone do task dates have, and are they checked?',
    ourService: 'None: they are kept as written. The form and the date must be right; the end may be before the start.',
    clientFindsOut: 'It compares them as text.',
  },
  {
    id: 'complete-method',
    where: 'Tasks',
    question: 'Is mark-complete a GET or a PUT, and can it reopen a task?',
    ourService:
      'Both. A PUT needs isCompleted; false reopens. A GET may carry it as a body or in the query, and without it completes.',
    clientFindsOut: 'It uses PUT; GET is a setting, since a GET that writes is nothing to try out.',
    override: 'accounts.*.dialect.completeMethod',
  },
  {
    id: 'completion-default',
    where: 'States and transitions',
    question: 'Is a new task open, and does a task complete its subtasks?',
    ourService: 'A new task or subtask is open unless it says otherwise. A task leaves its subtasks as they are.',
    clientFindsOut: 'It reads the flag of each.',
  },
  {
    id: 'subtask-parent',
    where: 'Subtasks',
    question: 'What if a subtask has no task_id, or one that does not exist?',
    ourService: 'HTTP 400 that names task_id.',
    clientFindsOut: 'It reports the refusal.',
  },
  {
    id: 'subtask-update',
    where: 'Subtasks',
    question: 'The path of a subtask update carries the task: which of its subtasks is meant?',
    ourService: 'The one whose `id` is in the body; without it HTTP 400, and HTTP 404 if it belongs to another task.',
    clientFindsOut: 'It sends the id in the body.',
  },
  {
    id: 'assignees',
    where: 'Gaps in resource definitions',
    question: 'What is an element of taskItem_assignee?',
    ourService: 'Any JSON, kept as it is, nested 16 levels deep at most.',
    clientFindsOut: 'It passes it on unread.',
  },
  {
    id: 'comment-module',
    where: 'Comment',
    question: 'Which module_type means a contact and which a card, and what is required?',
    ourService: '"contact" and "card"; all three fields are required, and the contact or card has to exist.',
    clientFindsOut: 'It sends what the caller says, once: a comment cannot be read back.',
  },
  {
    id: 'comment-reading',
    where: 'Comment',
    question: 'Where can comments be read?',
    ourService: 'Those of a card stand in its pipeline; those of a contact are kept and not shown by any operation.',
    clientFindsOut: 'A comment whose answer was lost is left to a person.',
  },
  {
    id: 'pipeline-shape',
    where: 'Gaps in resource definitions',
    question: 'What are the fields of a pipeline, its columns and its cards?',
    ourService:
      'A pipeline has name and columns; a column name, position and cards; a card title, position, contact_id and comments. Positions count from 0.',
    clientFindsOut:
      'It looks for columns, and for cards in them, under the usual names; a pipeline that it cannot read is named in the run.',
  },
  {
    id: 'move-card',
    where: 'Pipelines',
    question: 'What is the body of move-card?',
    ourService:
      '{"card_id": 5, "column_id": 2, "position": 0}; without a position the card goes last. The column has to be of the same pipeline.',
    clientFindsOut: 'It sends what the caller says, once.',
  },
];
