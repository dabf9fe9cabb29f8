/** A client of a test's server, closed together with the server. */
import { onTestFinished } from 'vitest';
import { type Client, type ClientConfig, createClient } from '../../../src/client/call/client.ts';
import { autoDialect } from '../../../src/client/call/dialect.ts';
import { type FreeBudget, freeBudget } from '../../support/free-budget.ts';

export const API_KEY = 'key-3f9c-canary';

export function openClient(
  server: { url: string; close(): Promise<void> },
  config: Partial<ClientConfig> = {},
): Client {
  const client = createClient({
    account: 'demo',
    baseUrl: server.url,
    apiKey: API_KEY,
    prefix: '/api/v1',
    timeoutMs: 5_000,
    concurrency: 4,
    budget: freeBudget(),
    dialect: autoDialect,
    ...config,
  });
  onTestFinished(async () => {
    await server.close();
    await client.close();
  });
  return client;
}

/** The same, with its budget. */
export function openWithBudget(
  server: { url: string; close(): Promise<void> },
  config: Partial<ClientConfig> & { budget?: FreeBudget } = {},
): { client: Client; budget: FreeBudget } {
  const budget = config.budget ?? freeBudget();
  return { client: openClient(server, { ...config, budget }), budget };
}
