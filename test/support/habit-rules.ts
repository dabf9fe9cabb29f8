/** What services with habits (habits.ts) refuse, and how they cut pages. */
import type { Drawn } from './drawn-service.ts';
import { TENANT } from './habit-forms.ts';
import { type Kept, Refusal } from './random-records.ts';

/** The rows of a page by the sizes of this service. */
export function sizeOf({ habit }: Drawn, asked: number, cap: number): number {
  if (asked <= cap) return asked;
  if (habit === 'makes too large pages small') return Math.max(3, cap - 4);
  if (habit === 'refuses large pages') throw new Refusal(400, `rows_per_page must be at most ${cap}`);
  if (habit === 'fails on large pages') throw new Refusal(504, 'upstream timed out');
  return cap;
}

/** Where page `page` begins and ends. */
export function boundsOf({ habit }: Drawn, page: number, size: number): readonly [number, number] {
  if (habit !== 'has pages of uneven sizes') return [page * size, (page + 1) * size];
  const sizes = [size, Math.max(1, size - 2), Math.max(1, size - 1)];
  const start = (n: number) => Array.from({ length: n }, (_, at) => sizes[at % 3] ?? size).reduce((a, b) => a + b, 0);
  return [start(page), start(page + 1)];
}

/** Members of the contract that a body may have; others are refused by a service that refuses unknown ones. */
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  'customers/create': ['full_name', 'gender', 'picture_url', 'email', 'organization', 'phone_number'],
  'customers/import': ['contact_id'],
  'customers/update': [
    ...['id', 'tenant_id', 'full_name', 'gender', 'picture_url', 'email', 'organization', 'phone_number'],
  ],
  'orders/create': ['order_id', 'client_id', 'description', 'amount', 'status'],
  'orders/update': ['id', 'order_id', 'client_id', 'description', 'amount', 'status'],
};

/** Refuses a body that this service would refuse. `kept`: the record that is updated. */
export function checkBody(
  { habit }: Drawn,
  operation: string,
  sent: Readonly<Record<string, unknown>>,
  kept?: Kept,
): void {
  const unknown = Object.keys(sent).find((name) => !KNOWN[operation]?.includes(name));
  if (habit === 'refuses unknown members' && unknown !== undefined)
    throw new Refusal(400, `unknown property ${unknown}`);
  if (kept === undefined) return;
  const isDue = (name: string) => KNOWN[operation]?.includes(name) && !(name in sent);
  const missing = Object.entries(kept.fields).find(([name, value]) => hasValue(value) && isDue(name));
  if (habit === 'refuses updates that are not whole' && missing !== undefined)
    throw new Refusal(400, `${missing[0]} is required`);
  if (habit === 'wants the tenant in updates' && operation === 'customers/update' && sent.tenant_id !== TENANT)
    throw new Refusal(400, 'tenant_id is required');
}

const hasValue = (value: unknown) => value !== undefined && value !== null && value !== '';

/** The record that a create would double, at a service that allows no equal ones. */
export function equalTo(
  { habit }: Drawn,
  kept: readonly Kept[],
  { email, order_id, client_id }: Readonly<Record<string, unknown>>,
): Kept | undefined {
  if (!/equal record/.test(habit)) return undefined;
  const same = (one: unknown, other: unknown) => String(one).toLowerCase() === String(other).toLowerCase();
  return kept.find(({ fields }) =>
    order_id === undefined
      ? hasValue(email) && same(fields.email, email)
      : same(fields.order_id, order_id) && fields.client_id === client_id,
  );
}

/** @throws Refusal unless the service answers with the record that exists */
export function refuseEqual({ habit }: Drawn, { id }: Kept): void {
  if (habit === 'refuses equal records with 409') throw new Refusal(409, 'a record like this exists already');
  if (habit === 'refuses equal records with 422') throw new Refusal(422, `already taken by record ${id}`);
}
