/** How a random service (random-service.ts) stores records, and how it shows them and their ids. */
import { randomUUID } from 'node:crypto';
import type { DateForm, Drawn, ListedKind } from './drawn-service.ts';
import { FORMS } from './framework-forms.ts';
import { membersAs, textAs } from './habit-forms.ts';

export interface Kept {
  /** As the service calls it, whatever its form on the wire. */
  readonly id: string;
  /** By the contract's names. */
  fields: Record<string, unknown>;
  readonly madeAtMs: number;
  changedAtMs: number;
  /** Lists show it, with a member that says so. */
  readonly isDeleted?: boolean;
  /** What is shown until `fields` may be; undefined: nothing of it. */
  lagging?: { readonly fields: Record<string, unknown> | undefined; readonly untilMs: number };
}

/** Begins the text of a number that JSON.stringify would round. */
export const LONG = 'LONG:';

export class Refusal extends Error {
  readonly httpStatus: number;
  readonly asEnvelope: boolean;

  constructor(httpStatus: number, message: string, asEnvelope = false) {
    super(message);
    this.httpStatus = httpStatus;
    this.asEnvelope = asEnvelope;
  }
}

/** What the service makes of what it was sent. */
export function stored(drawn: Drawn, kind: ListedKind, fields: Record<string, unknown>): Record<string, unknown> {
  if (kind !== 'customers' && kind !== 'orders') return fields;
  const texts = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'string' ? textAs(drawn, name, value) : value,
  ]);
  return kind === 'orders' ? Object.fromEntries(texts) : storedCustomer(drawn, Object.fromEntries(texts));
}

function storedCustomer(drawn: Drawn, fields: Record<string, unknown>): Record<string, unknown> {
  const { phone_number: phone, email, full_name: name } = fields;
  return {
    ...fields,
    ...(typeof phone === 'string' && phone !== '' && { phone_number: phoneAs(drawn.phones, phone) }),
    ...(typeof email === 'string' && drawn.emails === 'lower case' && { email: email.toLowerCase() }),
    ...(typeof name === 'string' &&
      drawn.names === 'single spaces' && { full_name: name.trim().replaceAll(/\s+/g, ' ') }),
  };
}

/** What an odd service makes of a write. */
export function changed({ oddity }: Drawn, fields: Record<string, unknown>): Record<string, unknown> {
  const { order_id, status, amount } = fields;
  return {
    ...fields,
    ...(oddity === 'capitalizes labels' && order_id !== undefined && { order_id: String(order_id).toUpperCase() }),
    ...(oddity === 'renames states' && status !== undefined && { status: `${status}ly made` }),
    ...(oddity === 'rounds amounts' && amount !== undefined && { amount: Math.round(Number(amount)) }),
  };
}

function phoneAs(form: Drawn['phones'], phone: string): string {
  const digits = phone.replaceAll(/\D/g, '');
  if (form === 'digits') return digits;
  return form === 'spaced' ? `+${digits.slice(0, 2)} ${digits.slice(2, 5)} ${digits.slice(5)}` : phone;
}

export function newId({ idForm }: Drawn, n: number): string {
  switch (idForm) {
    case 'number':
    case 'digits':
      return String(n);
    case 'uuid':
      return randomUUID();
    case 'long number':
    case 'long digits':
      // Neighbours that share one float.
      return String(9_007_199_254_740_993n + BigInt(n));
    case 'address':
      return `https://service.example/records/${n}`;
    default:
      return idForm satisfies never;
  }
}

export function wireId({ idForm }: Drawn, id: string): unknown {
  if (idForm === 'number') return Number(id);
  return idForm === 'long number' ? `${LONG}${id}` : id;
}

/** An id that came back in a body. */
export function incoming({ idForm }: Drawn, value: unknown): string {
  if (typeof value === 'string' && value.startsWith(LONG)) {
    if (idForm === 'long number') return value.slice(LONG.length);
    throw new Refusal(400, 'the id has to be text');
  }
  if (idForm === 'long number' && typeof value === 'string') throw new Refusal(400, 'the id has to be a number');
  return String(value);
}

/** What is shown of a record now; undefined: it is not shown yet. */
export function shownFields({ fields, lagging }: Kept, isCurrent = false): Record<string, unknown> | undefined {
  return !isCurrent && lagging !== undefined && Date.now() < lagging.untilMs ? lagging.fields : fields;
}

export function found(kept: readonly Kept[], id: string): Kept {
  const one = kept.find((record) => record.id === id);
  if (one === undefined) throw new Refusal(404, `there is no record ${id}`);
  return one;
}

export function readBody(text: string): Record<string, unknown> {
  return text === '' ? {} : JSON.parse(text.replace(/([:[,]\s*)(\d{16,})(?=\s*[,}\]])/g, `$1"${LONG}$2"`));
}

function idNameOf({ idName }: Drawn, kind: ListedKind): string {
  const one = kind.slice(0, -1);
  // An order's order_id is its label.
  if (idName === 'kind_id') return kind === 'orders' ? 'id' : `${one}_id`;
  if (idName === 'KindId') return kind === 'orders' ? 'Id' : `${one.charAt(0).toUpperCase()}${one.slice(1)}Id`;
  return idName;
}

export function shown(
  drawn: Drawn,
  kind: ListedKind,
  kept: Kept,
  { isInList = false, isCurrent = false } = {},
): Record<string, unknown> {
  const members = membersShown(drawn, kind, kept, isCurrent);
  if (!isInList && drawn.habit === 'shows ids as other types in single reads')
    swapIdType(members, idNameOf(drawn, kind));
  if (isInList && drawn.oddity === 'masks e-mails' && typeof members.email === 'string')
    members.email = members.email.replace(/^(.).*@/, '$1***@');
  const { framework } = drawn;
  return framework === 'contract' ? members : FORMS[framework].record(kind, members);
}

function swapIdType(members: Record<string, unknown>, name: string): void {
  const id = members[name];
  if (typeof id === 'number') members[name] = String(id);
  else if (typeof id === 'string' && /^\d{1,15}$/.test(id)) members[name] = Number(id);
}

function membersShown(drawn: Drawn, kind: ListedKind, kept: Kept, isCurrent: boolean): Record<string, unknown> {
  const members: Record<string, unknown> = { [idNameOf(drawn, kind)]: wireId(drawn, kept.id) };
  if (drawn.dates !== 'none') members.created_at = dateAs(drawn.dates, kept.madeAtMs);
  for (const [name, value] of Object.entries(shownFields(kept, isCurrent) ?? kept.fields)) {
    const isBlank = value === undefined || value === null || value === '';
    if (isBlank && drawn.blanks !== 'as stored') {
      if (drawn.blanks !== 'absent') members[name] = drawn.blanks === 'null' ? null : '';
    } else if (name === 'client_id') {
      const customer = wireId(drawn, String(value));
      if (drawn.customerName === 'client.id') members.client = { id: customer, kind: 'customer' };
      else members[drawn.customerName] = customer;
    } else if (name === 'contact_id') members.contact_id = wireId(drawn, String(value));
    else if (typeof value === 'boolean') members[name] = flag(drawn, value);
    else if (name === 'amount' && drawn.amounts === 'text') members[name] = Number(value).toFixed(2);
    else members[name] = value;
  }
  if (drawn.habit === 'lists deleted records') members.is_deleted = flag(drawn, kept.isDeleted === true);
  return membersAs(drawn, members);
}

function dateAs(form: Exclude<DateForm, 'none'>, ms: number): unknown {
  const iso = new Date(ms).toISOString();
  if (form === 'iso') return iso;
  if (form === 'with a space') return iso.slice(0, 19).replace('T', ' ');
  return form === 'seconds' ? Math.floor(ms / 1000) : ms;
}

function flag({ booleans }: Drawn, value: boolean): unknown {
  if (booleans === 'true') return value;
  return booleans === '1' ? Number(value) : String(Number(value));
}
