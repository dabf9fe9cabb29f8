/** Which of several columns says who the customer is. */
import { isQuantity } from './amount-words.ts';
import type { MappedColumn } from './cell-source.ts';
import { short } from './column-errors.ts';
import {
  COMPANY_PARTS,
  CUSTOMER_PARTS,
  CUSTOMER_REFERENCES,
  type Field,
  NAME_WORDS,
  PERSON_PARTS,
  SHARED,
} from './fields.ts';
import type { FirstCells } from './first-cells.ts';
import { CONFIDENCE } from './recognise.ts';
import { plainWords, withoutSmall } from './words.ts';

/** A column that was recognised, and is not used. */
export type YieldingColumn = MappedColumn & { readonly why: string };

/**
 * Takes out of `found` the columns that another one makes doubtful, and lets the others fill the fields that have no column of
 * their own. Returns the columns that were taken out.
 */
export function yieldToBetter(
  found: Map<Field, MappedColumn>,
  isLeftOut: (field: Field) => boolean,
  firstCells: FirstCells,
): readonly YieldingColumn[] {
  // "Full Name" says more than "Buyer", which may be the name of an account.
  if (found.get('customer_name')?.how === 'content' && found.get('full_name')?.how === 'exact')
    found.delete('customer_name');
  productName(found, isLeftOut, firstCells);
  const yielding = [orderName(found, firstCells), foreignId(found, firstCells), ownCompany(found, firstCells)].filter(
    (one) => one !== undefined,
  );
  for (const { field } of yielding) found.delete(field);
  for (const [one, other] of SHARED) {
    if (!isLeftOut(one)) share(found, one, other);
    if (!isLeftOut(other)) share(found, other, one);
  }
  return yielding;
}

const FIRST_NAME =
  /^(.*?) ?(?:first ?name|given name|vorname|\bprenom\b|\bnombres?\b|\bnome\b|voornaam|fornamn|\bimie\b|(?<![^ ])名(?![^ ])) ?(.*)$/;
const LAST_NAME =
  /^(.*?) ?(?:last ?name|surname|family name|nachname|\bnom\b|apellidos?|cognome|sobrenome|achternaam|efternamn|nazwisko|(?<![^ ])[姓氏](?![^ ])) ?(.*)$/;
/** The last name, if the first name is called so. */
const GIVEN_NAME = /vorname|voornaam|fornamn/;
const NAME = /^(.*?) ?\b(?:name|naam|namn)\b ?(.*)$/;
/** Whose first and last name may be the customer's, the best one first; never those of a recipient or an employee. */
const PERSONS: readonly string[] = [...CUSTOMER_PARTS, '', ...PERSON_PARTS, ...COMPANY_PARTS];

/** Whose first or last name a column has; undefined if it has neither. */
function personIn(name: string, form: RegExp): string | undefined {
  return form
    .exec(withoutSmall(plainWords(name)))
    ?.slice(1)
    .join(' ')
    .trim();
}

/** `First name`, `Vorname` and `Billing last name` */
export function isPartOfName(name: string): boolean {
  return [FIRST_NAME, LAST_NAME].some((form) => PERSONS.includes(personIn(name, form) ?? 'none'));
}

/** Joins a first and a last name of the same person, unless a column with the whole name was found. */
export function findNamePair(found: Map<Field, MappedColumn>, firstCells: FirstCells): void {
  const indexOf = (whose: string, form: RegExp) =>
    firstCells.header.names.findIndex((name) => personIn(name, form) === whose);
  /** The column called "Name" beside a "Vorname", unless it has the whole names. */
  const familyOf = (whose: string, first: number) => {
    if (!GIVEN_NAME.test(plainWords(firstCells.header.names[first] ?? ''))) return -1;
    const index = indexOf(whose, NAME);
    const given = firstCells.cells({ index: first });
    return firstCells.cells({ index }).every((cell, row) => cell.includes(given[row] ?? '')) ? -1 : index;
  };
  for (const whose of PERSONS) {
    const index = indexOf(whose, FIRST_NAME);
    const named = indexOf(whose, LAST_NAME);
    const last = named === -1 ? familyOf(whose, index) : named;
    if (index === -1 || last === -1) continue;
    const isHalf = (column: MappedColumn | undefined) =>
      !column || column.index === index || column.index === last || column.confidence < CONFIDENCE.vague;
    if (!isHalf(found.get('customer_name')) || !isHalf(found.get('full_name'))) return;
    found.delete('full_name');
    const by = { how: 'synonym', confidence: CONFIDENCE.vague } as const;
    const isLastFirst = /[姓氏]/.test(firstCells.header.names[last] ?? ''); // as the languages do that call it so
    const source = isLastFirst ? { index: last, also: [index] } : { index, also: [last] };
    found.set('customer_name', firstCells.column('customer_name', source, by));
    return;
  }
}

export const PRODUCT_ID = /\bsku\b|^(?:product|produkt|article|artikel|item) (?:id|no|nr|number)$/;

/** "Name" beside a "SKU" is the name of the product, where a file with quantities has no other one. */
function productName(found: Map<Field, MappedColumn>, isLeftOut: (field: Field) => boolean, cells: FirstCells): void {
  const name = found.get('full_name');
  if (name?.how !== 'synonym' || !NAME_WORDS.includes(plainWords(name.name)) || found.has('description')) return;
  const { names } = cells.header;
  const beside = [names[name.index - 1], names[name.index + 1]];
  if (!names.some(isQuantity) || !beside.some((one = '') => PRODUCT_ID.test(plainWords(one)))) return;
  found.delete('full_name');
  if (!isLeftOut('description')) found.set('description', cells.column('description', { index: name.index }, name));
}

const OF_DEALS = /\b(?:deals?|opportunit(?:y|ies)|pipeline|probability)\b/;

/** "Name" is the name of the order where another column names the customer, and the name of the deal in a list of deals. */
function orderName(found: Map<Field, MappedColumn>, { header }: FirstCells): YieldingColumn | undefined {
  const [name, customer] = [found.get('full_name'), found.get('customer_name')];
  if (name?.how !== 'synonym' || !NAME_WORDS.includes(plainWords(name.name))) return undefined;
  if (customer) return { ...name, why: betterWords(customer) };
  const deal = header.names.find((one) => OF_DEALS.test(plainWords(one)));
  return deal === undefined
    ? undefined
    : { ...name, why: `"${short(deal)}" says that the lines are deals, and it may be their name` };
}

/** Shops and ledgers number customers too, and the service may have other customers with these numbers; e-mails are the same everywhere. */
function foreignId(found: Map<Field, MappedColumn>, firstCells: FirstCells): YieldingColumn | undefined {
  const id = found.get('client_id');
  const email = found.get('customer_email') ?? found.get('email');
  if (!id || !email || !isByName(id)) return undefined;
  const emails = firstCells.cells(email);
  const isEnough = firstCells.cells(id).every((cell, row) => cell === '' || emails[row] !== '');
  return isEnough && email.fits.of > 0 ? { ...id, why: betterWords(email) } : undefined;
}

const betterWords = ({ name }: MappedColumn) => `${JSON.stringify(name)} says who the customer is`;

/** So many customers do not work for one company by chance. */
const LEAST_CUSTOMERS = 3;

/** A company that is the same in all lines is the one whose orders they are, as in exports of Odoo. */
function ownCompany(found: Map<Field, MappedColumn>, firstCells: FirstCells): YieldingColumn | undefined {
  const company = found.get('organization');
  const customer = CUSTOMER_REFERENCES.map((field) => found.get(field)).find((one) => one !== undefined);
  if (!company || !customer || !isByName(company)) return undefined;
  const valuesOf = (column: MappedColumn) => new Set(firstCells.cells(column).filter((cell) => cell !== ''));
  if (valuesOf(company).size !== 1 || valuesOf(customer).size < LEAST_CUSTOMERS) return undefined;
  return { ...company, why: 'all customers have the same, which may be your own' };
}

/** Whether a column was recognised although it has neither the field's own name nor was chosen. */
export function isByName({ how }: Pick<MappedColumn, 'how'>): boolean {
  return how === 'synonym' || how === 'content' || how === 'fuzzy';
}

function share(found: Map<Field, MappedColumn>, missing: Field, present: Field): void {
  const column = found.get(present);
  if (column && !found.has(missing)) found.set(missing, { ...column, field: missing, how: 'shared' });
}
