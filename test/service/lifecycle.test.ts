import pino from 'pino';
import { request } from 'undici';
import { afterAll, expect, test, vi } from 'vitest';
import { startService } from '../../src/service/server.ts';
import { PATIENT } from '../support/patient.ts';
import { startedService } from './started-service.ts';

const at = await startedService();
afterAll(() => at.close());

test('closing finishes the request in flight, refuses the next, and can be requested twice', async () => {
  const other = await at.another({ latencyMs: 60_000 });
  const pending = other.call('customers.create', { body: { full_name: 'In flight' } });
  await vi.waitFor(() => expect(other.service.traffic.total()).toBe(1), PATIENT);
  const startedAt = performance.now();
  await Promise.all([other.service.close(), other.service.close()]);
  expect(performance.now() - startedAt).toBeLessThan(4_500); // not by the grace period's end
  expect((await pending).status).toBe(200);
  await expect(other.call('orders.getall')).rejects.toThrow(/ECONNREFUSED/);
});

test('services may start at once over an empty database, and see the same records', async () => {
  await at.pool.query('drop schema service cascade; drop table public.lockstep_migrations');
  const services = await Promise.all([at.another({}), at.another({}), at.another({})]);
  await services[0].content('customers.create', { body: { full_name: 'Shared' } });
  expect(await services[2].content('customers.getall')).toMatchObject([{ full_name: 'Shared' }]);
});

test('a caller who leaves in the middle of a long list does not harm the service', async () => {
  await at.pool.query(
    `insert into service.customers (tenant_id, fields) select id, '{"full_name": "Many"}' from service.tenants, generate_series(1, 20000)`,
  );
  const abort = new AbortController();
  const headers = { API_KEY: at.key };
  const { body } = await request(`${at.url}/api/v1/customers/getall`, { headers, signal: abort.signal });
  await body[Symbol.asyncIterator]().next();
  abort.abort();
  await vi.waitFor(async () => {
    const { rows } = await at.pool.query(
      "select count(*)::int as n from pg_stat_activity where state = 'active' and query ~ 'string_agg'",
    );
    expect(rows[0].n).toBeLessThanOrEqual(1); // this very query
  }, PATIENT);
  expect(await at.content('customers.getall')).toHaveLength(20_001);
});

test('an unexpected error is logged once, and the key never', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) });
  const service = await startService({ pool: at.pool, log });
  await at.pool.query('alter table service.orders rename to gone');
  for (const key of [at.key, 'canary-key']) {
    const answer = await request(`${service.url}/api/v1/orders/getall?API_KEY=${key}`, { headers: { API_KEY: key } });
    await answer.body.dump();
  }
  await service.close();
  await at.pool.query('alter table service.gone rename to orders');
  expect(lines.filter((line) => line.includes('unexpected error'))).toHaveLength(1);
  expect(lines.join('')).not.toMatch(new RegExp(`${at.key}|canary-key`));
});
