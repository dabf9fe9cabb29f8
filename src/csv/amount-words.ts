/** What the name of a column with amounts says: the whole amount, a part of it, the price of one piece, or a quantity. */
import { names, PRICE_NAMES } from './fields.ts';
import { plainWords } from './words.ts';

const TAX = 'tax|taxes|vat|gst|mw ?st|ust|moms|iva|tva|btw|kdv|dph|impostos?|impuestos?';
/** `Total c/ IVA`, `Order Total (inc tax)` and `Prix TTC` */
const WITH_TAX = new RegExp(
  `\\b(?:ttc|(?:inc|incl|including|inkl|with|c|con|com) (?:\\d+ )?(?:${TAX})|(?:${TAX}) (?:inc|incl|included|incluido|inclus))\\b`,
  'g',
);
const IN_CURRENCY = /\b(?:in )?(?:eur|usd|gbp|chf|pln|sek|euro|dollar|(?:foreign|base|home|local) currency)\b/g;
const GROSS_OR_NET = /\b(?:gross|net|brut|bruto|ht)\b|\b(?:brutto|netto)/g;

/**
 * `amount (EUR)`, `Betrag in €`, `gross amount`, `Bruttobetrag` and `Total c/ IVA`, without what is not the name of an amount;
 * "gross" and "net" are one if there is no other.
 */
export function amountWords(name: string): string {
  const words = plainWords(name).replace(WITH_TAX, '').replace(IN_CURRENCY, '').replace(/ +/g, ' ').trim();
  const amount = words.replace(GROSS_OR_NET, '').replace(/ +/g, ' ').trim() || words;
  return amount.replace(/ in$/, ''); // of "in €"
}

const TAXED = new RegExp(`brutto|${WITH_TAX.source}`);
const UNTAXED = new RegExp(`netto|\\bht\\b|\\b(?:ex|excl|without|s|sin|sem) (?:${TAX})\\b`);
/** Amounts with taxes; not "gross" and "net", which are also before and after a discount. */
export const isTaxed = (name: string) => TAXED.test(plainWords(name));
export const isUntaxed = (name: string) => UNTAXED.test(plainWords(name));

/** Also in languages with no other names of columns here: their whole numbers are amounts, too. */
export const MONEY_WORDS = new RegExp(
  [
    'amount|total|price|value|betrag|summe|preis|wert|umsatz|importe|precio|monto|montant|prix|valor|prezzo|bedrag|belopp?|belob|tutar|fiyat',
    'kwota|cena|osszeg|сум|стоимост|цена|итог|συνολο|ποσο|harga|jumlah|tong tien|gia tri|מחיר|סכום|مبلغ|قيمة|سعر|ราคา|ยอด',
    ...names('金額, 金额, 合計, 合计, 总价, 總價, 总额, 総額, 価格, 价格, 単価, 单价, 單價, 금액, 가격, 합계, 단가'),
    `(?:[額额款]|${plainWords('액')})$`,
  ].join('|'),
);
export const COUNT_WORDS = /quantit|qty|items|count|number|weight|menge|anzahl|cantidad/;

const QUANTITY =
  /^(?:adet|miktar|ilosc|antal|stuck|units|unidades)$|\b(?:quantity|qty|cantidad|quantidade|quantite|qte|quantita|aantal)\b|menge\b|anzahl\b|stuckzahl/;
const PRICES: readonly string[] = [...PRICE_NAMES, 'item price'];

/** `Qty`, `Quantity ordered` and `Bestellmenge` */
export const isQuantity = (name: string) => QUANTITY.test(plainWords(name));
/** The price of one piece where the file has quantities too. */
export const isPrice = (name: string) => PRICES.includes(amountWords(name));

const DISCOUNT = /discount|rabatt?\b|rabatte\b|coupon|voucher|descuento|desconto|remise|sconto|korting|indirim/;
/** What is taken off. */
export const isDiscount = (name: string) => DISCOUNT.test(plainWords(name));

const ADDED = new RegExp(
  `\\b(?:${TAX})\\b|steuer|impuesto|imposto|shipping|postage|versand|envio|livraison|frete|spedizione`,
);
/** Taxes, and what the delivery costs. */
export const isAdded = (name: string) => ADDED.test(plainWords(name));

const FEE =
  /\b(?:fees?|tarifas?|taxas?)\b|commission|comision|comissao|\bcargos?\b|gebuhr|provision|kommission|\bfrais\b/;
/** What a marketplace keeps. */
export const isFee = (name: string) => FEE.test(plainWords(name));

const PAID = /\b(?:paid|collected)\b/;
const DUE = /\b(?:due|balance|outstanding|unpaid|remaining|open)\b/;
/** What was paid of the amount, and what was not. */
export const isPaid = (name: string) => PAID.test(plainWords(name));
export const isDue = (name: string) => DUE.test(plainWords(name));

/** Parts of an amount, what is left of it, prices of one piece, and measures. */
const PART = new RegExp(
  [
    'net|liquid|sub ?tot|sous total|zwischen|\\bht\\b|imponibile|\\b(?:ex|excl|excluding|without|exkl|s|sin|sem|bez) ',
    `\\b(?:${TAX})\\b|steuer|impuesto|imposto|impot|promotion|${DISCOUNT.source}`,
    `${FEE.source}|shipping|versand|freight|\\bfrete?\\b|envio|livraison|spedizione|kargo`,
    'refund|balance|\\bdue\\b|saldo|solde|profit|margin|\\bcost of\\b|rounding',
    '\\bunit|piece|\\brate\\b|\\bper\\b|einzel|birim|(?<!total )price|preis\\b|prix|precio|preco|prezzo|\\bcena\\b|\\bpris\\b|prijs',
    'weight|gewicht|\\bpeso\\b|poids|\\bkg\\b',
    `単価|单价|單價|送料|运费|邮费|運費|手数料|税|稅|优惠|優惠|割引|${plainWords('단가')}|${plainWords('배송비')}`,
  ].join('|'),
);
const WHOLE = /total|totaal|gesamt|summ?[ae]?\b|toplam|razem|合計|合计|总|總|итог|συνολο|tong tien/;

const wholeWords = (name: string) => plainWords(name).replace(WITH_TAX, '');
/** Whether the name says that it is less than the whole amount, or no amount. */
export const isPartOfAmount = (name: string) => PART.test(wholeWords(name));

/**
 * The column that says most surely by its name that it has the whole amount, or the only one that may have it, for an example that
 * can be pasted.
 */
export function likelyAmount(names: readonly string[]): string | undefined {
  const whole = names.filter((name) => !isPartOfAmount(name));
  const isOf = (form: RegExp) => whole.find((name) => form.test(wholeWords(name)));
  return whole.find(isTaxed) ?? isOf(WHOLE) ?? isOf(MONEY_WORDS) ?? (whole.length === 1 ? whole[0] : undefined);
}
