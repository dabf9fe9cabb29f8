/**
 * Which orders and customers of a list a load asks for, as a compact filter: of an account's million orders only ten may be the load's,
 * and the others need not be sent to the database. It lets through every one that the load asks for, and a few others.
 */
import type pg from 'pg';
import { KeyFilter } from '../../client/lists/key-filter.ts';
import type { SeenCustomer } from '../../engine/ledger/match-index.ts';
import { customerNames } from '../../engine/ledger/matching/order-customers.ts';
import { type OrderKey, type SeenOrder, wantedOrders } from '../../engine/ledger/matching/order-records.ts';
import type { Run } from '../../engine/ledger/runs.ts';
import type { MatchKey } from '../../settings/schema-sync.ts';
import type { Queryable } from '../../storage/queryable.ts';

export interface WantedOrders {
  wants(order: Pick<SeenOrder, 'clientId' | 'label'>): boolean;
  /** Whether the order may be one of the load's under another label: it has one of the load's customers, or shows none. */
  isNear(order: Pick<SeenOrder, 'clientId'>): boolean;
  /** Whether the order has a label of the load: a service may give it to another customer, such as a parent company. */
  isNamesake(order: Pick<SeenOrder, 'label'>): boolean;
}

export async function openWantedOrders(
  db: Queryable,
  asking: { readonly run: Run; readonly isAudit: boolean },
): Promise<WantedOrders> {
  const keys = new KeyFilter();
  for await (const page of wantedOrders(db, asking)) {
    for (const key of page) {
      keys.add(textOf(key));
      keys.add(textOf({ clientId: '', label: key.label }));
      keys.add(key.clientId.toLowerCase()); // few of an account's customers have an order in a small load
    }
  }
  return {
    wants: ({ clientId, label }) =>
      clientId !== undefined &&
      label !== '' &&
      keys.has(clientId.toLowerCase()) &&
      keys.has(textOf({ clientId, label })),
    isNear: ({ clientId }) => clientId === undefined || keys.has(clientId.toLowerCase()),
    isNamesake: ({ label }) => label !== '' && keys.has(textOf({ clientId: '', label })),
  };
}

const IS_ASCII = /^[ -~]*$/;

/** Equal for labels that differ only in leading zeros or in spelling: of any label, only ASCII letters and digits count. */
function textOf({ clientId, label }: OrderKey): string {
  const spelled = IS_ASCII.test(label) ? label : label.normalize('NFKC');
  const plain = spelled.toLowerCase().replace(/[^a-z0-9]/g, '');
  return `${/^[0-9]+$/.test(plain) ? plain.replace(/^0+/, '') : plain} ${clientId.toLowerCase()}`;
}

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
