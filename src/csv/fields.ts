/** The fields that a row of orders may fill, and common column headers for them. */
import { plainWords } from './words.ts';

/** Fields of the order, then the fields that identify its customer, then the fields for creating a customer. */
export const FIELDS = [
  'order_id',
  'description',
  'amount',
  'status',
  'client_id',
  'customer_email',
  'customer_phone',
  'customer_name',
  'full_name',
  'email',
  'phone_number',
  'organization',
  'gender',
  'picture_url',
] as const;
export type Field = (typeof FIELDS)[number];

export type Values = Partial<Record<Field, string>>;
/** Values by field, as text; amounts are exact decimals (-1234.5). */
export type OrderValues = Readonly<Values>;

/** A row must identify its customer by one of these. */
export const CUSTOMER_REFERENCES = ['client_id', 'customer_email', 'customer_phone', 'customer_name'] as const;

/** The words of the names in a list that separates them by commas. */
export function names(list: string): readonly string[] {
  return list.split(',').map(plainWords);
}

/** Names of a column with the currency of the amounts, written as SYNONYMS are. It fills no field: an order has no currency. */
export const CURRENCY_NAMES: readonly string[] = names(`
    currency, currency code, order currency, order currency code, wahrung, wahrungscode, moneda, divisa,
    devise, monnaie, amount currency, order amount currency, opportunity currency, transaction currency, payment currency,
    currency iso, currency iso code, ccy, curr, wahrg, waehrung, wkz, wkz umsatz, waluta, moeda`);

/** Names of a column that tells orders from refunds, written as SYNONYMS are. */
export const KIND_NAMES: readonly string[] = names(`
    type, order type, transaction type, event type, document type, debit credit, typ, art, belegart,
    line type, row type, record type, d c, dr cr, credit debit, vorzeichen, sign, belegtyp, receipt type,
    invoice type, documento, tipo de documento, tipo documento, vorgang, s h, soll haben,
    soll haben kennzeichen, soll haben kz, tipo, 收 支`);

/** Names of a column with what was refunded of the order, written as SYNONYMS are. */
export const REFUND_NAMES: readonly string[] = names(`
    refund amount, refunded amount, amount refunded, total refunded, order refund amount, partial refunds,
    erstattungsbetrag, refund, refunds, refunded, voided`);

/** A column may fill both: the field that identifies the customer, and the field for creating one. */
export const SHARED: readonly (readonly [reference: Field, creation: Field])[] = [
  ['customer_email', 'email'],
  ['customer_phone', 'phone_number'],
  ['customer_name', 'full_name'],
];

/**
 * English, German, Spanish, French, and the most common ones in Italian, Dutch, Polish, Portuguese, Swedish, Turkish, Russian,
 * Japanese, Chinese (simplified, traditional) and Korean; without accents, in lower case, with spaces between words (see
 * `plainWords`). Names such as "Buyer e-mail" and "Deal - Value" are made of these and of the words below (see `recognise`).
 */
export const SYNONYMS: Readonly<Record<Field, readonly string[]>> = {
  order_id: names(`
    order, order num, order ref, order reference, order label, sales order, ordre nr, ordre id, sd document,
    sales document, sales doc, bestellung, auftrag, belegnummer, beleg nr, belegfeld 1, verkaufsbeleg, verk beleg, pedido, commande,
    reference commande, ordine,
    номер заказа, 注文番号, 受注番号, 订单编号, 订单号, 訂單編號, 訂單號碼, 주문번호`),
  description: names(`
    desc, item, items, product, product name, item name, title, item title, beschreibung, bezeichnung,
    artikel, verwendungszweck, descripcion, detalle, concepto, producto, designation, produkt,
    nazwa produktu, prodotto, produto, urun, urun adi, libelle, produit, nom produit, nombre producto,
    nome produto, produktname, artikelname,
    товар, наименование, 商品名, 商品名称, 商品名稱, 상품명`),
  amount: names(`
    total, total amount, grand total, total price, sum, amt, total inc tax, total incl tax, betrag, summe,
    gesamtbetrag, gesamtsumme, gesamtpreis, gesamt, endbetrag, rechnungsbetrag, rechnungssumme, bestellsumme,
    bestellwert, auftragswert, importe, importe total, precio total, monto, montant, montant total,
    prix total, somme, total paid, total collected, amount total, totale, importo, total charged,
    amount charged, cart total, totale documento, genel toplam, toplam tutar, totaal, totaalbedrag, totaalprijs, bedrag, suma, razem,
    valor total, kwota, belopp, belop, belob, totalt, toplam, tutar, castka, συνολο,
    сумма, сумма заказа, сумма к оплате, итого, общая стоимость, стоимость заказа, 合計, 合計金額, 請求金額, お支払い合計, お支払い金額,
    支払金額, 总金额, 订单金额, 实付金额, 實付金額, 總金額, 訂單金額, 金額, 金额, 결제금액, 총 결제금액, 총금액, 주문금액, 총 주문금액, 금액`),
  status: names(`
    order state, gesamtstatus, overall status, bestellstatus, auftragsstatus, estado, estado del pedido,
    estado pedido, statut, etat, statut commande, statut de la commande, stato, situacao, durum,
    статус, статус заказа, 注文ステータス, ステータス, 対応状況, 订单状态, 訂單狀態, 주문상태`),
  client_id: names(`
    customer id, client no, client number, customer no, customer nr, customer number, kundennummer,
    kunden nr, kunden id, id cliente, id de cliente, cliente id, numero de cliente, n cliente, no cliente,
    numero client, numero de client, no client, id client, id du client, debitorennummer, debitornummer,
    debitoren nr, debitor nr, deb nr`),
  customer_email: ['kundenemail'],
  customer_phone: ['customer tel', 'kundentelefon'],
  customer_name: names(`
    kundenname, klantnaam, kundnamn, покупатель, клиент, имя клиента, 注文者名, お客様名, 購入者名, 顧客名,
    客户名称, 客戶名稱, 주문자명, 구매자명, 고객명`),
  full_name: names(`
    name 1, contact, contacts, contact person, vollstandiger name, ansprechpartner, nombre completo,
    nom complet, imie i nazwisko, ad soyad, adi soyadi,
    фио, 氏名, お名前, 姓名, 이름`),
  email: names(`
    e mail, mail, email address, e mail address, mail address, e mail adresse, email adresse, mailadresse, correo,
    correo electronico, courriel, adresse email, adresse e mail, e mailadres, e post, e posta,
    электронная почта, почта, メールアドレス, 邮箱, 电子邮件, 電子郵件, 이메일`),
  phone_number: names(`
    phone, telephone, tel, mobile, cell, telefon, handy, mobil, rufnummer, telefono, movil, portable,
    телефон, 電話番号, 电话, 手机, 手机号, 手机号码, 電話, 手機, 전화번호, 연락처, 휴대폰`),
  organization: names(`
    organisation, organization name, company, company name, firm, business, firma, firmenname, unternehmen,
    empresa, compania, razon social, entreprise, societe, raison sociale,
    компания, 会社名, 公司, 公司名称, 公司名稱, 회사명`),
  gender: ['sex', 'geschlecht', 'genero', 'sexo', 'genre', 'sexe'],
  picture_url: names(`
    picture, photo, photo url, image, image url, avatar, avatar url, bild, bild url, foto, foto url, imagen,
    url imagen, url photo`),
};

/** A column that says no more than this may have the name of the customer, or of the order. */
export const NAME_WORDS: readonly string[] = ['name', 'nombre', 'nom', 'nome'];

/** Names of a column with prices: the amount, or what one piece costs. */
export const PRICE_NAMES: readonly string[] = names(`
    price, preis, precio, prix, prezzo, preco, prijs, pris, cena, fiyat, satis fiyati, unit price,
    einzelpreis`);

/** Names that another column of the file may deserve more, the best one first: "Price" is the amount if there is no "Total". */
export const VAGUE_NAMES: Readonly<Partial<Record<Field, readonly string[]>>> = {
  description: names('buchungstext, memo, note, notes, comment, bemerkung, notiz, notas, remarque, detail, details'),
  order_id: names(`
    purchase order, purchase order number, purchase order no, po number, po no, receipt number, receipt no,
    receipt, document number, document no, n piece, no piece, numero piece, numero de piece, invoice, rechnung, factura, facture, fattura, fatura, faktura, factuur,
    sale id, purchase id, record id, merchant reference, reference, ref, referencia, 注文id, 订单id, 주문id`),
  amount: [...names('amount paid, umsatz, umsatz ohne soll haben kz, value, wert, gross, brutto'), ...PRICE_NAMES],
  status: ['stage', 'zustand'],
  full_name: NAME_WORDS,
};

/** Before or after the name of a field of a customer: "Buyer e-mail", "telefono del cliente". */
export const CUSTOMER_PARTS: readonly string[] = names(`
    customer, customers, client, sell to, sold to party, sold to, verk an, buyer, purchase, purchaser, shopper, consumer, backer, guest, cust, kunden, kunde,
    besteller, cliente, comprador, acheteur, kaufer, kaufers, klant, kund, klient, klienta, kupujacy,
    kupujacego, musteri, 注文者, 購入者, 顧客, 买家, 買家, 客户, 客戶, 구매자, 주문자, 고객`);
/** The same; another person may be meant. */
export const PERSON_PARTS: readonly string[] = names(`
    contact, person, payer, billing, bill to, bill, from, contato, contacto, alici, rechnung, rechnungs,
    facturation, facturacion, rechnungsadresse, 請求先, お名前`);
/** The same; the company of the person may be meant. */
export const COMPANY_PARTS: readonly string[] = ['account'];

/** Before or after a number or a field of an order: "Order total", "numero ordine", "total de la commande". */
export const ORDER_NOUNS: readonly string[] = names(`
    order, sales order, bestell, bestellung, auftrag, auftrags, pedido, venta, venda, commande, ordine, bestel,
    bestelling, zamowienia, siparis`);
/** The same; the order may have a number of its own. */
export const BILL_NOUNS: readonly string[] = names(`
    deal, opportunity, quote, quotation, estimate, angebots, devis, invoice, transaction, donation, appointment, confirmation,
    booking, buchungs, reservation, rechnung, rechnungs, factura,
    facture, fattura, fatura, faktura, faktury, factuur`);
