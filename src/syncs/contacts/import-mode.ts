/**
 * Whether customers/import works at a service. A refusal may concern importing as such, or only its contact. The results of
 * the run's other contacts tell which. So a refused contact waits for the read-back, and every run asks again.
 */
import type { LongIds } from '../../client/call/dialect.ts';
import type { Kind } from '../../contract/kinds.ts';
import { OperationForbidden } from '../../engine/account/failure.ts';
import type { Written } from '../../engine/account/writes.ts';

/** Not applied: refused, or not possible now. */
type NotApplied = Extract<Written, { status: 'refused' | 'not-now' }>;

export interface ImportMode {
  /** Importing does not work here: customers are created for the rest of this run. */
  isOff: boolean;
  /** A contact was imported, or the settings say that importing works: a refusal concerns its contact. */
  hasWorked: boolean;
  /** Contacts refused with the same message before any was imported. */
  readonly refused: Map<string, Set<string>>;
  /** How the service's lists write long ids. */
  readonly longIds: (kind: Kind) => LongIds;
}

/** If this many contacts are refused with the same message before one is imported, the rest of the run is created. */
const MANY = 10;

export function importMode(known: Omit<ImportMode, 'refused'>): ImportMode {
  return { ...known, refused: new Map() };
}

/** `create` the customer, `wait` for the read-back, or `own`: only this contact is concerned. */
export type AfterRefusal =
  | { readonly status: 'create' | 'own' }
  | { readonly status: 'wait'; readonly facts: { readonly http: number; readonly answer: string } };

/** What to do with a contact that was not imported. */
export function afterRefusal(mode: ImportMode, contact: string, written: NotApplied): AfterRefusal {
  if (written.status === 'not-now') {
    if (!(written.stop instanceof OperationForbidden) || mode.hasWorked) return { status: 'own' };
    mode.isOff = true;
    return { status: 'create' };
  }
  const { httpStatus, message } = written;
  if (httpStatus === 405 || httpStatus === 501) {
    mode.isOff = true;
    return { status: 'create' };
  }
  if (mode.hasWorked || ![200, 400, 404, 415, 422].includes(httpStatus)) return { status: 'own' };
  const words = `${httpStatus} ${message}`; // words that name the contact are about the contact
  const contacts = mode.refused.get(words) ?? new Set();
  mode.refused.set(words, contacts.add(contact));
  mode.isOff ||= contacts.size >= MANY;
  return { status: 'wait', facts: { http: httpStatus, answer: message } };
}
