/** What waits for a person, as people see and name it: ids, choices, and the evidence side by side. */
import { type Hints, meaningOf, statementFor } from '../base/reasons/reasons.ts';
import { visible } from '../base/visible.ts';
import type { Choice } from '../engine/ledger/decisions.ts';
import type { Keys, ReviewItem, Subject } from '../engine/ledger/review-items.ts';
import { didYouMean, quote } from '../settings/words.ts';
import { styled } from './colour.ts';
import { wrongUse } from './errors.ts';
import { table } from './output.ts';
import { plural } from './words.ts';

/** So many customers are shown beside a contact. */
const MOST_CUSTOMERS = 4;

type Named = Pick<ReviewItem, 'kind' | 'subject' | 'account'>;

/** The id that people type: `contact-14`, with several accounts `acme/contact-14`; of an order, its run and line. */
export function idsOf<T extends Named>(items: readonly T[]): ReadonlyMap<string, T> {
  const isOne = new Set(items.filter(({ kind }) => kind === 'contact').map(({ account }) => account)).size < 2;
  return new Map(items.map((item) => [isOne ? shortId(item) : longId(item), item]));
}

const shortId = ({ kind, subject }: Subject | Named) => (kind === 'contact' ? `contact-${subject}` : subject);
const longId = (item: Named) => (item.kind === 'contact' ? `${item.account}/${shortId(item)}` : item.subject);

/** The item of an id, in its short or its long form. @throws LockstepError REVIEW_UNKNOWN */
export function itemNamed<T extends Named>(items: readonly T[], id: string, remedy: string): T {
  const found = items.filter((item) => longId(item) === id || shortId(item) === id);
  const [item] = found;
  if (item && found.length === 1) return item;
  if (item) {
    const ids = found.map(longId).join(', ');
    throw wrongUse(`${quote(id)} is an item of several accounts: name one of ${ids}.`, 'REVIEW_UNKNOWN');
  }
  const known = [...idsOf(items).keys()];
  throw wrongUse(`There is no item ${quote(id)}${didYouMean(id, known) || '.'} ${remedy}`, 'REVIEW_UNKNOWN');
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
  DIFFERS: ['use', 'ignore'],
  GAVE_UP: ['create', 'ignore'],
  NOT_RECOGNISED: ['create', 'ignore'],
  NOT_IN_LIST: ['create', 'ignore'],
};

/** What can be decided about an item. A duplicate can only be ignored, or removed at the service. */
export function choicesFor({ kind, reason }: Pick<ReviewItem, 'kind' | 'reason'>): readonly Choice[] {
  const own = (kind === 'contact' ? CONTACT_CHOICES : ORDER_CHOICES)[reason] ?? (['ignore'] as const);
  return [...own, 'later'];
}

/** The records that an item may be: customers, or the order that differs. */
export function recordsFor({ kind, reason, facts, customers }: ReviewItem): readonly string[] {
  return kind === 'order' && reason === 'DIFFERS' ? [String(facts?.order)] : Object.keys(customers);
}

/** The options of `review decide` for an item, ready to type. */
export function optionsFor(item: ReviewItem): readonly string[] {
  const [first = 'RECORD', ...others] = recordsFor(item);
  return choicesFor(item).flatMap((choice) =>
    choice === 'use' ? [first, ...others].slice(0, MOST_CUSTOMERS).map((id) => `--use ${id}`) : [`--${choice}`],
  );
}

/** Items of the same reason, with what the reason means. */
export function groupLines(
  reason: string,
  items: readonly (readonly [id: string, item: ReviewItem])[],
  hint: (command: string) => string,
): readonly string[] {
  const meaning = meaningOf(reason);
  return [
    styled('strong', `${reason}: ${plural(items.length, 'item')}`),
    ...(meaning === undefined ? [] : [meaning]),
    ...items.flatMap(([id, item]) => ['', ...itemLines(id, item, hint)]),
    '',
  ];
}

function itemLines(id: string, item: ReviewItem, hint: (command: string) => string): readonly string[] {
  const label = item.label === null ? '' : `  ${visible(item.label)}`;
  const later = item.isLater ? '  (later)' : '';
  return [
    `  ${id}${label}${later}`,
    `    ${visible(statementOf(item, hint))}`,
    ...evidenceTable(item).map((line) => `    ${line}`),
    `    ${hint(`review decide ${id}`)} ${optionsFor(item).join(' | ')}`,
  ];
}

/** What the run found about an item. */
export function statementOf({ reason, facts, run, account }: ReviewItem, hint: Hints['command']): string {
  return statementFor(reason, facts, { command: hint, about: { run, account } });
}

const KEY_WORDS = { name: 'name', email: 'e-mail', phone: 'phone', org: 'organization' };

/** The keys of the item beside the keys of each customer that it may belong to. */
function evidenceTable({ kind, keys, customers }: ReviewItem): readonly string[] {
  const all = Object.entries(customers);
  const shown = all.slice(0, MOST_CUSTOMERS);
  if (shown.length === 0) return [];
  const cell = (of: Keys | null, key: string) => (of === null ? 'id only' : visible(of[key] ?? '-'));
  const rows = Object.entries(KEY_WORDS)
    .filter(([key]) => [keys, ...shown.map(([, of]) => of)].some((of) => of?.[key] !== undefined))
    .map(([key, word]) => [word, cell(keys, key), ...shown.map(([, of]) => cell(of, key))]);
  const more = all.length > shown.length ? [`and ${plural(all.length - shown.length, 'more customer')}`] : [];
  return [...table(['', kind, ...shown.map(([customer]) => `customer ${customer}`)], rows), ...more];
}

/** The same in one line, for a cell of a file: `customer 15: ann lee, ann@example.com; customer 16: id only`. */
export function evidenceLine({ keys, customers }: ReviewItem): string {
  const words = (of: Keys | null) => (of === null ? 'id only' : Object.keys(KEY_WORDS).flatMap((key) => of[key] ?? []));
  const line = (name: string, of: Keys | null) => `${name}: ${[words(of)].flat().join(', ')}`;
  return [line('row', keys), ...Object.entries(customers).map(([id, of]) => line(`customer ${id}`, of))].join('; ');
}
