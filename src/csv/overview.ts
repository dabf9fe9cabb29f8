/**
 * What a person should know about the orders of a file before they are sent: how many the filter leaves out, which statuses
 * and currencies the others have, and which of them were refunded or cancelled, or had a payment that failed.
 */
import { firstOf, formatCount } from '../base/counts.ts';
import { shellWord } from '../base/reasons/template.ts';
import { columnNotes } from './column-notes.ts';
import type { ColumnMapping } from './columns.ts';
import type { CombineLines } from './combine.ts';
import type { DetectedEncoding } from './encoding.ts';
import { KIND_NAMES } from './fields.ts';
import { LinesBelow } from './lines-below.ts';
import { OneCustomer } from './one-customer.ts';
import type { Preset, ReversalColumns } from './presets.ts';
import type { Table } from './table.ts';
import { Tally } from './tally.ts';
import { TextNotes } from './text-notes.ts';
import type { CheckedRow } from './validate.ts';
import { type ColumnCondition, selectorOf } from './where.ts';
import { WholeAmounts } from './whole-amounts.ts';
import { plainWords } from './words.ts';

/** Orders that a note names. */
const MOST_NAMED = 3;

/** The parts of a sheet that it is made from. */
interface Columns extends Pick<Table, 'added'> {
  readonly columns: readonly string[];
  readonly mapping: ColumnMapping;
  readonly where: readonly ColumnCondition[];
  readonly currencyIndex: number | undefined;
  readonly reversals: ReversalColumns;
  readonly preset: Preset | undefined;
  readonly combine: CombineLines | undefined;
  readonly encoding: Pick<DetectedEncoding, 'encoding' | 'why'>;
}

export class Overview {
  readonly #takes: (row: CheckedRow) => boolean;
  readonly #status: Tally | undefined;
  readonly #kinds: readonly Tally[];
  readonly #currency: Tally | undefined;
  /** Of the orders that are left out. */
  readonly #others: readonly Tally[];
  readonly #reversals: Reversals;
  readonly #doubts: readonly string[];
  readonly #texts: TextNotes;
  readonly #wholeAmounts: WholeAmounts;
  readonly #below: LinesBelow | undefined;
  #taken = 0;
  /** Of those that are taken: the rows that can be read. */
  #valid = 0;
  /** The column of the order_id, and how many of the orders have none. */
  readonly #numbered: string | undefined;
  #unnumbered = 0;
  readonly #negative = { count: 0, examples: [] as string[] };
  readonly #customer = new OneCustomer();
  #leftOut = 0;

  constructor(sheet: Columns) {
    const { mapping, columns, where, currencyIndex, reversals, preset, encoding } = sheet;
    const tally = (index: number | undefined) => (index === undefined ? undefined : new Tally(index, columns[index]));
    const status = mapping.columns.find(({ field, also, take }) => field === 'status' && !also && !take);
    this.#takes = selectorOf(where);
    this.#status = tally(status?.index);
    this.#kinds = mapping.unmapped.flatMap(({ index, name }) =>
      KIND_NAMES.includes(plainWords(name)) ? [new Tally(index, name)] : [],
    );
    this.#doubts = columnNotes(sheet, (field, what) =>
      what === 'none'
        ? `choose no column for ${field} (\`--map ${field}=\`)`
        : `choose it for ${field} (\`--map ${field}=${what}\`)`,
    );
    const last = mapping.columns.find(({ index }) => index === columns.length - 1);
    this.#texts = new TextNotes(encoding, last);
    const isAdded = sheet.combine?.amount === 'sum' && sheet.combine !== preset?.combineLines;
    this.#wholeAmounts = new WholeAmounts(
      isAdded ? mapping.columns.find(({ field }) => field === 'amount') : undefined,
    );
    const orderId = mapping.columns.find(({ field }) => field === 'order_id');
    this.#numbered = orderId?.name;
    this.#below = sheet.combine ? undefined : new LinesBelow(orderId?.index);
    this.#currency = tally(currencyIndex);
    this.#reversals = new Reversals(
      { refunded: tally(reversals.refunded), cancelled: tally(reversals.cancelled), status: tally(status?.index) },
      preset?.reversed?.status,
    );
    this.#others = where.map(({ index }) => new Tally(index, columns[index]));
  }

  /** How many orders the filter has left out. */
  get leftOut(): number {
    return this.#leftOut;
  }

  /** Why a line may be no whole order. A sentence without a full stop. */
  get doubt(): string | undefined {
    return this.#below?.doubt;
  }

  /** Whether the filter selects the order; counts it. */
  takes(row: CheckedRow): boolean {
    this.#below?.add(row);
    const isTaken = this.#takes(row);
    if (isTaken) {
      this.#taken += 1;
      this.#texts.add(row);
      if (row.status === 'valid') this.#addValid(row);
    } else {
      this.#leftOut += 1;
      for (const tally of this.#others) tally.add(row);
    }
    return isTaken;
  }

  /** A row that cannot be read, such as a footer, is not loaded. */
  #addValid(row: CheckedRow): void {
    this.#valid += 1;
    this.#reversals.add(row);
    this.#wholeAmounts.add(row);
    if (row.values.order_id === undefined) this.#unnumbered += 1;
    this.#customer.add(row.values);
    if (row.values.amount?.startsWith('-')) this.#addNegative(row.line, row.values.amount);
    for (const tally of [this.#status, this.#currency, ...this.#kinds]) tally?.add(row);
  }

  /** Sentences without a full stop. `signs`: the currencies that are written in the amounts. */
  notes(signs: readonly string[]): readonly string[] {
    return [
      ...this.#filterNote(),
      ...this.#texts.notes(),
      ...this.#doubts,
      ...this.#unnumberedNote(),
      ...this.#customer.notes(),
      ...this.#wholeAmounts.notes(),
      ...(this.#below?.notes() ?? []),
      ...kindNote('statuses', this.#status),
      ...this.#kinds.flatMap((kind) => kindNote('kinds', kind)),
      ...this.#reversals.note(this.#ofAll),
      ...this.#negativeNote(),
      ...this.#currencyNote(signs),
    ];
  }

  /** Not of the orders that the load creates: some may exist. */
  readonly #ofAll = (count: number): string =>
    this.#valid === 1
      ? 'the only order read from the file'
      : `${formatCount(count)} of the ${formatCount(this.#valid)} orders read from the file`;

  #unnumberedNote(): readonly string[] {
    if (this.#numbered === undefined || this.#unnumbered === 0) return [];
    return [
      `${this.#ofAll(this.#unnumbered)} ${this.#unnumbered === 1 ? 'has' : 'have'} no order_id, because "${this.#numbered}" is empty or 0: such an order gets a label such as LS-1a2b3c4d-1, and another file with the same orders may create them again. If another column has their numbers, choose it for order_id (\`--map order_id=Column\`)`,
    ];
  }

  #filterNote(): readonly string[] {
    if (this.#others.length === 0) return [];
    const of = this.#taken + this.#leftOut;
    const what = this.#leftOut === 0 ? '' : ` (${this.#others.map((tally) => tally.words()).join('; ')})`;
    return [`the filter (where) leaves out ${formatCount(this.#leftOut)} of ${formatCount(of)} orders${what}`];
  }

  #addNegative(line: number, amount: string): void {
    const { examples } = this.#negative;
    this.#negative.count += 1;
    if (examples.length < MOST_NAMED) examples.push(`line ${line} (${amount})`);
  }

  /** Many exports have refunds and payouts as lines of their own. */
  #negativeNote(): readonly string[] {
    const { count, examples } = this.#negative;
    if (count === 0) return [];
    return [
      `the amount is negative in ${this.#ofAll(count)}, as in refunds, credit notes and payouts, and is loaded unchanged: ${firstOf(examples, count)}. If they are not orders, delete them from the file`,
    ];
  }

  #currencyNote(signs: readonly string[]): readonly string[] {
    const tally = this.#currency;
    const why = 'and an order has no currency: all amounts are sent as plain numbers';
    if (tally?.isKind) return [`the orders have different currencies (${tally.words()}), ${why}. ${tally.onlyOne()}`];
    return signs.length > 1 ? [`the amounts are in ${signs.join(', ')}, ${why}`] : [];
  }
}

function kindNote(what: 'statuses' | 'kinds', tally: Tally | undefined): readonly string[] {
  if (!tally?.isKind) return [];
  return [`the orders have different ${what} (${tally.words()}), and all are loaded. ${tally.onlyOne()}`];
}

type ReversalTallies = Readonly<Record<keyof ReversalColumns | 'status', Tally | undefined>>;

/** Orders that were refunded or cancelled, or whose payment failed or expired: their whole amount is loaded. */
class Reversals {
  readonly #columns: ReversalTallies;
  readonly #statuses: ReadonlySet<string>;
  readonly #examples: string[] = [];
  #count = 0;
  readonly #counts = { refunded: 0, cancelled: 0 };

  constructor(columns: ReversalTallies, statuses: readonly string[] = []) {
    this.#columns = columns;
    this.#statuses = new Set(statuses.map((one) => one.toLowerCase()));
  }

  add(row: CheckedRow): void {
    const { refunded, cancelled, status } = this.#columns;
    const has = (column: Tally | undefined, isTelling: (cell: string) => boolean) =>
      column !== undefined && isTelling(column.cellOf(row)) ? column : undefined;
    const why = {
      refunded: has(refunded, (cell) => /[1-9]|^(?:yes|true)$/i.test(cell)),
      cancelled: has(cancelled, (cell) => cell.trim() !== ''),
      status: has(status, (cell) => this.#statuses.has(cell.toLowerCase())),
    };
    if (why.refunded) this.#counts.refunded += 1;
    else refunded?.add(row); // the values of the orders that the remedy keeps
    if (why.cancelled) this.#counts.cancelled += 1;
    if (!why.refunded && !why.cancelled) why.status?.add(row);
    const telling = Object.values(why).filter((column) => column !== undefined);
    if (telling.length === 0) return;
    this.#count += 1;
    if (this.#examples.length === MOST_NAMED) return;
    const cells = telling.map((column) => `${column.name} ${column.cellOf(row)}`);
    this.#examples.push(`line ${row.line} (${cells.join(', ')})`);
  }

  /** `ofAll`: puts a count in words, such as "3 of the 5 orders read from the file". */
  note(ofAll: (count: number) => string): readonly string[] {
    if (this.#count === 0) return [];
    const { refunded, cancelled, status } = this.#columns;
    const lines = firstOf(this.#examples, this.#count);
    const kept = this.#counts.refunded === 0 ? [] : (refunded?.options('=') ?? []);
    const empty = this.#counts.cancelled === 0 ? [] : [`--where ${shellWord(`${cancelled?.name}=`)}`];
    const remedy = [...kept, ...empty, ...(status?.options('!=') ?? [])].join(' ');
    const [were, their, are] = this.#count === 1 ? ['was', 'its', 'is'] : ['were', 'their', 'are'];
    const what = `${ofAll(this.#count)} ${were} refunded (in whole or in part) or cancelled, or ${their} payment failed or expired, and ${are} loaded with ${their} whole amount: ${lines}`;
    return [
      `${what}. To leave them out, delete them from the file${remedy === '' ? '' : `, or filter them when you load it (\`${remedy}\`)`}`,
    ];
  }
}
