/**
 * Which orders of a list a load asks for, as a compact filter: of an account's million orders, ten may be the load's, and the
 * others need not travel to the database. It lets through every order that the load asks for, and a few others.
 */
import { type OrderKey, type SeenOrder, wantedOrders } from '../engine/ledger/matching/order-records.ts';
import type { Queryable, Run } from '../engine/ledger/runs.ts';
import { SeenIds } from '../scan/seen-ids.ts';

export async function openWantedOrders(
  db: Queryable,
  asking: { readonly run: Run; readonly isAudit: boolean },
): Promise<(order: Pick<SeenOrder, 'clientId' | 'label'>) => boolean> {
  const keys = new SeenIds();
  for await (const page of wantedOrders(db, asking)) for (const key of page) keys.note(textOf(key), 0);
  return ({ clientId, label }) => clientId !== undefined && label !== '' && keys.has(textOf({ clientId, label }));
}

/** Equal for labels that differ in zeros before a number, or in case by any rule: what is not ASCII is left out. */
function textOf({ clientId, label }: OrderKey): string {
  const plain = /^[0-9]+$/.test(label) ? label.replace(/^0+/, '') : label.toLowerCase().replace(/[^\x20-\x7e]/g, '');
  return `${plain} ${clientId}`;
}
