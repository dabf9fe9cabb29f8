/** Many services over one database, and one worker for all: each case has a service, an account and a tenant. */
import { createKey, createTenant } from '../../../src/service/tenants.ts';
import type { BehaviourOptions } from '../../../src/service/testbed/behaviour.ts';
import type { CountedService } from '../traffic.ts';
import { openHarness } from './harness.ts';
import { testWorkspace } from './test-workspace.ts';

/** Of the account, the tenant and the contact sync of a case. */
export const nameOf = (n: number) => `case-${n}`;
export const keyOf = (n: number) => `the-key-of-the-tenant-of-${nameOf(n)}`;

/** `account` and `sync`: YAML beside what differs from case to case, without braces. */
export async function openCases(
  behaviours: readonly BehaviourOptions[],
  { account, sync = '' }: { readonly account: string; readonly sync?: string },
) {
  const harness = await openHarness();
  const { database, dataDir, anotherService } = harness;
  const services: CountedService[] = [];
  for (const behaviour of behaviours) services.push(await anotherService(behaviour));
  const env: Record<string, string> = {};
  const accounts = behaviours.map(({ requiredAuthorization: needed }, n) => {
    env[`KEY_${n}`] = keyOf(n);
    if (needed) env[`TOKEN_${n}`] = needed.token;
    const authorization = needed ? `authorization: { scheme: ${needed.scheme}, env: TOKEN_${n} }, ` : '';
    return `  ${nameOf(n)}: { url: "${services[n]?.url}", apiKey: { env: KEY_${n} }, ${authorization}${account} }`;
  });
  const syncs = behaviours.map((_, n) => `  ${nameOf(n)}: { job: contacts, account: ${nameOf(n)}, ${sync} }`);
  const text = ['accounts:', ...accounts, 'syncs:', ...syncs].join('\n');
  const workspace = await testWorkspace({ text, dataDir, env, database });
  await workspace.work();
  return {
    database,
    services,
    workspace,
    dataDir,
    anotherService,
    /** Creates the tenant of a case and returns its id. */
    async addTenant(n: number): Promise<number> {
      const { id } = await createTenant(database.pool, nameOf(n));
      await createKey(database.pool, id, { key: keyOf(n) });
      return id;
    },
    async close(): Promise<void> {
      await workspace.close();
      await harness.close();
    },
  };
}
