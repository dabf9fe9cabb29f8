/** Which line of a report is no order but the total of others, by its words. */
import type { OrderValues } from './fields.ts';

/** What a total is called, what may be before its name, and what may be behind it. */
const BEFORE = 'order|invoice|grand|sub|sous|overall|report|page|final|gesamt|zwischen|suma|sum[ae]|eind|genel|ara';
const TOTAL = [
  ...[
    'totals?',
    'totaux',
    'totale?s?',
    'totali',
    'totaa?l',
    'totalt',
    'sum(?:me|ma|a)?',
    'somme',
    'gesamt',
    'ergebnis',
  ],
  ...['razem', 'toplam', 'итого', 'всего', '[小総合总]计', '[小総合]計'],
].join('|');
const BEHIND = 'total|amount|orders|sales|due|(?:g[eé]n[eé]|ge)rale?|complessivo|końcowa|final';
/** Averages and counts, which reports have beside totals. */
const OTHERS = '(?:grand )?(?:average|count)|durchschnitt|mittelwert|anzahl|moyenne|promedio';

/** `Total`, `Sub-total`, `Total général :`, `Total for Ann Lee`, `Summe (12 Zeilen)` and `TOTAL EUR` */
const TOTALS = new RegExp(
  `^(?:(?:(?:${BEFORE})[ -]?)?(?:${TOTAL})(?: (?:${BEHIND}))?|${OTHERS})` +
    '(?:\\s*[:(].*| (?:for|of|pour|de|di|f[uü]r|voor|för) .*| (?:eur|usd|gbp|chf))?$',
  'iu',
);

/**
 * No order has such a number, and none is described so; but a customer may be called so, if the row has a number
 * or names the customer by more than a name. `above`: the name in the row above. A spreadsheet adds "Ann Lee Total" below the rows of Ann Lee.
 * Where a row names neither an order nor a customer, its first filled cell may say so, such as below the dates.
 */
export function isTotals(
  { order_id, description, ...values }: OrderValues,
  cells: readonly string[],
  above: string,
): boolean {
  const first = cells.find((cell) => cell.trim() !== '')?.trim();
  const name = isFound(values) ? '' : (values.customer_name ?? first);
  const behind = name?.startsWith(`${above} `) ? name.slice(above.length + 1) : '';
  return [order_id ?? name, description, behind].some((cell) => cell !== undefined && TOTALS.test(cell));
}

/** Whether the row names its customer by more than a name. */
export function isFound({ client_id, customer_email, customer_phone }: OrderValues): boolean {
  return (client_id ?? customer_email ?? customer_phone) !== undefined;
}
