/** What must not be treated as the amount of an order, although its name and its cells fit. */
import { isAdded, isDiscount, isFee, isPrice, isQuantity, likelyAmount } from './amount-words.ts';
import { areAmounts } from './by-content.ts';
import { listColumns, mapOption, short, UnclearFile } from './column-errors.ts';
import { namelessColumn } from './column-names.ts';
import type { FirstCells } from './first-cells.ts';
import { unitsIn } from './fits.ts';
import type { MappedColumn } from './mapped-column.ts';
import { plainWords } from './words.ts';

/** `Net Total`, `Nettobetrag` and `Montant HT`: what is left after fees, or what the order costs before taxes; or of one piece. */
const NET = /\b(?:net|neto|ht|unit)\b|\bnetto|einzelpreis/;

const PRICE = /\b(?:price|rate|preis|einzelpreis|precio|prix)\b/;

/** `amount_cents`, `Betrag in T€` */
const SCALED = /cents?(?![a-z])|minor|'000|thousand|tausend|tsd|teur|[kt]€/i;

/** Throws CSV_NO_AMOUNT_COLUMN if a person has to say which column has the amount. Not for a preset, which knows. */
export function refuseDoubtfulAmount(columns: readonly MappedColumn[], firstCells: FirstCells): void {
  const amount = columns.find(({ field }) => field === 'amount');
  const others = otherAmounts(columns, firstCells);
  if (amount) refusePrice(amount, others, firstCells);
  if (firstCells.isSelection) return;
  if (others.length === 0) return;
  if (!amount) throw withoutAmount(others, firstCells);
  if (amount.how === 'told' || amount.how === 'remembered') return;
  const isAddition = (name: string) =>
    isAdded(name) && firstCells.cells({ index: firstCells.header.names.indexOf(name) }).some((cell) => unitsIn(cell));
  refuseCents(amount, others, firstCells);
  refuseQuantity(amount, others, firstCells);
  refusePart(amount, others, firstCells);
  refuseRest(amount, others, firstCells);
  if (amount.how === 'synonym' && isNet(amount.name))
    refuseNet(
      amount,
      others.filter((name) => !isNet(name)),
      firstCells,
    );
  if (amount.how === 'synonym' && isPrice(amount.name)) refuseNet(amount, others.filter(isAddition), firstCells);
}

const isNet = (name: string) => NET.test(plainWords(name));

/** Columns with amounts that fill no field. */
function otherAmounts(used: readonly MappedColumn[], firstCells: FirstCells): readonly string[] {
  const isAmount = (name: string, index: number) =>
    used.every((column) => column.index !== index) &&
    !isQuantity(name) &&
    areAmounts(name, firstCells.cells({ index }));
  return firstCells.header.names.flatMap((name, index) =>
    isAmount(name, index) ? [name || namelessColumn(index)] : [],
  );
}

/** A file may have no amounts; but if it has some, orders without them would be other orders. */
function withoutAmount(amounts: readonly string[], { header }: FirstCells): UnclearFile {
  return new UnclearFile(
    'CSV_NO_AMOUNT_COLUMN',
    `Line ${header.line}: no column has a name that means the amount, but ${columnsWith(amounts)} amounts.`,
    amounts.every((name) => SCALED.test(name))
      ? 'Their names say that they are in cents or thousands: write them in whole units first. To load the orders without an amount, add --map amount=.'
      : `Name the amount of the order, as in ${mapOption('amount', likelyAmount(amounts) ?? 'Column')}; if no column has it, add --map amount=.`,
  );
}

/** What a seller is left with, or what an order costs before taxes or without its delivery, is not what the customer pays. */
function refuseNet({ name }: MappedColumn, others: readonly string[], { header }: FirstCells): void {
  if (others.length === 0) return;
  throw new UnclearFile(
    'CSV_NO_AMOUNT_COLUMN',
    `Line ${header.line}: "${short(name)}" may not be the whole amount of the order, because ${columnsWith(others)} amounts too.`,
    `If it is, add ${mapOption('amount', name)}; otherwise name the column that has the amount, with --map amount=Column.`,
  );
}

/** "Amount" may mean how many pieces were ordered. */
function refuseQuantity(amount: MappedColumn, amounts: readonly string[], firstCells: FirstCells): void {
  const price = amounts.find((name) => PRICE.test(plainWords(name)));
  if (price === undefined || plainWords(amount.name) !== 'amount') return;
  if (firstCells.header.names.some(isQuantity)) return;
  if (!firstCells.cells(amount).every((cell) => /^\d{0,4}$/.test(cell))) return;
  throw new UnclearFile(
    'CSV_NO_AMOUNT_COLUMN',
    `Line ${firstCells.header.line}: "${short(amount.name)}" may be a quantity, because it has whole numbers only, and "${short(price)}" has amounts.`,
    `If it is the amount of the order, add ${mapOption('amount', amount.name)}; otherwise name the column that has it, with --map amount=Column.`,
  );
}

/**
 * An amount that adds up to another one with a third, such as the taxes, is not the whole amount of the order. With a discount it
 * adds up to what the order would cost without the discount.
 */
function refusePart(amount: MappedColumn, amounts: readonly string[], firstCells: FirstCells): void {
  const { names, line } = firstCells.header;
  const read = (index: number) => firstCells.cells({ index }).map(unitsIn);
  const [own, others] = [read(amount.index), amounts.map((name) => ({ name, cells: read(names.indexOf(name)) }))];
  const isPart = ({ name, cells }: (typeof others)[number]) =>
    !isDiscount(name) && cells.some((cell) => cell) && cells.every((cell = 0n) => cell >= 0n);
  const parts = others.filter(isPart);
  for (const { name, cells } of others) {
    const isWhole = (part: readonly (bigint | undefined)[]) =>
      own.every((cell, row) => cell === undefined || cell + (part[row] ?? 0n) === (cells[row] ?? 0n));
    const part = parts.find((one) => isWhole(one.cells));
    if (part === undefined) continue;
    throw new UnclearFile(
      'CSV_NO_AMOUNT_COLUMN',
      `Line ${line}: "${short(amount.name)}" may not be the whole amount of the order, because it and "${short(part.name)}" add up to "${short(name)}".`,
      `If it is, add ${mapOption('amount', amount.name)}; otherwise add ${mapOption('amount', name)}.`,
    );
  }
}

/** What a marketplace pays out is not what the customer pays. */
function refuseRest({ name, index }: MappedColumn, amounts: readonly string[], firstCells: FirstCells): void {
  const { names, line } = firstCells.header;
  const read = (at: number) => firstCells.cells({ index: at }).map((cell) => unitsIn(cell) ?? 0n);
  const own = read(index);
  const others = amounts.map((one) => ({ one, cells: read(names.indexOf(one)) }));
  const fee = others.find(({ one, cells }) => isFee(one) && cells.some((cell) => cell < 0n));
  if (!fee) return;
  const isMore = (cells: readonly bigint[]) =>
    cells.every((cell, row) => (fee.cells[row] ?? 0n) >= 0n || cell > (own[row] ?? 0n));
  const whole = others.find(({ one, cells }) => likelyAmount([one]) !== undefined && isMore(cells));
  if (!whole) return;
  throw new UnclearFile(
    'CSV_NO_AMOUNT_COLUMN',
    `Line ${line}: "${short(name)}" may be what is left after "${short(fee.one)}", because "${short(whole.one)}" has larger amounts.`,
    `If it is the amount of the order, add ${mapOption('amount', name)}; otherwise name the column that has it, with --map amount=Column.`,
  );
}

/** Some programs export an amount twice: in cents for programs, and as people read it. */
function refuseCents(amount: MappedColumn, amounts: readonly string[], firstCells: FirstCells): void {
  const { names, line } = firstCells.header;
  const read = (index: number) => firstCells.cells({ index }).map(unitsIn);
  const cents = read(amount.index);
  const isHundredth = (other: bigint | undefined, row: number) => other === undefined || other * 100n === cents[row];
  const whole = amounts.find((name) => {
    const others = read(names.indexOf(name));
    return others.some((other) => other) && others.every(isHundredth);
  });
  if (whole === undefined) return;
  throw new UnclearFile(
    'CSV_NO_AMOUNT_COLUMN',
    `Line ${line}: "${short(amount.name)}" may have the amounts in cents, because "${short(whole)}" has a hundredth of each.`,
    `If it has, add ${mapOption('amount', whole)}; otherwise add ${mapOption('amount', amount.name)}.`,
  );
}

/** The price of one piece is not the amount of an order of three. */
function refusePrice({ name, how }: MappedColumn, others: readonly string[], firstCells: FirstCells): void {
  const { names, line } = firstCells.header;
  if (how !== 'synonym' || !isPrice(name)) return;
  const index = names.findIndex(isQuantity);
  if (index === -1 || firstCells.cells({ index }).every((cell) => /^(?:1(?:[.,]0+)?)?$/.test(cell))) return;
  const instead =
    others.length === 0 ? 'add a column with the amounts' : `add ${mapOption('amount', likelyAmount(others))}`;
  throw new UnclearFile(
    'CSV_NO_AMOUNT_COLUMN',
    `Line ${line}: "${short(name)}" may be the price of one piece, because "${short(names[index] ?? '')}" has quantities.`,
    `If it is the amount of the order, add ${mapOption('amount', name)}; otherwise ${instead}.`,
  );
}

function columnsWith(names: readonly string[]): string {
  return names.length === 1 ? `the column ${listColumns(names)} has` : `the columns ${listColumns(names)} have`;
}
