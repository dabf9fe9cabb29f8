/** A console of a workspace whose worker runs the loads that are started there. */
import type { Console } from '../../src/console/server.ts';
import { type OrdersHarness, openOrdersHarness } from '../support/harness/orders.ts';

export async function openLoadConsole(
  ...options: Parameters<typeof openOrdersHarness>
): Promise<{ readonly harness: OrdersHarness; readonly web: Console }> {
  const harness = await openOrdersHarness(...options);
  const web = await harness.workspace.serveConsole();
  await harness.workspace.work();
  return { harness, web };
}
