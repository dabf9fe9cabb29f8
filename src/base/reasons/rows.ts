/** Reasons for the verdict on a row that a run decided or sent: contacts, customers and orders. */
import { REMEDIES, type Reasons } from './reason.ts';

const WITHOUT_PLAN =
  'Make a new plan, or write it without one: [?again `lockstep {again}`][!again run the sync again, or `lockstep runs retry {run}` for a load].';

export const ROW_REASONS = {
  PLANNED: {
    meaning: 'A dry run would write this row. Nothing was sent.',
    sentence:
      'Planned, not sent[: {event}].[ The service shows {changes}.][?createsCustomer  Its customer would be created first.]',
  },
  PLAN_MOVED: {
    meaning: 'The row, or the record that it would change, has changed since a person saw the plan. Nothing was sent.',
    sentence:
      'Nothing was sent[?ownContent : its content has changed since the plan was made][: the {changed} of its record at the service changed after the plan was made][?otherRecord : its record at the service has changed since the plan was made, or is another one].',
    remedy: WITHOUT_PLAN,
  },
  NOT_IN_PLAN: {
    meaning: 'The row would be written, but it was not in the plan that a person saw. Nothing was sent.',
    sentence: 'It was not in the plan; nothing was sent.',
    remedy: WITHOUT_PLAN,
  },
  NOT_APPROVED_YET: {
    meaning: 'A person approved only the first orders of the load, and this one comes after them. Nothing was sent.',
    sentence: 'Only orders before it were approved so far; nothing was sent.',
    remedy: `To plan again what is left: ${REMEDIES.AGAIN}.`,
  },
  REFUSED_BY_SERVICE: {
    meaning: 'The service refused the record, and its answer says so clearly. Nothing was written.',
    sentence: 'The service refused it[ (HTTP {http})]: {answer}',
    remedy: `Correct the record as the answer says, or remove the cause, then run: ${REMEDIES.AGAIN}.`,
  },
  NEVER_SENT: {
    meaning: 'The run has not sent the row.',
    sentence: 'It has not been sent.',
    remedy: `To send what is left: ${REMEDIES.AGAIN}.`,
  },
  AWAITS_APPROVAL: {
    meaning: 'The run waits until a person approves what it would write. Nothing was sent.',
    sentence: 'It waits for approval, and nothing was sent.[ The service shows {changes}.]',
    remedy: REMEDIES.APPROVE,
  },
  NOT_CONFIRMED: {
    meaning: 'The row was sent, or may have been, and no list has shown its record yet.',
    sentence: 'It was sent, or may have been, and no list has shown its record yet.',
    remedy: `To settle what is left: ${REMEDIES.AGAIN}. Lockstep reads before it sends, so nothing is created twice.`,
  },
  GAVE_UP: {
    meaning: 'The row was sent as often as allowed, and no answer or read of the list confirmed it.',
    sentence: 'It was sent {sends} times[ and is not in the list of {what}s][. The last answer: {answer}].',
    remedy: REMEDIES.BY_HAND,
  },
  NOT_RECOGNISED: {
    meaning: 'The row was sent, and the service has a new record that may belong to it, but has other values.',
    sentence:
      '[Run {earlier} sent it. ][!earlier It was sent. ]A new {what} may belong to this row, but has other values[: {ids}][; the answer named {what} {id}].',
    remedy: REMEDIES.BY_HAND,
  },
  NOT_IN_LIST: {
    meaning:
      'The row was sent, or may have been, and the list does not show its record. It may still exist, or the service may have merged it into an existing record.',
    sentence:
      '[Run {earlier} has sent it, or may have][!earlier It was sent, or may have been]; the list of {what}s does not show it. It may still exist, or have been merged into an existing {what}[: the answer named {what} {id}].[ The last answer: {answer}.]',
    remedy: REMEDIES.BY_HAND,
  },
  LIST_PARTIAL: {
    meaning: 'The record is not in the list, and the list may not show everything, so nothing was created.',
    sentence:
      'The {what}[ {customer}] is not in the list of {what}s, and the list may not show everything. Nothing was created.',
    remedy:
      'Look for it at the service. Then decide with `lockstep review`; or, once the list shows everything, run the sync again or load the file again (`--again`).',
  },
  DUPLICATE: {
    meaning: 'The service has more than one record of this row.',
    sentence:
      'The service has more than one {what}[?before  (already before this run)][?audit  (found by an audit after the run)]: {ids}.',
    remedy:
      'Delete all but one at the service. Then, for an order, ignore the row with `lockstep review`; for a contact, run the sync again.',
  },
  LOST: {
    meaning: 'The run created the record, and a later read of the list did not find it.',
    sentence: 'It was created as {what} {id}; a later read of the list of {what}s did not find it.',
    remedy: 'Check at the service whether it was deleted. Then decide with `lockstep review`.',
  },
  UNLISTED: {
    meaning: 'The record exists: the service returns it by its id. Its list does not show it.',
    sentence:
      'It is {what} {id}, which the service returns by its id[ (run {earlier} created it)]; the list of {what}s does not show it.',
  },
  MATCHED: {
    meaning: 'The contact was matched with a customer that exists, and linked with it.',
    sentence: 'Matched by {by}.',
  },
  AMBIGUOUS_MATCH: {
    meaning: 'The contact matches several customers, or shares its customer with other contacts. Nothing was written.',
    sentence:
      'By {by} it could be customer {customers or}[?owners , which a person has linked with contact {owners}][!owners ; other contacts or customers have the same values].',
    remedy:
      'Decide it with `lockstep review`; or make the contact or the customers distinguishable, or merge duplicates at the service, then run the sync again.',
  },
  DECIDED_USE: {
    meaning: 'A person decided which customer the contact is; it is linked with that customer.',
    sentence: '{who} decided that it is customer {customer}.',
  },
  DECIDED_IGNORE: {
    meaning: 'A person decided to leave the row as it is. A contact is in review again when its evidence changes.',
    sentence: '{who} decided to ignore it[ ({was})].',
  },
  LINK_DISAGREES: {
    meaning: 'The customer that the contact is linked with is now another person. Nothing was written.',
    sentence: 'Customer {customer}, which the contact is linked with, was {was} and is {is}.',
    remedy:
      'Check the contact and the customer at the service, and correct the wrong one; if both are right, decide with `lockstep review`.',
  },
  CONTACT_REPLACED: {
    meaning: 'The contact now describes another person than its linked customer. Nothing was written.',
    sentence: 'The contact was {was} and is {is}; an update would make customer {customer} another person.',
    remedy:
      'Check the contact. A new person needs a contact of their own; if it is the same person, decide with `lockstep review`.',
  },
  CUSTOMER_GONE: {
    meaning: 'The customer of the contact is gone from the service.',
    sentence: 'Customer {customer} of this contact is gone[: {answer}].[ The contact was {was} then, and is {is}.]',
    remedy:
      '[?is Decide with `lockstep review`.][!is If it was deleted on purpose, delete the contact too. Otherwise decide with `lockstep review`.]',
  },
  NO_KEY: {
    meaning: 'The contact has no e-mail, phone or name, so a customer made from it could not be recognised.',
    sentence: 'The contact has no e-mail, phone or name: a customer made from it could not be recognised.',
    remedy: 'Add one of them to the contact, or decide with `lockstep review`.',
  },
  MASKED: {
    meaning: 'The service shows an e-mail or a phone of the contact or of its customer in part only. Nothing was sent.',
    sentence: 'The service shows an e-mail or a phone in part only: {value}.',
    remedy: 'Use a key that may see whole e-mails and phones, and run the sync again.',
  },
  MAP_EMPTY: {
    meaning: 'The mapping of the sync requires a field, and it is empty for this contact. Nothing was sent.',
    sentence: 'The mapping requires {field}, and it is empty.',
    remedy: 'Complete the contact, or give the field a `default` in `map`, and run the sync again.',
  },
  MAP_NOT_A_PHONE: {
    meaning:
      'The mapping of the sync requires a phone number that can be read, and this one cannot be. Nothing was sent.',
    sentence:
      '{field}: "{value}" is not a phone number[ of {country}, nor one with a country code][!country  with a country code].',
    remedy:
      'Correct the number of the contact[!sent , or remove `strict` from the field in `map` to send it as it is].',
  },
  MAP_PHONE_EXTENSION: {
    meaning:
      'The mapping of the sync writes phone numbers in the form +49305550000, which has no extension. Nothing was sent.',
    sentence: '{field}: "{value}" has an extension, and the form +49305550000 (E.164) has none.',
    remedy:
      'Move the extension to another field of the contact[!sent , or remove `strict` from the field in `map` to send the number as it is].',
  },
  CHANGE_IGNORED: {
    meaning: 'The contact has changed, and the settings say that changes are ignored (onChange: ignore).',
    sentence: 'The contact has changed, and the settings ignore changes (onChange: ignore).',
  },
  LINK_UNCERTAIN: {
    meaning: 'The customer was created, but several contacts and customers look the same, so no link was kept.',
    sentence:
      'Created, but other contacts share its e-mail or phone, so it is unclear which new customer belongs to which contact.',
    remedy: 'Make the contacts distinguishable; the next run of the sync links them.',
  },
  IMPORT_REFUSED: {
    meaning:
      'The service refused to import the contact. If it imports others, the row is rejected; if not, its customer is created.',
    sentence: 'The service refused the import[ (HTTP {http})]: {answer}',
  },
  EXISTS: {
    meaning: 'The order exists with the content of the row.',
    sentence:
      'Order {order} exists with this content[?hidesAmount ; the service does not show its amount, which was not compared].',
  },
  DIFFERS: {
    meaning: 'The order exists with other content, and existing orders are left as they are.',
    sentence: 'Order {order} exists and differs: {differences}.',
    remedy:
      'Decide with `lockstep review` whether to overwrite it. To overwrite all that differ, load the file again, update existing orders, and check every row (`--existing update --again`).',
  },
  ORDER_EXISTS: {
    meaning: 'The order exists, and rows of existing orders are rejected.',
    sentence: 'Order {order} exists[ and differs: {differences}].',
    remedy:
      'Remove the row, or load the file again so that existing orders are left as they are (`--existing skip --again`) or updated (`--existing update --again`).',
  },
  ORDER_GONE: {
    meaning: 'The order to update is gone, or the list does not show it.',
    sentence: 'Order {order} [?updated was updated, and the list does not show it][!updated is gone][: {answer}].',
    remedy: `Look for the order at the service; if it is gone, run: ${REMEDIES.AGAIN}.`,
  },
  ORDER_CHANGED: {
    meaning: 'An earlier load has created or found the order, which has another customer or order_id now.',
    sentence: 'Load {earlier} has it as order {order}, which is now {name}[ of customer {customer}].',
    remedy:
      'If it is the same order, ignore the row (`lockstep review`), or correct it as the service has it. If not, create it again (`lockstep review`).',
  },
  CONTENT_DIFFERS: {
    meaning: 'The order or the customer was created or updated, but the service shows different content.',
    sentence:
      '[Order {order}][Customer {customer}] was {action}, but the service shows different content: {differences}.',
    remedy:
      'Correct it at the service by hand.[?order  Then ignore the row with `lockstep review`.][?isSentAgain  Or run the sync again: it sends what is missing.]',
  },
  UPDATE_IGNORED: {
    meaning: 'The customer was updated, and the service still shows its former values.',
    sentence: 'Customer {customer} was updated, and the service still shows its former values.',
    remedy: 'Check the customer at the service. The next run of the sync sends the change again.',
  },
  UPDATE_UNCONFIRMED: {
    meaning: 'The update was sent as often as allowed; no answer confirmed it, and the service does not show it.',
    sentence:
      'The update of [order {order}][customer {customer}] was sent {sends} times, and the service does not show it.[ The last answer: {answer}.]',
    remedy: `Remove the cause that the answer names, then run: ${REMEDIES.AGAIN}.`,
  },
  OTHER_LETTERS: {
    meaning:
      'The customer has an order whose order_id differs only in upper and lower case, spaces, punctuation or Unicode form.',
    sentence: 'Order {order} of this customer has the order_id {name}.',
    remedy:
      'If it is the same order, write the order_id as the service has it; if not, give the order of the row another order_id.',
  },
  ORDER_REPEATED: {
    meaning: 'Two rows of the file turned out to be the same order of the same customer.',
    sentence: 'Line {other} is the same order of the same customer.',
    remedy: 'Keep one of the rows, or give this order another order_id.',
  },
  ORDER_IN_ANOTHER_LOAD: {
    meaning: 'Another load holds this order, so this load did not send it.',
    sentence:
      '[?taken This load had failed, and load {load} has taken the order over.][!taken Load {load}, which is unfinished, has this order of customer {customer} too.]',
    remedy: `When that load has ended, run: ${REMEDIES.AGAIN}.`,
  },
  CORRECTED_OTHERWISE: {
    meaning:
      'The same line of a file was corrected before, for another customer, and that order exists or is being sent.',
    sentence: 'Load {load} has the order of the same line for customer {customer}. Nothing was sent.',
    remedy: 'If both are meant, give this row an order_id of its own, and load it again.',
  },
  AMBIGUOUS_CUSTOMER: {
    meaning: 'The row may mean several customers. Nothing was written.',
    sentence: 'By {by} it could be customer {customers or}.',
    remedy:
      'Decide it with `lockstep review`; or add to the row what tells the customers apart: an id (client_id), e-mail or phone.',
  },
  CUSTOMER_UNKNOWN: {
    meaning: 'The service does not have the customer that the row names.',
    sentence:
      '[There is no customer {customer}.][!customer The row does not say enough to recognise a customer.][ The ids of this service are {idsAre}, so the ids of the file belong to another system.]',
    remedy:
      '[?id Correct the id. If the ids of the file belong to another system, load it again with no column for client_id (`--map client_id=`).][!id Correct the customer (an id, an e-mail, a phone of at least six digits or a name), or create missing customers (`--create-customers --again`).]',
  },
  CUSTOMER_CONTRADICTS: {
    meaning: 'The customer with the id of the row has another e-mail than the row says.',
    sentence: 'Customer {customer} has the e-mail {is}, and the row says {expected}.',
    remedy:
      'Correct the row. If its ids belong to another system, load the file without a column for client_id (`--map client_id=`). If its e-mails do not matter, load it without a column for e-mails (`--map customer_email= --map email=`).',
  },
  CUSTOMER_UNCLEAR: {
    meaning:
      'An earlier run created the customer of the order, or may have. The service does not show that customer with the values that were sent.',
    sentence:
      '[?customer Run {creator} has its customer as {customer}, which the service does not show with these values: it may have been edited, merged or deleted.][!customer Run {creator} may have created its customer][ {id}][: {because}]',
    remedy:
      'Look for the customer at the service. Then decide with `lockstep review` which customer it is, or that it is created again.',
  },
  CUSTOMER_NOT_CREATED: {
    meaning: 'The customer of the order could not be created.',
    sentence: 'Its customer was not created (run {creator})[: {because}]',
    remedy: `Fix the cause, then run: ${REMEDIES.AGAIN}.`,
  },
} as const satisfies Reasons;
