/** Prints what waits for a person, with the evidence side by side. */
import { plural } from '../../base/counts.ts';
import { meaningOf } from '../../base/reasons/reasons.ts';
import { shortLabel } from '../../base/texts.ts';
import { visible } from '../../base/visible.ts';
import type { Keys, ReviewItem } from '../../engine/ledger/views/review-items.ts';
import { groupCount, MOST_CUSTOMERS, optionsFor, reviewStatement } from '../../operator/review.ts';
import { evidenceOf } from '../../operator/review-evidence.ts';
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
    `    ${visible(reviewStatement(item, hint))}`,
    ...evidenceTable(item).map((line) => `    ${line}`),
    `    ${hint(`review decide ${id}`)} (${oneOf(optionsFor(item))})`,
  ];
}

/** The item beside each record that it may be, or that differs from it. */
function evidenceTable(item: ReviewItem): readonly string[] {
  const { what, fields, own, records } = evidenceOf(item);
  const all = Object.entries(records);
  const shown = all.slice(0, MOST_CUSTOMERS);
  if (shown.length === 0) return [];
  const cell = (of: Keys | null, key: string) => (of === null ? 'id only' : visible(shortLabel(of[key] ?? '-')));
  const rows = fields.map(([key, word]) => [word, cell(own, key), ...shown.map(([, of]) => cell(of, key))]);
  const more = all.length > shown.length ? [`and ${plural(all.length - shown.length, `more ${what}`)}`] : [];
  return [...table(['', `this ${item.kind}`, ...shown.map(([id]) => `${what} ${id}`)], rows), ...more];
}

/** The same in one line, for a cell of a file: `row: ann lee, ann@example.com; customer 15: id only`. */
export function evidenceLine(item: ReviewItem): string {
  const { what, fields, own, records } = evidenceOf(item);
  const words = (of: Keys | null) => (of === null ? 'id only' : fields.flatMap(([key]) => of[key] ?? []).join(', '));
  return [`row: ${words(own)}`, ...Object.entries(records).map(([id, of]) => `${what} ${id}: ${words(of)}`)].join('; ');
}
