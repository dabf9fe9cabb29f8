/** What waits for a person, as people see and name it: ids, and what can be decided. */
import { formatCount, plural } from '../base/counts.ts';
import { type LockstepError, wrongUse } from '../base/errors.ts';
import { grouped } from '../base/grouped.ts';
import { type Hints, statementFor } from '../base/reasons/reasons.ts';
import type { Choice } from '../engine/ledger/decisions.ts';
import { MOST_COUNTED, type ReviewItem, type ReviewPage, type Subject } from '../engine/ledger/views/review-items.ts';
import { didYouMean, quote } from '../settings/message-parts.ts';
import { evidenceOf } from './review-evidence.ts';

/** Customers shown beside a contact on the command line, at most. */
export const MOST_CUSTOMERS = 4;

/** How many wait. */
export function waitWords({ total, isMore }: Pick<ReviewPage, 'total' | 'isMore'>): string {
  return `${isMore ? 'At least ' : ''}${plural(total, 'row waits', 'rows wait')} for a person.`;
}

/** How many wait with one reason; more may. */
export function groupCount(n: number): string {
  return n === MOST_COUNTED ? `${formatCount(n)} rows or more` : plural(n, 'row');
}

type Named = Pick<ReviewItem, 'kind' | 'subject' | 'account'>;

/**
 * The id that people type: `contact-14`, with contacts of several accounts `acme/contact-14`; of an order, its run and line.
 * `accounts`: how many have contacts; default: those of the items.
 */
export function reviewIds<T extends Named>(
  items: readonly T[],
  accounts = contactAccounts(items),
): ReadonlyMap<string, T> {
  return new Map(items.map((item) => [accounts < 2 ? shortId(item) : longId(item), item]));
}

function contactAccounts(items: readonly Named[]): number {
  return new Set(items.filter(({ kind }) => kind === 'contact').map(({ account }) => account)).size;
}

const shortId = ({ kind, subject }: Subject | Named) => (kind === 'contact' ? `contact-${subject}` : subject);
export const longId = (item: Named) => (item.kind === 'contact' ? `${item.account}/${shortId(item)}` : item.subject);

/** What an id names, in its short or its long form. */
export function subjectOf(id: string): Pick<Subject, 'kind' | 'subject'> & { readonly account?: string | undefined } {
  const [, account, contact] = /^(?:(.+)\/)?contact-(.+)$/s.exec(id) ?? [];
  return contact === undefined ? { kind: 'order', subject: id } : { kind: 'contact', subject: contact, account };
}

/** The item or decision of an id, in its short or its long form. @throws LockstepError REVIEW_UNKNOWN if it names several */
export function oneNamed<T extends Named>(among: readonly T[], id: string): T | undefined {
  const found = among.filter((one) => longId(one) === id || shortId(one) === id);
  if (found.length < 2) return found[0];
  const ids = found.map(longId).join(', ');
  throw reviewUnknown(`${quote(id)} is a row of several accounts: name one of ${ids}.`);
}

/** Looks up which of many items may have an id. */
export function finderOf<T extends Subject>(all: readonly T[]): (id: string) => readonly T[] {
  const keyOf = ({ kind, subject }: Pick<Subject, 'kind' | 'subject'>) => `${kind} ${subject}`;
  const found = grouped(all.map((one) => [keyOf(one), one]));
  return (id) => found.get(keyOf(subjectOf(id))) ?? [];
}

/** `; did you mean "contact-14"?` An id with another number is another row, so it is not suggested. */
export function idMeant(id: string, among: readonly Named[]): string {
  const known = [...reviewIds(among).keys()].filter((one) => numbersIn(one) === numbersIn(id));
  return didYouMean(id, known) || '.';
}

const numbersIn = (id: string) => id.match(/\d+/g)?.join() ?? '';

export function reviewUnknown(message: string): LockstepError {
  return wrongUse(message, 'REVIEW_UNKNOWN');
}

const CONTACT_CHOICES: Readonly<Record<string, readonly Choice[]>> = {
  AMBIGUOUS_MATCH: ['use', 'create', 'ignore'],
  CUSTOMER_GONE: ['use', 'create', 'ignore'],
  NOT_RECOGNISED: ['use', 'create', 'ignore'],
  NOT_IN_LIST: ['use', 'create', 'ignore'],
  GAVE_UP: ['use', 'create', 'ignore'],
  LOST: ['use', 'create', 'ignore'],
  LIST_PARTIAL: ['use', 'create', 'ignore'],
  LINK_DISAGREES: ['use', 'ignore'],
  CONTACT_REPLACED: ['use', 'ignore'],
  NO_KEY: ['use', 'ignore'],
};

const ORDER_CHOICES: Readonly<Record<string, readonly Choice[]>> = {
  AMBIGUOUS_CUSTOMER: ['use', 'ignore'],
  CUSTOMER_UNCLEAR: ['use', 'create', 'ignore'],
  DIFFERS: ['use', 'ignore'],
  ORDER_CHANGED: ['create', 'ignore'],
  GAVE_UP: ['create', 'ignore'],
  NOT_RECOGNISED: ['create', 'ignore'],
  NOT_IN_LIST: ['create', 'ignore'],
  LOST: ['create', 'ignore'],
  LIST_PARTIAL: ['create', 'ignore'],
};

type Decidable = Pick<ReviewItem, 'kind' | 'reason' | 'facts'>;

/** What can be decided about an item. A duplicate can only be ignored, or removed at the service. */
export function choicesFor({ kind, reason, facts }: Decidable): readonly Choice[] {
  const isWithoutCustomer = kind === 'order' && reason === 'LIST_PARTIAL' && facts?.what === 'customer';
  const own = isWithoutCustomer ? undefined : (kind === 'contact' ? CONTACT_CHOICES : ORDER_CHOICES)[reason];
  return [...(own ?? (['ignore'] as const)), 'later'];
}

const CONTACT_MEANINGS: Readonly<Record<Choice, string>> = {
  use: '“Use” links the contact with that customer.',
  create: '“Create a customer” makes one for it, once.',
  ignore: '“Ignore” leaves it as it is, until its evidence changes.',
  later: '“Later” keeps it in review.',
};
const ORDER_MEANINGS: Readonly<Record<Choice, string>> = {
  use: '“Use” gives the order to that customer.',
  create: '“Send it” sends the order once.',
  ignore: '“Ignore” sends nothing, and the row counts as existing.',
  later: '“Later” keeps it in review.',
};

/** What each choice for an item does, in a sentence each. */
export function meaningsFor(item: Decidable): string {
  const meanings = item.kind === 'contact' ? CONTACT_MEANINGS : ORDER_MEANINGS;
  const words = choicesFor(item).map((choice) =>
    choice === 'use' && item.reason === 'DIFFERS' ? '“Use” overwrites the order with this row.' : meanings[choice],
  );
  return words.join(' ');
}

/** The records that an item may be, or that differ from it. */
export const recordsFor = (item: ReviewItem): readonly string[] => Object.keys(evidenceOf(item).records);

/** Why a record of an item cannot be chosen; undefined if it can. */
export function whyNotUsed({ reason, facts, taken }: ReviewItem, record: string): string | undefined {
  if (reason === 'CUSTOMER_GONE' && facts?.customer === record) return 'is gone';
  return taken.includes(record) ? 'has another contact' : undefined;
}

/** The options of `review decide` for an item, ready to type. */
export function optionsFor(item: ReviewItem): readonly string[] {
  const [first = 'RECORD', ...others] = recordsFor(item).filter((record) => whyNotUsed(item, record) === undefined);
  return choicesFor(item).flatMap((choice) =>
    choice === 'use' ? [first, ...others].slice(0, MOST_CUSTOMERS).map((id) => `--use ${id}`) : [`--${choice}`],
  );
}

/** An item for programs: without its hash, with what the run found and what can be decided. */
export function itemResult(id: string, item: ReviewItem, hint: Hints['command']) {
  const { hash: _, taken: _taken, isLater, ...rest } = item;
  return { id, ...rest, statement: reviewStatement(item, hint), choices: choicesFor(item), later: isLater };
}

export function reviewStatement({ reason, facts, run, account }: ReviewItem, hint: Hints['command']): string {
  return statementFor(reason, facts, { command: hint, about: { run, account } });
}
