/** A console whose account is at a real service, with its records. */
import type { Page } from 'playwright-core';
import { afterAll, beforeEach } from 'vitest';
import { openOrdersHarness } from '../support/harness/orders.ts';

/** For the file that calls it. Each test begins without records. */
export async function openRecordsConsole() {
  const harness = await openOrdersHarness({
    hasFront: true,
    account: 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 2s, settle: 1s }',
  });
  const web = await harness.workspace.serveConsole();
  beforeEach(() => harness.reset());
  afterAll(() => harness.close());
  return { harness, web, open: (page: Page, path: string) => page.goto(`${web.url}/records/test/${path}`) };
}
