/** What the contract leaves open about its records: their fields, and what an operation makes of them. */
import type { Gap } from './gap.ts';

export const gapsInRecords = [
  {
    id: 'record-fields',
    where: 'Gaps in resource definitions',
    question: 'Which fields do the returned records have?',
    ourService:
      'The fields that were sent, and id, tenant_id, created_at and updated_at. A field that was never sent is absent.',
    clientDoes:
      'It treats every field as optional and ignores unknown ones. It finds a field by its name in any spelling (order_id, orderId, OrderId), or by another usual name, such as buyer_id for client_id, reference for order_id or title for taskName. The field may be inside attributes, relationships or links (JSON:API, HAL), or inside _source. Its value may be an object such as { "id": 17 }, { "amount": "12.50" }, { "$oid": "…" } or { "stringValue": "…" }, a pair such as [17, "Ann Lee"], or the address of a record. A name may be an object of its parts. The client decodes HTML escapes (&amp;) in texts of people and orders, and in titles of tasks. Of several e-mails or phones, it takes the one that is marked as primary, otherwise the first. If two members could be the customer or the label of an order, and differ, the run is refused, and the setting has to name one.',
    override: 'accounts.*.dialect.members',
  },
  {
    id: 'record-id',
    where: 'Gaps in resource definitions',
    question: 'Which member has the id of a record, and is it a number or text?',
    ourService: '`id`, an integer that is unique across all tenants and never reused.',
    clientDoes:
      'It looks for id, then for names such as contact_id, customerId or uuid, and ignores case. It uses the first one that it finds, but order_id only if the setting names it, because that is a label. The setting $key says that the list is an object whose keys are the ids. 7 and "7" are the same id. Ids above 2^53 keep all their digits and are sent back unchanged.',
    override: 'accounts.*.dialect.idField',
  },
  {
    id: 'booleans',
    where: 'Resources and their fields',
    question: 'How are booleans and amounts written in returned records?',
    ourService: 'As JSON true and false, and as JSON numbers.',
    clientDoes:
      'It also understands 1, 0, "true", "yes", "Y" and their opposites, and amounts as numbers, as text (12.50, 12,5 or €1,234.50) or beside their currency.',
  },
  {
    id: 'unknown-fields',
    where: 'Resources and their fields',
    question: 'What happens to a field that the contract does not list?',
    ourService:
      'It is ignored, and the message of the answer names it. A field called __proto__, constructor or prototype is refused with HTTP 400.',
    clientDoes: 'It sends only listed fields.',
  },
  {
    id: 'update-only-fields',
    where: 'Contact',
    question: 'What happens if a contact field that is only for updates is sent on create?',
    ourService: 'It is ignored, and the message of the answer names it.',
    clientDoes: 'It never sends these fields on create.',
  },
  {
    id: 'field-types',
    where: 'Resources and their fields',
    question: 'What happens if a field has another type than listed?',
    ourService:
      'HTTP 400 that names the field. Null is accepted only for phone, company_phone and whatsapp; a phone may be empty.',
    clientDoes: 'It checks against the contract what it sends, and reports a refusal with the message of the service.',
  },
  {
    id: 'field-values',
    where: 'Gaps in resource definitions',
    question:
      'Which values do category, lead_status, lead_source, account_type, gender and order status accept, and how long may a text be?',
    ourService:
      'Any text, and any change from one value to another. A body may have 1 MiB. E-mails, URLs, time zones and currencies are not checked.',
    clientDoes: 'It sends values unchanged. If a value is refused, the row is rejected.',
  },
  {
    id: 'partial-update',
    where: 'Endpoints',
    question: 'Does an update replace the record or change only the fields that are sent?',
    ourService: 'It changes only the fields that are sent.',
    clientDoes:
      'For a customer, it sends the whole record with the changes, so the result is the same in both cases. If it read the list longer than settle ago, it first reads the customer again, so that it undoes no edit. For an order, it sends what the file has, and reads the first order that it updated. If fields that it did not send have changed, it restores them. From then on, or if the service refused the first update, it sends whole orders.',
  },
  {
    id: 'customer-tenant',
    where: 'Order customer',
    question: 'What is tenant_id in a customer update for?',
    ourService: 'It may be absent. Any value other than the tenant of the key is an HTTP 400.',
    clientDoes: 'It sends back the tenant_id of the record, if the record has one.',
  },
  {
    id: 'import-body',
    where: 'Order customers',
    question: 'What is the body of customers/import?',
    ourService: '{"contact_id": 7}. A contact that does not exist is an HTTP 404.',
    clientDoes: 'It sends the same body, or the one in the setting.',
    override: 'accounts.*.dialect.importBody',
  },
  {
    id: 'import-or-create',
    where: 'Order customers',
    question: 'Can contacts be imported, or can customers only be created?',
    ourService: 'Both work.',
    clientDoes:
      'It tries the import with one contact. If the import is refused, or makes no customer, it creates customers.',
    override: 'syncs.*.options.importWith',
  },
  {
    id: 'import-mapping',
    where: 'Order customers',
    question: 'Which fields of the contact become which fields of the customer?',
    ourService:
      'full_name is the first and last name, and phone_number is phone. email, organization and picture_url keep their names. Empty fields are left out.',
    clientDoes: 'It reads the customers back and matches them by their actual content, not by what was sent.',
    override: 'syncs.*.options.map',
  },
  {
    id: 'import-twice',
    where: 'Order customers',
    question: 'What happens if the same contact is imported again?',
    ourService:
      'It makes a second customer, because the contract does not promise otherwise. A client must not rely on it.',
    clientDoes: 'It keeps a link for each imported contact, and reads the customers before it writes.',
  },
  {
    id: 'import-link',
    where: 'Order customers',
    question: 'Does an imported customer name its contact?',
    ourService: 'Yes, as contact_id. It is null in a customer that was created.',
    clientDoes: 'It uses contact_id if there is one, and otherwise matches by e-mail and phone.',
    override: 'syncs.*.options.matchBy',
  },
  {
    id: 'order-customer',
    where: 'Order',
    question: 'What happens if the customer of an order does not exist?',
    ourService: 'HTTP 400 that names client_id. A customer of another tenant counts as one that does not exist.',
    clientDoes: 'It looks up the customers before it sends an order.',
  },
  {
    id: 'order-label',
    where: 'Order',
    question: 'Is order_id unique?',
    ourService: 'No. It is a label, and two orders may have the same one.',
    clientDoes: 'It identifies an order by client_id and order_id together, and reads the orders before it writes.',
  },
  {
    id: 'amount-digits',
    where: 'Order',
    question: 'How many digits may an amount have?',
    ourService:
      '15 significant digits, because a JSON number keeps them exactly. An amount with more digits is an HTTP 400; it is never rounded. Amounts are stored as decimals.',
    clientDoes: 'It keeps amounts as decimal text until they are sent.',
  },
  {
    id: 'task-dates',
    where: 'Task',
    question: 'In which time zone are task dates, and are they checked?',
    ourService:
      'They have no time zone and are stored as written. The format and the date must be valid. The end may be before the start.',
    clientDoes: 'It compares them as text.',
  },
  {
    id: 'complete-method',
    where: 'Tasks',
    question: 'Is mark-complete a GET or a PUT, and can it reopen a task?',
    ourService:
      'It is both. A PUT needs isCompleted, and false reopens the task. A GET accepts it in a body or in the query; without it, the task is completed.',
    clientDoes:
      'It uses PUT. GET is used only if the setting says so, because a GET that writes cannot be tried safely.',
    override: 'accounts.*.dialect.completeMethod',
  },
  {
    id: 'completion-default',
    where: 'States and transitions',
    question: 'Is a new task open, and does completing a task complete its subtasks?',
    ourService:
      'A new task or subtask is open unless it was sent as completed. Completing a task does not change its subtasks.',
    clientDoes: 'It reads the flag of each task and subtask.',
  },
  {
    id: 'subtask-parent',
    where: 'Subtasks',
    question: 'What happens if a subtask has no task_id, or one that does not exist?',
    ourService: 'HTTP 400 that names task_id.',
    clientDoes: 'It reports the refusal.',
  },
  {
    id: 'subtask-update',
    where: 'Subtasks',
    question: 'The path of a subtask update has only the id of the task. Which of its subtasks is updated?',
    ourService:
      'The one whose `id` is in the body. Without an id the answer is HTTP 400; if the subtask belongs to another task, it is HTTP 404.',
    clientDoes: 'It sends the id in the body.',
  },
  {
    id: 'assignees',
    where: 'Gaps in resource definitions',
    question: 'What is an element of taskItem_assignee?',
    ourService: 'Any JSON, stored unchanged, nested at most 16 levels deep.',
    clientDoes: 'It passes the value on and does not interpret it.',
  },
  {
    id: 'comment-module',
    where: 'Comment',
    question: 'Which module_type means a contact and which a card, and what is required?',
    ourService: '"contact" and "card". All three fields are required, and the contact or card has to exist.',
    clientDoes: 'It sends what the caller gives, and only once, because a comment cannot be read back.',
  },
  {
    id: 'comment-reading',
    where: 'Comment',
    question: 'Where can comments be read?',
    ourService:
      'Comments of a card are in its pipeline. Comments of a contact are stored, but no operation returns them.',
    clientDoes: 'If the answer to a comment is lost, a person has to check.',
  },
  {
    id: 'pipeline-shape',
    where: 'Gaps in resource definitions',
    question: 'What are the fields of a pipeline, its columns and its cards?',
    ourService:
      'A pipeline has name and columns; a column has name, position and cards; a card has title, position, contact_id and comments. Positions start at 0.',
    clientDoes:
      'It looks for columns, and for cards in them, under the usual names. A pipeline that it cannot read is reported in the run.',
  },
  {
    id: 'move-card',
    where: 'Pipelines',
    question: 'What is the body of move-card?',
    ourService:
      '{"card_id": 5, "column_id": 2, "position": 0}. Without a position the card is moved to the end of the column. The column has to be in the same pipeline.',
    clientDoes: 'It sends what the caller gives, and only once.',
  },
] as const satisfies readonly Gap[];
