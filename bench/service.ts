/** The embedded service alone: how much it creates, gets, lists and finds in a second, and the CPU per call (service + Postgres). */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type pg from 'pg';
import { openDatabase } from '../src/storage/open.ts';
import { postmasterOf } from '../test/support/processes.ts';
import { familyCpuMs } from './cost.ts';
import { figuresOf, openBenchService, run } from './processes.ts';
import type { ServiceFigures, ServiceLoad } from './service-client-process.ts';
import type { Row } from './table.ts';

const TENANT = { name: 'bench', key: 'the-key-of-the-benchmark' };
const CONTACTS = 10_000;
const MANY_CONTACTS = 1_000_000;
const TRIAL_MS = 5_000;
const SEARCHES_AT_ONCE = 2;

interface Measured extends ServiceFigures {
  /** CPU per call, in microseconds; NaN if the system does not report it. */
  readonly serviceCpu: number;
  readonly postgresCpu: number;
}

type Call = (load: Omit<ServiceLoad, 'url' | 'key' | 'forMs'>) => Promise<Measured>;

/** Creates, gets, pages of 100 and searches a second, 16 and 64 at a time. */
export async function service(): Promise<readonly Row[]> {
  return withService(CONTACTS, async (pool, call) => {
    const customers = await idsOf(pool, 'customers');
    const contacts = await idsOf(pool, 'contacts');
    const words = await wordsOf(pool);
    const rows: Row[] = [];
    for (const concurrency of [16, 64]) {
      const orders = await call({ call: 'orders', concurrency, ids: customers });
      rows.push(rowOf(`orders created a second, ${concurrency} at a time`, 6_000, orders));
      const created = await call({ call: 'contacts', concurrency });
      rows.push(rowOf(`contacts created a second, ${concurrency} at a time`, 6_000, created));
      await pool.query(`delete from service.contacts where id <> all ($1::bigint[])`, [contacts]);
      await pool.query('vacuum analyze');
    }
    const gets = await call({ call: 'gets', concurrency: 16, ids: contacts });
    rows.push(rowOf('contacts got a second, 16 at a time', 8_700, gets));
    const pages = await call({ call: 'pages', concurrency: 16, ids: contacts });
    rows.push(rowOf('pages of 100 contacts a second, 16 at a time', 1_130, pages));
    for (const [kind, found] of Object.entries(words)) {
      const searches = await call({ call: 'searches', concurrency: 16, words: found });
      rows.push(rowOf(`searches by ${kind} a second among ${CONTACTS}, 16 at a time`, 316, searches));
    }
    return rows;
  });
}

/** How long a search takes among so many contacts; default a million. */
export async function serviceSearch(contacts = MANY_CONTACTS): Promise<readonly Row[]> {
  return withService(0, async (pool, call) => {
    await pool.query(fillSql, [contacts]);
    await pool.query('vacuum analyze service.contacts');
    const rows: Row[] = [];
    for (const [kind, words] of Object.entries(await wordsOf(pool))) {
      const searches = await call({ call: 'searches', concurrency: SEARCHES_AT_ONCE, words });
      rows.push({
        what: `search by ${kind} among ${contacts} contacts, ${SEARCHES_AT_ONCE} at a time: p95`,
        wanted: '< 50 ms',
        got: `${searches.p95Ms.toFixed(1)} ms, median ${searches.p50Ms.toFixed(1)} ms; CPU ${searches.serviceCpu.toFixed(0)} + ${searches.postgresCpu.toFixed(0)} µs`,
        isMet: searches.p95Ms < 50,
      });
    }
    return rows;
  });
}

/** Like real people: some share a name, and each has an own e-mail and phone. */
const fillSql = `
  insert into service.contacts (tenant_id, fields, folded)
  select t.id, fields, jsonb_build_object('first_name', lower(fields->>'first_name'), 'last_name',
    lower(fields->>'last_name'), 'email', fields->'email', 'phone', fields->'phone')
  from service.tenants t, generate_series(1, $1::int) n, lateral (select
    'F' || substr(md5('f' || n % 397), 1, 5) as first, 'L' || substr(md5('l' || n % 1009), 1, 7) as last) name,
  lateral (select jsonb_build_object('first_name', first, 'last_name', last,
    'email', lower(first || '.' || last || n || '@example.org'), 'phone', '+49 30 ' || 1000000 + n,
    'organization', 'Organization ' || n % 5000, 'category', 'lead', 'by_email', true) as fields) made
  order by n`;

async function withService<T>(contacts: number, work: (pool: pg.Pool, call: Call) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-bench-'));
  const { service, ask } = await openBenchService(dir);
  const database = await openDatabase({ url: 'embedded', dataDir: path.join(dir, 'service'), maxConnections: 1 });
  try {
    const { url = '' } = await ask({ start: {} });
    await ask({ seed: { ...TENANT, contacts } });
    const [pid = 0, postmaster] = [service.pid, postmasterOf(path.join(dir, 'service'))];
    return await work(database.pool, async (load) => {
      const whole: ServiceLoad = { ...load, url, key: TENANT.key, forMs: TRIAL_MS };
      const before = { service: await familyCpuMs(pid), postgres: await familyCpuMs(postmaster) };
      const figures = await figuresOf<ServiceFigures>(run('service-client-process', [JSON.stringify(whole)]));
      const perCall = async (of: number, beforeMs: number) =>
        (((await familyCpuMs(of)) - beforeMs) * 1_000) / figures.calls;
      return {
        ...figures,
        serviceCpu: await perCall(pid, before.service),
        postgresCpu: await perCall(postmaster, before.postgres),
      };
    });
  } finally {
    await database.close();
    service.disconnect();
    await once(service, 'exit');
    await rm(dir, { recursive: true, force: true });
  }
}

async function idsOf(pool: pg.Pool, table: 'contacts' | 'customers'): Promise<number[]> {
  const { rows } = await pool.query<{ id: number }>(`select id from service.${table} order by id`);
  return rows.map(({ id }) => id);
}

/** Search terms, each taken from a contact at a regular interval. */
async function wordsOf(pool: pg.Pool): Promise<Readonly<Record<string, string[]>>> {
  const { rows } = await pool.query<{ full: string; last: string; email: string; phone: string }>(
    `select concat_ws(' ', fields->>'first_name', fields->>'last_name') as full, fields->>'last_name' as last,
       fields->>'email' as email, fields->>'phone' as phone
     from service.contacts where id % (select greatest(1, count(*) / 500) from service.contacts) = 0
       and fields->>'email' <> '' and fields->>'phone' <> ''`,
  );
  return {
    'e-mail': rows.map(({ email }) => email),
    'part of the e-mail': rows.map(({ email }) => email.slice(2, 16)),
    'full name': rows.map(({ full }) => full),
    'last name': rows.map(({ last }) => last),
    phone: rows.map(({ phone }) => phone),
    'last 6 characters of the phone': rows.map(({ phone }) => phone.slice(-6)),
  };
}

function rowOf(what: string, wanted: number, { perSecond, p95Ms, serviceCpu, postgresCpu }: Measured): Row {
  return {
    what,
    wanted: `≥ ${wanted}`,
    got: `${perSecond.toFixed(0)}; p95 ${p95Ms.toFixed(1)} ms; CPU ${serviceCpu.toFixed(0)} + ${postgresCpu.toFixed(0)} µs`,
    isMet: perSecond >= wanted,
  };
}
