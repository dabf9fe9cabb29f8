/** Conditions on texts, as `where` has them: of contacts, and of the orders of a file. */

type One = string | boolean;
type Values = One | readonly One[];

/** One of these values, none of them, or whether there is a value at all. */
export type Condition = Values | { readonly not?: Values | undefined; readonly present?: boolean | undefined };

/** Whether a condition holds for a text. Upper and lower case, and spaces around, make no difference. */
export function testOf(condition: Condition): (text: string) => boolean {
  if (typeof condition !== 'object' || isList(condition)) return isOneOf(condition);
  const { not = [], present } = condition;
  if (present !== undefined) return (text) => (text.trim() !== '') === present;
  const isExcluded = isOneOf(not);
  return (text) => !isExcluded(text);
}

/** `is Paid or Refunded`, `is not Failed`, `is empty` */
export function conditionWords(condition: Condition): string {
  if (typeof condition !== 'object' || isList(condition)) return `is ${listed(condition)}`;
  const { not = [], present } = condition;
  if (present !== undefined) return present ? 'is not empty' : 'is empty';
  return `is not ${listed(not)}`;
}

const isList = (values: Condition): values is readonly One[] => Array.isArray(values);

function listed(values: Values): string {
  return [values]
    .flat()
    .map((one) => (one === '' ? 'empty' : String(one)))
    .join(' or ');
}

function isOneOf(values: Values): (text: string) => boolean {
  const wanted = new Set([values].flat().map((one) => comparable(String(one))));
  return (text) => wanted.has(comparable(text));
}

function comparable(text: string): string {
  return text.normalize('NFC').trim().toLowerCase();
}
