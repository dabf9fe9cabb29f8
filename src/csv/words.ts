/** The words of a column's name. */

/** `KundenName`, `Kunden_name` and `kunden-name ` become the same words; accents and punctuation are ignored. */
export function plainWords(name: string): string {
  return name
    .slice(0, 200)
    .replace(ENDING, '')
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[ßæœøłđı]/g, (letter) => SPELT[letter] ?? letter)
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .replace(/\bn o\b/, 'no') // of "N.º"
    .replace(CUSTOMER, '$1 ');
}

/** The customer, in languages that put no spaces between words: as in `注文者メールアドレス` and `구매자전화번호`. */
const CUSTOMER = new RegExp(
  `^(${'注文者|購入者|顧客|买家|買家|客户|客戶|구매자|주문자|고객'.normalize('NFKD')})(?=\\p{L})`,
  'u',
);
/** `Guest name(s)` and `Comprador(a)` */
const ENDING = /(?<=\p{L})\((?:s|es|e|n|en|in|a|as)\)/giu;

/** Letters that are not a letter of ASCII and an accent. */
const SPELT: Readonly<Record<string, string>> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ı: 'i' };

/** `Número de pedido`, `Gesamtsumme der Bestellung` and `e-mail de l’acheteur` without the words between the others. */
export function withoutSmall(words: string): string {
  return words.replace(SMALL_WORDS, '').replace(/ +/g, ' ').trim();
}

const SMALL_WORDS = /\b(?:de|del|la|le|les|l|d|du|des|do|da|di|dell?a?|der|van|the|of)\b/g;
