/** What a column holds, by its cells, if its name alone does not say it. */
import { hasCurrency } from '../base/amount.ts';
import { COUNT_WORDS, MONEY_WORDS } from './amount-words.ts';
import { isPartOfName } from './customer-columns.ts';
import { type Field, NAME_WORDS, names } from './fields.ts';
import { fitsOf } from './fits.ts';
import { NUMBER_WORDS, type Recognised } from './recognise.ts';
import { plainWords } from './words.ts';

const CUSTOMER_WORDS = new Set(
  names(`
    customer, potential customer, client, buyer, kunde, besteller, cliente, acheteur, comprador, klant,
    sold to party, sold to pt, klient, nabywca, odberatel, zakaznik, kund, musteri, kaufer, debitor, auftraggeber, acquirente, alici,
    客户, 客戶, 买家, 買家, 顧客, 고객, 구매자, 주문자`),
);
/** A cell or two may be wrong. */
const MOST_CELLS = 0.9;
/** `ch_3Q0ab`, and a UUID. */
const ANY_ID = /^[^\s@]*\d[^\s@]*$/;
/** Some shops export an order's number as its name. */
const ORDER_NUMBER = /^(?:#\s?[\p{L}\d._/-]*\d[\p{L}\d._/-]*|[A-Z]{0,4}[ -]?\d+(?:\/\d+)?)$/u;

/** `2026000001` and `A-12`, neither a date nor an amount. */
export const LABEL = /^(?!\d{1,4}[./-]\d{1,2}[./-]\d{1,4}$)(?!\d+[.,]\d{1,2}$)[\p{L}\d#._/-]*\d[\p{L}\d._/-]*$/u;

/** The next column has the numbers of the houses. */
const STREET =
  /\b(?:street|address|calle|direccion|domicilio|rua|endereco|logradouro|rue|via|indirizzo|ulica|adres|adresse|gata)\b|strasse|straat/;
const PLACE = /\b(?:ciudad|cidade|localidad|localidade|municipio|postal|cp|cep|pais)\b/;
/** The number of an order, or its place in a list. */
const PLACE_OR_ORDER = /^(?:n|no|nro|num|numero) (?:(?:de|d) )?(?:orden|ordre)$/;

/**
 * A column called "customer" may contain ids, e-mail addresses or names, one called "name" may contain order numbers, and one
 * called "Nr." or "ID" numbers of orders, of lines, or of houses. `before`: the name of the column in front.
 */
export function byContent(name: string, cells: readonly string[], before = ''): Recognised | undefined {
  const words = plainWords(name);
  const how = { how: 'content', confidence: 0.9 } as const;
  if (NAME_WORDS.includes(words)) {
    const filled = cells.filter((cell) => cell !== '');
    const isNumbers = filled.length > 0 && filled.every((cell) => ORDER_NUMBER.test(cell));
    return isNumbers ? { field: 'order_id', ...how } : undefined;
  }
  if (NUMBER_WORDS.has(words) || PLACE_OR_ORDER.test(words))
    return !STREET.test(plainWords(before)) && areOrderNumbers(cells, words)
      ? { field: 'order_id', ...how, confidence: words === 'id' ? 0.79 : 0.8 }
      : undefined;
  if (!CUSTOMER_WORDS.has(words)) return undefined;
  const fitting = (['client_id', 'customer_email'] as const).find((field) => mostFit(field, cells));
  return { field: fitting ?? (areCodes(cells) ? 'client_id' : 'customer_name'), ...how };
}

/** How an API writes an id: `ch_3QaB12eZ`. */
export const API_ID = /^[a-z]{2,6}_[a-z\d]*\d[a-z\d]*$/i;
/** `C02514` and `CUST-0001` */
const CUSTOMER_CODE = /^[A-Z]{1,4}[-_]?\d{3,}$/;

/** Whether another program numbers its customers so: these are no names. */
export function areCodes(cells: readonly string[]): boolean {
  const filled = cells.filter((cell) => cell !== '');
  return filled.length > 0 && filled.every((cell) => API_ID.test(cell) || CUSTOMER_CODE.test(cell));
}

/**
 * Nearly all different; lines of one order are neighbours. 1, 2, 3 and so on count the lines of this file, and mean other orders
 * in the next file.
 */
function areOrderNumbers(cells: readonly string[], words: string): boolean {
  const orders = cells.filter((cell, index) => cell !== cells[index - 1]);
  const isCounting =
    orders.every((cell, index) => Number(cell) === Number(orders[0]) + index) && Number(orders[0]) <= 1;
  const different = new Set(orders.filter((cell) => (words === 'id' ? ANY_ID : LABEL).test(cell)));
  return !isCounting && different.size > 0 && different.size >= orders.length * MOST_CELLS;
}

const FORM_OF_ADDRESS = /^(?:mrs?|ms|miss|mx|dr|prof|sir|herr|frau|m|mme|mlle|sra?|srta|sig|dhr|mevr)\b/i;

/** Whether a column called "Title" says who a person is: `Mr` and `Dr.`, or a job beside the person's name. */
export function isOfPerson(name: string, cells: readonly string[], beside: readonly string[]): boolean {
  if (plainWords(name) !== 'title') return false;
  const filled = cells.filter((cell) => cell !== '');
  return beside.some(isPartOfName) || (filled.length > 0 && filled.every((cell) => FORM_OF_ADDRESS.test(cell)));
}

/** In Spanish and Portuguese, the status of an order and the state of an address have the same name. */
export function isOfAddress(name: string, beside: readonly string[]): boolean {
  return plainWords(name) === 'estado' && beside.some((one) => PLACE.test(plainWords(one)));
}

/** Whether the cells tell orders apart: "card" and "cash" in a column called "Reference" do not. */
export function areLabels(cells: readonly string[]): boolean {
  const filled = cells.filter((cell) => cell !== '');
  return filled.some((cell) => /\d/.test(cell)) || new Set(filled).size >= filled.length * MOST_CELLS;
}

/** At least half, some with decimals or a currency, unless the name says what they are: whole numbers may count something. */
export function areAmounts(name: string, cells: readonly string[]): boolean {
  if (!mostFit('amount', cells, 0.5)) return false;
  const words = plainWords(name);
  return (
    (MONEY_WORDS.test(words) && !COUNT_WORDS.test(words)) ||
    CURRENCIES.has(/\(([A-Z]{3})\)$/.exec(name.trim())?.[1] ?? '') ||
    cells.some((cell) => /\d[.,](?:[1-9]|\d\d|\d{4})\D*$/.test(cell) || hasCurrency(cell))
  );
}

const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

export function mostFit(field: Field, cells: readonly string[], most = MOST_CELLS): boolean {
  const { fit, of } = fitsOf(field, cells);
  return of > 0 && fit >= of * most;
}
