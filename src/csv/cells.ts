/**
 * One function per field: it takes a cell and returns a value or a problem.
 *
 * Plain functions, not zod: a million rows of eight cells are eight million checks, and zod's result objects alone
 * would take longer than everything else together (figures in bench/csv.ts). test/csv/validate.test.ts checks the
 * values with the contract's zod schemas.
 */
import { type AmountForm, parseAmount } from '../base/amount.ts';
import type { CellCode } from '../base/reasons/cells.ts';
import type { Facts } from '../base/reasons/reason.ts';
import { withoutMarks } from '../base/visible.ts';
import type { Field } from './fields.ts';

export type CellProblem = {
  readonly code: CellCode;
  readonly severity: 'error' | 'warning';
  /** What a field function receives besides the cell and its position. */
  readonly facts?: Facts;
};

export interface CellResult {
  /** Absent if the cell is refused. */
  readonly value?: string;
  readonly problem?: CellProblem;
  /** For an amount: the currency sign or code that was removed. */
  readonly currency?: string;
}

export type CellReader = (text: string) => CellResult;

/**
 * Reads a cell that is not empty and has no spaces around it. `isExact`: no character of the file was lost when it was decoded
 * (encoding.ts).
 */
export function cellReaders(amounts: AmountForm, isExact = true): Readonly<Record<Field, CellReader>> {
  return {
    order_id: orderId,
    description: isExact ? longText : (text) => kept(longText(text)),
    amount: (text) => amount(text, amounts),
    status: shortText,
    client_id: clientId,
    customer_email: email,
    customer_phone: phone,
    customer_name: name,
    full_name: name,
    email,
    phone_number: phone,
    organization: shortText,
    gender: shortText,
    picture_url: pictureUrl,
  };
}

/** UTF-16 units. The contract gives no lengths (docs/contract.md, "Limits" 3): our choice. */
const MAX_SHORT = 255;
export const MAX_LONG = 10_000;
const MAX_URL = 2048;
const MAX_EMAIL = 320;

const error = (code: CellCode, facts?: Facts): CellResult => ({ problem: { code, severity: 'error', facts } });

const CONTROL = /\p{Cc}/u;
const CONTROL_BUT_BREAKS = /(?![\t\n\r])\p{Cc}/u;
/** Invisible characters: with them, two keys that look the same would differ. */
const INVISIBLE = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/;

const UNREADABLE = 'UNREADABLE_CHARACTER';

/** What a spreadsheet shows of a formula that failed, also in German, or of a number that its column is too narrow for. */
const FORMULA_ERROR = /^#(?:N\/A|NV|REF!|BEZUG!|VALUE!|WERT!|DIV\/0!|NAME\?|NULL!|NUM!|ZAHL!|SPILL!|#+)$/i;

function shortText(text: string): CellResult {
  if (FORMULA_ERROR.test(text)) return error('FORMULA_ERROR');
  if (text.length > MAX_SHORT) return tooLong(text, MAX_SHORT);
  return CONTROL.test(text) ? control(text, CONTROL) : readable(text);
}

/** In a description, line breaks and tabs are allowed, and so is a character that was lost before the file was written. */
function longText(text: string): CellResult {
  if (FORMULA_ERROR.test(text)) return error('FORMULA_ERROR');
  if (text.length > MAX_LONG) return tooLong(text, MAX_LONG);
  if (CONTROL_BUT_BREAKS.test(text)) return control(text, CONTROL_BUT_BREAKS);
  return text.includes('\ufffd')
    ? { value: text, problem: { code: UNREADABLE, severity: 'warning' } }
    : { value: text };
}

/** What was lost here is not sent. */
function kept(result: CellResult): CellResult {
  return result.problem?.code === UNREADABLE ? error(UNREADABLE) : result;
}

function readable(text: string): CellResult {
  return text.includes('\ufffd') ? error(UNREADABLE) : { value: text };
}

/** A long number as a spreadsheet shows it, such as 1.2E+11 or 1E+12, and as some programs write it: 1.2E11. */
const CUT_SHORT = /^\d(?:[.,]\d+E\+?|E\+)\d+$/i;

/** A spreadsheet's mark for "this is text". */
const TEXT_MARK = /^'(?=[+\d])/;

/** A whole number as programs write it that keep empty cells as numbers, such as 1001.0. */
const WITH_DECIMAL = /^\d+[.,]0$/;

/** A label, never a number: 00012 is not 12. */
function orderId(cell: string): CellResult {
  const text = cell.replace(TEXT_MARK, '');
  if (INVISIBLE.test(text)) return invisible();
  if (CUT_SHORT.test(text)) return error('ORDER_ID_CUT_SHORT');
  if (WITH_DECIMAL.test(text)) return error('ORDER_ID_DECIMAL');
  if (/^0+$/.test(text)) return {}; // of an order without one: otherwise they would all be one order
  return shortText(text);
}

/** An id as the service shows it: digits of any length, a UUID or any other word. The service's list shows which ids exist. */
const ID = /^[\p{L}\d_][\p{L}\d_.:/+=-]*$/u;

function clientId(cell: string): CellResult {
  const text = cell.replace(TEXT_MARK, '');
  if (INVISIBLE.test(text)) return invisible();
  if (CUT_SHORT.test(text)) return error('CLIENT_ID_CUT_SHORT');
  if (/^\d+[.,]\d*$|^\d+E\d+$|^0+$/i.test(text) || !ID.test(text)) return error('CLIENT_ID_INVALID');
  return shortText(text);
}

/** Marketplaces hide who the customers are: `A***n`, `(+49)170****34`. */
export function isMasked(text: string): boolean {
  return text.includes('**');
}

/** A table of Notion links what it names: `Ann Lee (https://www.notion.so/…)`. */
const LINK = /\s*\(https?:\/\/[^\s()]*\)/g;

function name(cell: string): CellResult {
  const text = withoutMarks(cell).trim();
  if (text === '') return invisible();
  return isMasked(text) ? error('CUSTOMER_MASKED') : shortText(text.includes('://') ? text.replace(LINK, '') : text);
}

/** Lenient: the service checks what is before and after the @. */
const EMAIL = /^[^\s@<>(),;:"]+@[^\s@<>(),;:"]+\.[^\s@<>(),;:".]+$/;

function email(text: string): CellResult {
  if (text.length > MAX_EMAIL) return tooLong(text, MAX_EMAIL);
  if (INVISIBLE.test(text)) return invisible();
  if (CONTROL.test(text)) return control(text, CONTROL);
  if (isMasked(text)) return error('CUSTOMER_MASKED');
  return EMAIL.test(text) ? readable(text) : error('EMAIL_INVALID');
}

function phone(cell: string): CellResult {
  const text = withoutMarks(cell).replace(TEXT_MARK, '');
  if (CUT_SHORT.test(text) || WITH_DECIMAL.test(text)) return error('PHONE_INVALID', { isNumber: true });
  if (isMasked(text)) return error('CUSTOMER_MASKED');
  return /\d{2}/.test(text.replace(/\D/g, '')) ? shortText(text) : error('PHONE_INVALID');
}

function pictureUrl(text: string): CellResult {
  if (text.length > MAX_URL) return tooLong(text, MAX_URL);
  if (/^https?:\/\/\S+$/i.test(text) && URL.canParse(text)) return readable(text);
  return error('PICTURE_URL_INVALID');
}

function amount(text: string, form: AmountForm): CellResult {
  if (FORMULA_ERROR.test(text)) return error('FORMULA_ERROR');
  const parsed = parseAmount(text, form);
  if (parsed.status === 'refused') return error(parsed.code, parsed.facts);
  return { value: parsed.value, currency: parsed.currency };
}

function tooLong(text: string, most: number): CellResult {
  return error('TOO_LONG', { length: text.length, most });
}

function control(text: string, form: RegExp): CellResult {
  const code = form.exec(text)?.[0].charCodeAt(0) ?? 0;
  const name =
    code === 10 || code === 13 ? 'a line break' : code === 9 ? 'a tab' : `U+${code.toString(16).padStart(4, '0')}`;
  return error('CONTROL_CHARACTER', { character: name });
}

const invisible = () => error('INVISIBLE_CHARACTER');
