/**
 * Whether customers/import works at a service. A refusal may be about importing as such, or about its own contact: what
 * becomes of the other contacts of the run tells. So a refused contact waits for the read-back, and every run asks again.
 */
import type { Kind, LongIds } from '../client/dialect.ts';
import type { Written } from '../worker/writes.ts';

type Refused = Extract<Written, { status: 'refused' }>;

export interface ImportMode {
  /** There is no import here: customers are created for the rest of this run. */
  isOff: boolean;
  /** A contact was imported, or settings say that importing works: a refusal is about its contact. */
  hasWorked: boolean;
  /** Contacts refused in the same words, while none was imported. */
  readonly refused: Map<string, Set<string>>;
  /** How the service's lists write long ids. */
  readonly longIds: (kind: Kind) => LongIds;
}

/** So many contacts refused in the same words before one is imported, and the rest of the run is created. */
const MANY = 10;

export function importMode(known: Omit<ImportMode, 'refused'>): ImportMode {
  return { ...known, refused: new Map() };
}

/** What a refused import means for its contact: create the customer, wait for the read-back, or it is the contact's own. */
export function afterRefusal(mode: ImportMode, contact: string, written: Refused): 'create' | 'wait' | 'own' {
  const { httpStatus, message } = written;
  if (IS_THERE.test(message)) mode.hasWorked = true;
  else if (httpStatus === 405 || httpStatus === 501) mode.isOff = true;
  if (mode.isOff) return 'create';
  if (mode.hasWorked || ![200, 400, 404, 415, 422].includes(httpStatus)) return 'own';
  const words = `${httpStatus} ${message}`; // words that name the contact are about the contact
  const contacts = mode.refused.get(words) ?? new Set();
  mode.refused.set(words, contacts.add(contact));
  mode.isOff = contacts.size >= MANY;
  return 'wait';
}

/** What services say of a record that is there. */
const IS_THERE = /\balready\b|\bduplicate|\bbeen taken\b/i;
