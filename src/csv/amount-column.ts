/** What must not be treated as the amount of an order, although its name and its cells fit. */
import {
  isAdded,
  isDiscount,
  isDue,
  isFee,
  isPaid,
  isPartOfAmount,
  isPrice,
  isQuantity,
  likelyAmount,
} from './amount-words.ts';
import { API_ID, areAmounts } from './by-content.ts';
import type { MappedColumn } from './cell-source.ts';
import { listColumns, mapOption, short, UnclearFile } from './column-errors.ts';
import type { FirstCells } from './first-cells.ts';
import { unitsIn } from './fits.ts';
import { plainWords } from './words.ts';

/** `Net Total`, `Nettobetrag` and `Montant HT`: what is left after fees, or what the order costs before taxes; or of one piece. */
const NET = /\b(?:net|neto|ht|unit)\b|\bnetto|einzelpreis/;

const PRICE = /\b(?:price|rate|preis|einzelpreis|precio|prix)\b/;

/** `amount_cents`, `Betrag in T€` */
const SCALED =
  /(?<!per)cents?(?![a-z])|[¢￠]|minor|'000|\(000s?\)|thousand|million|tausend|tsd|teur|(?<!\p{L})[kmt]\p{Sc}|\bk(?:eur|usd|chf|gbp)\b|\bk[)\]]|тыс|млн|[千万萬][円元圓]/iu;

/** The column of the amount, and the columns with amounts that fill no field. */
interface Amounts {
  readonly amount: MappedColumn;
  readonly others: readonly AmountCells[];
  /** The cells of the order_id. */
  readonly numbers: readonly string[];
  readonly firstCells: FirstCells;
  /** The line of the header. */
  readonly line: number;
}

interface AmountCells {
  readonly name: string;
  readonly cells: readonly (bigint | undefined)[];
}

/** Throws CSV_NO_AMOUNT_COLUMN if a person has to say which column has the amount. Not for a preset, which knows. */
export function refuseDoubtfulAmount(columns: readonly MappedColumn[], firstCells: FirstCells): void {
  const amount = columns.find(({ field }) => field === 'amount');
  const others = otherAmounts(columns, firstCells);
  if (!amount && others.length > 0 && !firstCells.isSelection) throw withoutAmount(others.map(nameOf), firstCells);
  if (!amount) return;
  const number = columns.find(({ field }) => field === 'order_id');
  const numbers = number ? firstCells.cells(number) : [];
  const amounts = { amount, others, numbers, firstCells, line: firstCells.header.line };
  const isChosen = amount.how === 'told' || amount.how === 'remembered';
  if (!isChosen && !firstCells.isSelection && SCALED.test(amount.name)) throw withoutAmount([amount.name], firstCells);
  const doubt = ofOnePiece(amounts) ?? (isChosen || firstCells.isSelection ? undefined : besideOthers(amounts));
  if (doubt) throw doubt;
}

function besideOthers(amounts: Amounts): UnclearFile | undefined {
  return (
    cutAtComma(amounts) ??
    inCents(amounts) ??
    ofAnApi(amounts) ??
    aQuantity(amounts) ??
    aPart(amounts) ??
    whatIsLeft(amounts) ??
    notWhole(amounts)
  );
}

const isNet = (name: string) => NET.test(plainWords(name));
const nameOf = ({ name }: AmountCells) => name;

function otherAmounts(used: readonly MappedColumn[], firstCells: FirstCells): readonly AmountCells[] {
  return firstCells.header.names.flatMap((name, index) => {
    const cells = firstCells.cells({ index });
    const isUsed = used.some((column) => column.index === index);
    if (isUsed || isQuantity(name) || !areAmounts(name, cells)) return [];
    return [{ name, cells: cells.map(unitsIn) }];
  });
}

/** A file may have no amounts; but if it has some, orders without them would be other orders. */
function withoutAmount(amounts: readonly string[], { header }: FirstCells): UnclearFile {
  const areScaled = amounts.every((name) => SCALED.test(name));
  return new UnclearFile(
    'CSV_NO_AMOUNT_COLUMN',
    `Line ${header.line}: no column has a name that means the amount, but ${columnsWith(amounts)} amounts.`,
    areScaled
      ? `${amounts.length === 1 ? 'Its name says' : 'Their names say'} that these are in another unit, such as cents or thousands: write them in whole units first. To load the orders without an amount, add --map amount=.`
      : `Name the amount of the order, as in ${mapOption('amount', likelyAmount(amounts) ?? 'Column')}; if no column has it, add --map amount=.`,
    [...(areScaled ? [] : amounts.map((column) => ({ field: 'amount', column }))), { field: 'amount' }],
  );
}

/** `instead`: what to do if the column does not have the amount; `better`: the column that then has it. */
function doubtfulAmount(
  statement: string,
  { name }: MappedColumn,
  { instead, better }: { readonly instead?: string; readonly better?: string | undefined } = {},
): UnclearFile {
  const otherwise =
    better === undefined
      ? 'name the column that has it, with --map amount=Column'
      : `add ${mapOption('amount', better)}`;
  const remedy = `If it is the amount of the order, add ${mapOption('amount', name)}; otherwise ${instead ?? otherwise}.`;
  const columns = [...(better === undefined ? [] : [better]), name];
  return new UnclearFile(
    'CSV_NO_AMOUNT_COLUMN',
    statement,
    remedy,
    columns.map((column) => ({ field: 'amount', column })),
  );
}

/**
 * What a seller is left with, what an order costs before taxes or without its delivery, or what was paid of it so far, is not what the
 * customer pays.
 */
function notWhole({ amount, others, line }: Amounts): UnclearFile | undefined {
  if (amount.how !== 'synonym') return undefined;
  const { name } = amount;
  const isMore = (other: AmountCells) =>
    other.cells.some((cell) => cell) && ((isPrice(name) && isAdded(other.name)) || (isPaid(name) && isDue(other.name)));
  const more = others.filter((other) => (isNet(name) && !isNet(other.name)) || isMore(other));
  if (more.length === 0) return undefined;
  const because = `because ${columnsWith(more.map(nameOf))} amounts too`;
  return doubtfulAmount(
    `Line ${line}: "${short(amount.name)}" may not be the whole amount of the order, ${because}.`,
    amount,
  );
}

/** A comma between cells cuts an amount such as 12,50 into two cells, if it has no quotes. */
function cutAtComma({ amount, firstCells, line }: Amounts): UnclearFile | undefined {
  if (firstCells.delimiter !== ',') return undefined;
  const [own, next] = [firstCells.cells(amount), firstCells.cells({ index: amount.index + 1 })];
  const isCut = (cell: string, row: number) =>
    /^\D*(?:\d+|\d{1,3}(?:\.\d{3})+)$/.test(cell) && /^\d\d$/.test(next[row] ?? '');
  const first = own.findIndex((cell) => cell !== '');
  if (first === -1 || !own.every((cell, row) => cell === '' || isCut(cell, row))) return undefined;
  return doubtfulAmount(
    `Line ${line}: "${short(amount.name)}" may lack decimals: in each row, the next cell has two digits, as if an amount such as ${own[first]},${next[first]} had no quotes.`,
    amount,
    { instead: 'put quotes around the amounts, or export the file with another delimiter' },
  );
}

/** "Amount" may mean how many pieces were ordered. */
function aQuantity({ amount, others, firstCells, line }: Amounts): UnclearFile | undefined {
  const price = others.map(nameOf).find((name) => PRICE.test(plainWords(name)));
  if (price === undefined || plainWords(amount.name) !== 'amount') return undefined;
  if (firstCells.header.names.some(isQuantity)) return undefined;
  if (!firstCells.cells(amount).every((cell) => /^\d{0,4}$/.test(cell))) return undefined;
  return doubtfulAmount(
    `Line ${line}: "${short(amount.name)}" may be a quantity, because it has whole numbers only, and "${short(price)}" has amounts.`,
    amount,
  );
}

/**
 * An amount that adds up to another one with a third, such as the taxes, or with all others, such as tip and taxes, is not the whole
 * amount of the order. With a discount it adds up to what the order would cost without the discount.
 */
function aPart({ amount, others, firstCells, line }: Amounts): UnclearFile | undefined {
  const own = firstCells.cells(amount).map(unitsIn);
  const parts = others.filter(
    ({ name, cells }) => !isDiscount(name) && cells.some((cell) => cell) && cells.every((cell = 0n) => cell >= 0n),
  );
  const isSum = (whole: AmountCells, added: readonly AmountCells[]) =>
    own.every((cell, row) => {
      const sum = added.reduce((all, { cells }) => all + (cells[row] ?? 0n), cell ?? 0n);
      return cell === undefined || sum === (whole.cells[row] ?? 0n);
    });
  for (const whole of own.some((cell) => cell !== undefined) ? others : []) {
    const rest = parts.filter((one) => one !== whole);
    const added = [...rest.map((one) => [one]), rest].find((some) => some.length > 0 && isSum(whole, some));
    if (added === undefined) continue;
    return doubtfulAmount(
      `Line ${line}: "${short(amount.name)}" may not be the whole amount of the order, because it and ${listColumns(added.map(nameOf))} add up to "${short(whole.name)}".`,
      amount,
      { better: whole.name },
    );
  }
  return undefined;
}

/** What a marketplace pays out is not what the customer pays. */
function whatIsLeft({ amount, others, firstCells, line }: Amounts): UnclearFile | undefined {
  const own = firstCells.cells(amount).map(unitsIn);
  const isLeftOf = (whole: AmountCells, taken: AmountCells) =>
    own.every((cell, row) => {
      const [all = 0n, part = 0n] = [whole.cells[row], taken.cells[row]];
      return cell === undefined || (isFee(taken.name) ? part >= 0n || all > cell : all + part === cell);
    });
  const isTaken = ({ name, cells }: AmountCells) => !isDiscount(name) && cells.some((cell = 0n) => cell < 0n);
  for (const taken of others.filter(isTaken)) {
    const whole = others.find((other) => !isPartOfAmount(other.name) && isLeftOf(other, taken));
    if (!whole) continue;
    return doubtfulAmount(
      `Line ${line}: "${short(amount.name)}" may be what is left after "${short(taken.name)}", because "${short(whole.name)}" has larger amounts.`,
      amount,
    );
  }
  return undefined;
}

/** Some programs export an amount twice: in cents for programs, and as people read it. */
function inCents({ amount, others, firstCells, line }: Amounts): UnclearFile | undefined {
  const cents = firstCells.cells(amount).map(unitsIn);
  const isHundredth = (other: bigint | undefined, row: number) => other === undefined || other * 100n === cents[row];
  const whole = others.find(({ cells }) => cells.some((cell) => cell) && cells.every(isHundredth));
  if (whole === undefined) return undefined;
  return doubtfulAmount(
    `Line ${line}: "${short(amount.name)}" may have the amounts in cents, because "${short(whole.name)}" has a hundredth of each.`,
    amount,
    { better: whole.name },
  );
}

/** An API has amounts in cents. */
function ofAnApi({ amount, numbers, firstCells, line }: Amounts): UnclearFile | undefined {
  const cells = firstCells.cells(amount);
  const [id] = numbers;
  if (!id || !numbers.every((cell) => API_ID.test(cell)) || !cells.every((cell) => /^\d{3,}$/.test(cell)))
    return undefined;
  return doubtfulAmount(
    `Line ${line}: "${short(amount.name)}" may have the amounts in cents, because it has whole numbers only, and the order numbers look like the ids of an API, such as ${short(id)}.`,
    amount,
    { instead: 'write the amounts in whole units first' },
  );
}

/** The price of one piece is not the amount of an order of three. */
function ofOnePiece({ amount, others, firstCells, line }: Amounts): UnclearFile | undefined {
  if (amount.how !== 'synonym' || !isPrice(amount.name)) return undefined;
  const { names } = firstCells.header;
  const index = names.findIndex(isQuantity);
  if (index === -1 || firstCells.cells({ index }).every((cell) => /^(?:1(?:[.,]0+)?)?$/.test(cell))) return undefined;
  return doubtfulAmount(
    `Line ${line}: "${short(amount.name)}" may be the price of one piece, because "${short(names[index] ?? '')}" has quantities.`,
    amount,
    others.length === 0 ? { instead: 'add a column with the amounts' } : { better: likelyAmount(others.map(nameOf)) },
  );
}

function columnsWith(names: readonly string[]): string {
  return names.length === 1 ? `the column ${listColumns(names)} has` : `the columns ${listColumns(names)} have`;
}
