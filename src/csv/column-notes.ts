/** What a person should know about the columns that were found, before the load is approved. */
import { isPrice } from './amount-words.ts';
import type { ColumnMapping } from './columns.ts';
import { isByName } from './customer-columns.ts';
import { CUSTOMER_REFERENCES, type Field, NAME_WORDS } from './fields.ts';
import { CONFIDENCE } from './recognise.ts';
import type { Table } from './table.ts';
import { plainWords } from './words.ts';

const WITHOUT: readonly (readonly [field: Field, what: string])[] = [
  [
    'order_id',
    'no column fills order_id: each line is an order of its own, with a label such as LS-1a2b3c4d-1, and another file with the same orders may create them again. If a column has their numbers',
  ],
  ['amount', 'no column fills amount: the orders are loaded without one. If a column has it'],
];

type Columns = Pick<Table, 'added'> & { readonly mapping: ColumnMapping };

/** Whether a column fills the field, or a person said that none does. A file of results has the numbers of its orders. */
function isKnown(field: Field, { mapping, added }: Columns): boolean {
  return (
    mapping.columns.some((column) => column.field === field) ||
    mapping.none.includes(field) ||
    (field === 'order_id' && added !== undefined && added.label >= 0)
  );
}

/** Whether a column surely has the numbers of the orders: a "Record ID" may be of any record. */
function isNumbered(columns: Columns): boolean {
  const number = columns.mapping.columns.find(({ field }) => field === 'order_id');
  return number ? number.confidence >= CONFIDENCE.vague : isKnown('order_id', columns);
}

/**
 * Why the lines may not be orders, so that a person has to approve the load: a list of contacts has neither amounts nor
 * numbers of orders, though it may have a "Record ID"; a list of products has names and prices. A sentence without a full stop;
 * undefined if they are orders.
 */
export function doubtOf(columns: Columns): string | undefined {
  return ofProducts(columns) ?? ofContacts(columns);
}

function ofProducts(columns: Columns): string | undefined {
  const { mapping } = columns;
  const amount = mapping.columns.find(({ field }) => field === 'amount');
  if (isNumbered(columns) || amount?.how !== 'synonym' || !isPrice(amount.name)) return undefined;
  const customer = mapping.columns.filter(({ field }) => CUSTOMER_REFERENCES.some((one) => one === field));
  const [name] = customer;
  if (customer.length > 1 || !name || !NAME_WORDS.includes(plainWords(name.name))) return undefined;
  return `"${name.name}" and "${amount.name}" may be names and prices of products: the file may be a list of products`;
}

function ofContacts(columns: Columns): string | undefined {
  if (isKnown('amount', columns) || isNumbered(columns)) return undefined;
  const number = columns.mapping.columns.find(({ field }) => field === 'order_id');
  const missing = number ? `"${number.name}" may not have their numbers` : 'none has their numbers';
  return `no column has the amounts of orders, and ${missing}: the file may be a list of contacts`;
}

/**
 * What no person has said, and may be otherwise: that the lines are orders, that the orders lack a field, and that the ids
 * of its customers are those of the service. `choose`: how to choose a column for the field, or none. Sentences without a full stop.
 */
export function columnNotes(
  columns: Columns,
  choose: (field: Field, what: 'Column' | 'none') => string,
): readonly string[] {
  const doubt = doubtOf(columns);
  const id = columns.mapping.columns.find((column) => column.field === 'client_id' && isByName(column));
  return [
    ...(doubt === undefined ? [] : [`${doubt}, so the load writes nothing without approval`]),
    ...WITHOUT.flatMap(([field, what]) => (isKnown(field, columns) ? [] : [`${what}, ${choose(field, 'Column')}`])),
    ...(id
      ? [
          `the customers are found by "${id.name}", as ids of this service. If they are ids of another program, the orders would go to other customers: ${choose('client_id', 'none')}`,
        ]
      : []),
  ];
}
