/** Prints what waits for a person, with the evidence side by side. */
import { plural } from '../../base/counts.ts';
import { meaningOf } from '../../base/reasons/reasons.ts';
import { shortLabel } from '../../base/texts.ts';
import { visible } from '../../base/visible.ts';
import type { Keys, ReviewItem } from '../../engine/ledger/views/review-items.ts';
import { groupCount, KEY_WORDS, MOST_CUSTOMERS, optionsFor, statementOf } from '../../operator/review.ts';
import { asksForCustomer } from '../../operator/same-customer.ts';
import { oneOf } from '../../settings/message-parts.ts';
import { styled } from './colour.ts';
import { table } from './output.ts';

const SAME_CUSTOMER =
  '  With --same-customer, the decision is also about the other orders of the load that name the same customer.';

/** The first rows of the same reason, with what the reason means. `count`: how many there are. */
export function groupLines(
  reason: string,
  count: number,
  items: readonly (readonly [id: string, item: ReviewItem])[],
  hint: (command: string) => string,
): readonly string[] {
  const meaning = meaningOf(reason);
  return [
    styled('strong', `${reason}: ${groupCount(count)}`),
    ...(meaning === undefined ? [] : [meaning]),
    ...items.flatMap(([id, item]) => ['', ...itemLines(id, item, hint)]),
    ...(items.length > 1 && items.every(([, item]) => asksForCustomer(item)) ? ['', SAME_CUSTOMER] : []),
    '',
  ];
}

function itemLines(id: string, item: ReviewItem, hint: (command: string) => string): readonly string[] {
  const label = item.label === null ? '' : `  ${visible(shortLabel(item.label))}`;
  const later = item.isLater ? '  (later)' : '';
  return [
    `  ${id}${label}${later}`,
    `    ${visible(statementOf(item, hint))}`,
    ...evidenceTable(item).map((line) => `    ${line}`),
    `    ${hint(`review decide ${id}`)} (${oneOf(optionsFor(item))})`,
  ];
}

/** The keys of the item beside the keys of each customer that it may belong to. */
function evidenceTable({ kind, keys, customers }: ReviewItem): readonly string[] {
  const all = Object.entries(customers);
  const shown = all.slice(0, MOST_CUSTOMERS);
  if (shown.length === 0) return [];
  const cell = (of: Keys | null, key: string) => (of === null ? 'id only' : visible(shortLabel(of[key] ?? '-')));
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
