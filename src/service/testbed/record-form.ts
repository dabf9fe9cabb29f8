/**
 * The form of a record's members in answers. Our own form is sent as Postgres made it. For every other form the JSON
 * text is parsed, changed member by member, and written again.
 */
import type { ShownKind } from '../result.ts';
import type { Behaviour } from './behaviour.ts';

export interface RecordForm {
  /** Items joined by commas in, items joined by commas out. */
  render(kind: ShownKind, items: string): string;
  idField(kind: ShownKind): string;
  id(id: number): number | string;
  /** Accepts ids in the form in which they were shown. */
  readBody(body: unknown): unknown;
}

const IDS = new Set([
  'id',
  'tenant_id',
  'contact_id',
  'client_id',
  'task_id',
  'column_id',
  'card_id',
  'module_id',
  'pipeline_id',
]);

export function recordForm(behaviour: Behaviour): RecordForm {
  const { idField, idType, booleans01, amountsAsStrings, customersCarryContactId } = behaviour;
  const asStored =
    idField === 'id' && idType === 'number' && !booleans01 && !amountsAsStrings && customersCarryContactId;
  const nameId = (kind: ShownKind): string => idFieldOf(idField, kind);
  const formId = (id: number): number | string => (idType === 'string' ? String(id) : id);

  function numberMember(name: string, value: number): number | string {
    if (IDS.has(name)) return formId(value);
    return name === 'amount' && amountsAsStrings ? String(value) : value;
  }

  function member(name: string, value: unknown): unknown {
    if (typeof value === 'boolean' && booleans01) return value ? 1 : 0;
    if (typeof value === 'number') return numberMember(name, value);
    if (Array.isArray(value)) return value.map((inner) => member('', inner));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([inner, within]) => [inner, member(inner, within)]));
  }

  function record(kind: ShownKind, stored: object): Record<string, unknown> {
    const members = Object.entries(stored).filter(
      ([name]) => customersCarryContactId || kind !== 'customer' || name !== 'contact_id',
    );
    return Object.fromEntries(
      members.map(([name, value]) => [name === 'id' ? nameId(kind) : name, member(name, value)]),
    );
  }

  return {
    idField: nameId,
    id: formId,
    render(kind, items) {
      if (asStored) return items;
      const stored: readonly object[] = JSON.parse(`[${items}]`);
      return stored.map((one) => JSON.stringify(record(kind, one))).join(',');
    },
    readBody(body) {
      if (idType === 'number' || typeof body !== 'object' || body === null || Array.isArray(body)) return body;
      const members = Object.entries(body).map(([name, value]) => [name, IDS.has(name) ? numberIn(value) : value]);
      return Object.fromEntries(members);
    },
  };
}

function idFieldOf(idField: Behaviour['idField'], kind: ShownKind): string {
  if (kind === 'comment' || kind === 'card') return 'id';
  if (typeof idField === 'object') return idField[kind] ?? 'id';
  if (idField === 'id' || kind === 'order') return 'id'; // order_id is an order's label, so it cannot be its id
  return `${kind}_id`;
}

function numberIn(value: unknown): unknown {
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
}
