/**
 * Which customers of a list a load asks for, as a compact filter: of a million customers only ten may belong to its rows, and
 * the others need not be sent to the database. It lets through every customer that a row may mean, and a few others.
 */
import type pg from 'pg';
import { KeyFilter } from '../../client/lists/key-filter.ts';
import type { SeenCustomer } from '../../engine/ledger/match-index.ts';
import { customerNames } from '../../engine/ledger/matching/order-customers.ts';
import type { Run } from '../../engine/ledger/runs.ts';
import type { MatchKey } from '../../settings/schema-sync.ts';

/** The first customers of the list are always kept: they show what ids look like there. */
const EXAMPLES = 10;

type Names = { readonly id?: string | null } & {
  readonly [K in MatchKey]?: string | null | undefined;
};

export async function openWantedCustomers(pool: pg.Pool, run: Run): Promise<(customer: SeenCustomer) => boolean> {
  const filter = new KeyFilter();
  for await (const names of customerNames(pool, run)) for (const text of textsOf(names)) filter.add(text);
  let examples = 0;
  return (customer) =>
    examples++ < EXAMPLES || textsOf({ ...customer, id: customer.recordId }).some((text) => filter.has(text));
}

/** A spreadsheet may have added leading zeros to a customer's number. */
function textsOf({ id, email, phone, name }: Names): readonly string[] {
  const texts: string[] = [];
  if (id) texts.push(`id ${id.replace(/^0+(?=[1-9][0-9]*$)/, '')}`);
  if (email) texts.push(`email ${email}`);
  if (phone) texts.push(`phone ${phone}`);
  if (name) texts.push(`name ${name}`);
  return texts;
}
