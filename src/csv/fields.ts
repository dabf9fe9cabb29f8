/** The fields that a row of orders may fill, and common column headers for them. */

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

/** A row must identify its customer by one of these. */
export const CUSTOMER_REFERENCES = ['client_id', 'customer_email', 'customer_phone', 'customer_name'] as const;

/** Names of a column with the currency of the amounts, written as SYNONYMS are. It fills no field: an order has no currency. */
export const CURRENCY_NAMES: readonly string[] = [
  ...[
    'currency',
    'currency code',
    'order currency',
    'wahrung',
    'wahrungscode',
    'moneda',
    'divisa',
    'devise',
    'monnaie',
  ],
];

/** A column may fill both: the field that identifies the customer, and the field for creating one. */
export const SHARED: readonly (readonly [reference: Field, creation: Field])[] = [
  ['customer_email', 'email'],
  ['customer_phone', 'phone_number'],
  ['customer_name', 'full_name'],
];

/** English, German, Spanish, French; without accents, in lower case, with spaces between words (see `plainWords`). */
export const SYNONYMS: Readonly<Record<Field, readonly string[]>> = {
  order_id: [
    ...['order', 'order no', 'order nr', 'order number', 'order num', 'order ref', 'order reference', 'order label'],
    ...['reference', 'ref', 'po number', 'purchase order', 'bestellnummer', 'bestell nr', 'bestellung', 'bestell id'],
    ...['auftragsnummer', 'auftrags nr', 'auftrag', 'auftrags id', 'belegnummer', 'pedido', 'numero de pedido'],
    ...['n pedido', 'id pedido', 'id de pedido', 'referencia', 'commande', 'numero de commande', 'n commande'],
    ...['no commande', 'id commande', 'reference commande'],
  ],
  description: [
    ...['desc', 'details', 'item', 'items', 'product', 'note', 'notes', 'comment', 'memo', 'order description'],
    ...['beschreibung', 'bezeichnung', 'bemerkung', 'artikel', 'notiz', 'verwendungszweck', 'descripcion', 'detalle'],
    ...['concepto', 'producto', 'notas', 'designation', 'libelle', 'detail', 'produit', 'remarque'],
  ],
  amount: [
    ...['total price', 'total collected', 'gross', 'nettowert'],
    ...['order total amount', 'total paid', 'amount paid', 'order total inc tax', 'order total incl tax'],
    ...['total', 'total amount', 'order amount', 'order total', 'grand total', 'price', 'value', 'sum', 'amt'],
    ...['betrag', 'summe', 'gesamtbetrag', 'gesamtsumme', 'rechnungsbetrag', 'preis', 'wert', 'umsatz', 'importe'],
    ...['monto', 'precio', 'importe total', 'montant', 'montant total', 'prix', 'somme'],
  ],
  status: [
    ...['transaction status', 'gesamtstatus'],
    ...['order status', 'order state', 'stage', 'zustand', 'bestellstatus', 'auftragsstatus', 'estado'],
    ...['estado del pedido', 'estado pedido', 'statut', 'etat', 'statut commande', 'statut de la commande'],
  ],
  client_id: [
    ...['customer id', 'client no', 'client number', 'customer no', 'customer nr', 'customer number'],
    ...['kundennummer', 'kunden nr', 'kunden id', 'id cliente', 'id de cliente', 'cliente id'],
    ...['numero de cliente', 'n cliente', 'numero client', 'numero de client', 'no client', 'id client'],
    ...['id du client'],
  ],
  customer_email: [
    ...['client email', 'customer e mail', 'client e mail', 'customer mail', 'buyer email', 'kunden email'],
    ...['kunden e mail', 'kundenemail', 'e mail des kunden', 'email cliente', 'correo del cliente', 'email client'],
    ...['email du client', 'courriel du client', 'courriel client'],
  ],
  customer_phone: [
    ...['client phone', 'customer phone number', 'client phone number', 'customer tel', 'customer telephone'],
    ...['buyer phone', 'kundentelefon', 'kunden telefon', 'telefono cliente', 'telefono del cliente'],
    ...['telephone client', 'telephone du client'],
  ],
  customer_name: [
    ...['client name', 'customer full name', 'buyer name', 'kundenname', 'kunden name', 'name des kunden'],
    ...['nombre cliente', 'nombre del cliente', 'nom client', 'nom du client'],
  ],
  full_name: [
    ...['name', 'contact name', 'contact', 'vollstandiger name', 'ansprechpartner', 'nombre', 'nombre completo'],
    ...['nom', 'nom complet'],
  ],
  email: [
    ...['e mail', 'mail', 'email address', 'e mail address', 'e mail adresse', 'email adresse', 'mailadresse'],
    ...['correo', 'correo electronico', 'courriel', 'adresse email', 'adresse e mail'],
  ],
  phone_number: [
    ...['phone', 'phone no', 'telephone', 'telephone number', 'tel', 'mobile', 'mobile number', 'cell', 'telefon'],
    ...['telefonnummer', 'handy', 'mobil', 'rufnummer', 'telefono', 'numero de telefono', 'movil', 'portable'],
    ...['numero de telephone'],
  ],
  organization: [
    ...['organisation', 'company', 'company name', 'firm', 'business', 'firma', 'firmenname', 'unternehmen'],
    ...['empresa', 'compania', 'razon social', 'entreprise', 'societe', 'raison sociale'],
  ],
  gender: ['sex', 'geschlecht', 'genero', 'sexo', 'genre', 'sexe'],
  picture_url: [
    ...['picture', 'photo', 'photo url', 'image', 'image url', 'avatar', 'avatar url', 'bild', 'bild url', 'foto'],
    ...['foto url', 'imagen', 'url imagen', 'url photo'],
  ],
};
