/** A file of orders in the form of a German spreadsheet, made from the sample workspace, with errors that real files have. */
import type { Queryable } from '../../storage/queryable.ts';

interface SampleCustomer {
  readonly name: string;
  readonly email: string;
}

const PRODUCTS = ['Schrauben M4', 'Wartung', 'Schulung "Grundlagen"', 'Gehäuse, blau', 'Kabel 10 m'];

/** Rows that cannot be loaded, each for a different reason. */
const BAD_ROWS = [
  'R-9001;niemand@example.invalid;Nadja Niemand;Wartung;120,00 €',
  'R-9002;;;Wartung;80,00 €',
  'R-9003;{email};{name};Schulung;zwölf',
  'R-1001;{email};{name};Wartung;999,00 €', // the number of an order above, for something else
];

/** Windows-1252, semicolons, decimal commas. */
export async function sampleCsv(db: Queryable, tenantId: number, rows: number): Promise<Buffer> {
  const customers = await customersOf(db, tenantId);
  const customer = (n: number) => customers[n % customers.length] ?? { name: '', email: '' };
  const lines = Array.from({ length: rows }, (_, n) => {
    const { name, email } = customer(n * 7);
    const euros = 20 + ((n * 37) % 1_980);
    const product = PRODUCTS[n % PRODUCTS.length] ?? '';
    return [`R-${1_001 + n}`, email, name, quoted(product), `${thousands(euros)},${10 + (n % 90)} €`].join(';');
  });
  const bad = BAD_ROWS.map((line) => line.replace('{email}', customer(0).email).replace('{name}', customer(0).name));
  const all = ['Bestell-Nr.;E-Mail des Kunden;Name des Kunden;Artikel;Betrag', ...lines, lines[1] ?? '', ...bad];
  return Buffer.from(Buffer.from(`${all.join('\r\n')}\r\n`, 'latin1').map(euroSign));
}

/** Customers with a unique e-mail whose name the file's encoding can represent. */
async function customersOf(db: Queryable, tenantId: number): Promise<readonly SampleCustomer[]> {
  const found = await db.query<SampleCustomer>(
    `with customer as (
       select id, fields->>'full_name' as name, fields->>'email' as email,
         count(*) over (partition by lower(trim(fields->>'email'))) as sharing
       from service.customers where tenant_id = $1 and fields->>'email' like '%@%'
     )
     select name, email from customer where sharing = 1 and name ~ '^[ -~À-ÿ]+$' order by id limit 200`,
    [tenantId],
  );
  return found.rows;
}

const thousands = (value: number) => String(value).replace(/\B(?=(\d{3})+$)/g, '.');
const quoted = (text: string) => (/[";]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
/** Latin-1 has no € and encodes it as 0xAC; Windows-1252 has it at 0x80. No name in the sample has a ¬ (0xAC). */
const euroSign = (byte: number) => (byte === 0xac ? 0x80 : byte);
