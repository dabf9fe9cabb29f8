/**
 * A sample workspace for trying everything: two tenants like those of a real CRM, the same on every machine. It is
 * written in bulk and not through the API, so it is not in the commit log.
 */
import type pg from 'pg';
import { createPipeline } from '../administration.ts';
import { foldedContact } from '../store/contact-search.ts';
import { migrateService } from '../store/migrations.ts';
import { type SqlId, type TenantDb, tenantDb } from '../store/tenant-db.ts';
import { createKey, ensureTenant } from '../tenants.ts';
import { pick, randomFrom } from './random.ts';
import { type SampleContact, sampleContacts } from './sample/contacts.ts';
import { CUSTOMER_EVERY, sampleCustomers, sampleOrders, sampleSteps, sampleTasks } from './sample/trade.ts';

export interface SeedOptions {
  /**
   * Number of contacts of the first tenant, default 2,000; each other tenant gets a tenth. Customers, orders and tasks
   * depend on it.
   */
  readonly contacts?: number;
  /** Default 1. */
  readonly seed?: number;
  /** Default: two tenants. An empty one gets a new key, unless one is given. */
  readonly tenants?: readonly { readonly name: string; readonly key?: string }[];
}

export interface SeedCounts {
  readonly contacts: number;
  readonly customers: number;
  readonly orders: number;
  readonly tasks: number;
  readonly subtasks: number;
  readonly pipelines: number;
  readonly cards: number;
}

export interface SeededTenant {
  /** `present`: the tenant already had contacts and was not changed. */
  readonly status: 'seeded' | 'present';
  readonly id: number;
  readonly name: string;
  /** Undefined if it was present, and none was given. */
  readonly key: string | undefined;
  /** The tenant's records now. */
  readonly counts: SeedCounts;
}

const SAMPLE_TENANTS: NonNullable<SeedOptions['tenants']> = [{ name: 'Harbour Street' }, { name: 'Mill Lane' }];
const BATCH_ROWS = 5_000;
const MAX_CARDS = 40;

/** Fills empty tenants, each in one transaction, so an interrupted seeding leaves no partly filled tenant. */
export async function seedWorkspace(
  pool: pg.Pool,
  options: SeedOptions = {},
): Promise<{ readonly tenants: SeededTenant[] }> {
  const { contacts = 2_000, seed = 1, tenants = SAMPLE_TENANTS } = options;
  await migrateService(pool);
  const seeded: SeededTenant[] = [];
  for (const [index, { name, key }] of tenants.entries()) {
    const { id } = await ensureTenant(pool, name);
    const isEmpty = (await countsOf(pool, id)).contacts === 0;
    const made = isEmpty || key !== undefined ? await createKey(pool, id, { label: 'sample', key }) : undefined;
    const share = index === 0 ? contacts : Math.ceil(contacts / 10);
    if (isEmpty) await fillTenant(pool, id, share, randomFrom(seed + index));
    seeded.push({ status: isEmpty ? 'seeded' : 'present', id, name, key: made?.key, counts: await countsOf(pool, id) });
  }
  return { tenants: seeded };
}

async function fillTenant(pool: pg.Pool, tenantId: number, count: number, random: () => number): Promise<void> {
  const { titles, contactIds } = await tenantDb(pool, tenantId).transaction(async (db) => {
    const tenth: SampleContact[] = []; // the contacts that are already customers; the others need not be kept in memory
    const contactIds = await insertRows(db, 'contacts', contactRows(count, random, tenth));
    const customers = await insertRows(db, 'customers', rowsOf(sampleCustomers(tenth, random)));
    await insertRows(db, 'orders', orderRows(customers, random));
    const tasks = await insertRows(db, 'tasks', rowsOf(sampleTasks(Math.ceil(count / 20), random)));
    await insertRows(db, 'subtasks', stepRows(tasks, random));
    const titles = tenth.slice(0, MAX_CARDS).map((contact) => `Offer for ${contact.organization ?? contact.last_name}`);
    return { titles, contactIds };
  });
  const cards = titles.map((title, index) => ({ title, contactId: contactIds[index * CUSTOMER_EVERY] ?? 0 }));
  const columns = ['Lead', 'Qualified', 'Proposal', 'Won', 'Lost'].map((name) => ({ name, cards: [] as typeof cards }));
  for (const card of cards) pick(random, columns).cards.push(card);
  await createPipeline(pool, tenantId, { name: 'Sales', columns });
}

/** A record's fields, and the second column that some tables have: the search text of a contact, or the id of a parent. */
type Row = readonly [fields: object, second?: object | number];

function* contactRows(count: number, random: () => number, tenth: SampleContact[]): Generator<Row> {
  let index = 0;
  for (const contact of sampleContacts(count, random)) {
    if (index++ % CUSTOMER_EVERY === 0) tenth.push(contact);
    yield [contact, foldedContact(contact)];
  }
}

function* orderRows(customers: readonly number[], random: () => number): Generator<Row> {
  for (const { customer, fields } of sampleOrders(customers.length, random)) yield [fields, customers[customer] ?? 0];
}

function* stepRows(tasks: readonly number[], random: () => number): Generator<Row> {
  for (const task of tasks) for (const step of sampleSteps(random)) yield [step, task];
}

function* rowsOf(records: Iterable<object>): Generator<Row> {
  for (const record of records) yield [record];
}

const insertSql = {
  contacts: inserting('contacts', ', folded', ', value->1'),
  customers: inserting('customers'),
  orders: inserting('orders', ', client_id', ', (value->>1)::bigint'),
  tasks: inserting('tasks'),
  subtasks: inserting('subtasks', ', task_id', ', (value->>1)::bigint'),
} as const;

function inserting(table: string, column = '', value = ''): string {
  return `insert into service.${table} (tenant_id, fields${column})
          select $1, value->0${value} from jsonb_array_elements($2::jsonb) with ordinality row (value, at) order by at
          returning id`;
}

/** The new records' ids, in the order of the rows. */
async function insertRows(db: TenantDb, table: keyof typeof insertSql, rows: Iterable<Row>): Promise<number[]> {
  const ids: number[] = [];
  let batch: Row[] = [];
  const flush = async (): Promise<void> => {
    const made = await db.query<{ id: SqlId }>(insertSql[table], [JSON.stringify(batch)]);
    for (const { id } of made) ids.push(Number(id));
    batch = [];
  };
  for (const row of rows) {
    batch.push(row);
    if (batch.length === BATCH_ROWS) await flush();
  }
  if (batch.length > 0) await flush();
  return ids;
}

async function countsOf(pool: pg.Pool, tenantId: number): Promise<SeedCounts> {
  const tables = ['contacts', 'customers', 'orders', 'tasks', 'subtasks', 'pipelines', 'cards'] as const;
  const counted = tables.map(
    (table) => `(select count(*) from service.${table} where tenant_id = $1)::int as ${table}`,
  );
  const [counts] = await tenantDb(pool, tenantId).query<SeedCounts & pg.QueryResultRow>(`select ${counted.join(', ')}`);
  return counts ?? { contacts: 0, customers: 0, orders: 0, tasks: 0, subtasks: 0, pipelines: 0, cards: 0 };
}
