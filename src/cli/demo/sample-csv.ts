/** A file of orders as a spreadsheet in Germany saves one, made from the sample workspace, with what goes wrong in real ones. */
import type { Queryable } from '../../engine/ledger/runs.ts';

export interface SampleCsv {
  /** Windows-1252, semicolons, decimal commas. */
  readonly bytes: Buffer;
  readonly rows: number;
}

interface SampleCustomer {
  readonly name: string;
  readonly email: string;
}

const PRODUCTS = ['Schrauben M4', 'Wartung', 'Schulung "Grundlagen"', 'Gehäuse, blau', 'Kabel 10 m'];

/** Rows that cannot be loaded as they are, each for a reason of its own. */
const BAD_ROWS = [
  'R-9001;niemand@example.invalid;Nadja Niemand;Wartung;120,00 €',
  'R-9002;;;Wartung;80,00 €',
  'R-9003;{email};{name};Schulung;zwölf',
  'R-1001;{email};{name};Wartung;999,00 €', // the number of an order above, for something else
];

export async function sampleCsv(db: Queryable, tenantId: number, rows: number): Promise<SampleCsv> {
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
  return { bytes: Buffer.from(Buffer.from(`${all.join('\r\n')}\r\n`, 'latin1').map(euroSign)), rows: all.length - 1 };
}

/** Customers that one name and one e-mail tell apart, in letters that the file's encoding has. */
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
/** Latin-1 has no €, and makes 0xAC of it; Windows-1252 has it at 0x80. No name in the sample has a ¬. */
const euroSign = (byte: number) => (byte === 0xac ? 0x80 : byte);
