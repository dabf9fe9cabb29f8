/** What habits (habits.ts) make of texts, records and answers. */
import type { Drawn, ListedKind } from './drawn-service.ts';

export const TENANT = 31;

/** The rows of a list, some of them twice: side by side, or, unless pages begin after a row, a few rows later. */
export function withRepeats<T>({ habit, paging }: Drawn, kind: ListedKind, rows: readonly T[]): readonly T[] {
  if (habit !== 'repeats records in lists') return rows;
  if (paging[kind].kind === 'starting_after') return rows.flatMap((row, n) => (n % 4 === 1 ? [row, row] : [row]));
  return rows.flatMap((row, n) =>
    n % 4 === 1 ? [row, row] : n % 7 === 6 ? [row, ...rows.slice(n - 3, n - 2)] : [row],
  );
}

/** What the service makes of a text before it stores it. */
export function textAs({ habit }: Drawn, name: string, text: string): string {
  const isName = name === 'full_name';
  if (habit === 'escapes HTML')
    return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll("'", '&#039;');
  if (habit === 'decomposes letters') return text.normalize('NFD');
  if (habit === 'writes names in capitals' && isName) return text.toUpperCase();
  if (habit === 'truncates names' && isName) return text.slice(0, 12);
  if (habit === 'writes phones as E.164' && name === 'phone_number' && text !== '')
    return `+${text.replaceAll('(0)', '').replaceAll(/\D/g, '')}`;
  if (habit === 'writes phones without the country' && name === 'phone_number')
    return text.replace(/^\+49/, '').replaceAll(/\D/g, '');
  if (habit === 'writes labels with a hash' && name === 'order_id') return text.startsWith('#') ? text : `#${text}`;
  if (habit === 'capitalizes states' && name === 'status') return text.toUpperCase();
  return text;
}

let answers = 0;

/** What is shown of a record beside its own members, and in which order. */
export function membersAs({ habit }: Drawn, members: Record<string, unknown>): Record<string, unknown> {
  const { amount } = members;
  if (habit === 'shows amounts with a sign' && amount !== undefined) members.amount = `€${Number(amount).toFixed(2)}`;
  if (habit === 'shows amounts in cents' && amount !== undefined) members.amount = Math.round(Number(amount) * 100);
  if (habit === 'hides amounts') delete members.amount;
  if (habit === 'splits names' && typeof members.full_name === 'string') {
    const [first_name = '', ...last] = members.full_name.split(' ');
    Object.assign(members, { first_name, last_name: last.join(' ') });
    delete members.full_name;
  }
  if (habit === 'wants the tenant in updates') members.tenant_id = TENANT;
  if (habit === 'stamps every answer') members.served_at = new Date(1_700_000_000_000 + ++answers * 1000).toISOString();
  if (habit !== 'shuffles members') return members;
  const entries = Object.entries(members);
  const by = ++answers % entries.length;
  return Object.fromEntries([...entries.slice(by), ...entries.slice(0, by)]);
}

/** The text of an answer. */
export function bodyAs({ habit }: Drawn, text: string): string {
  if (text === '') return text;
  if (habit === 'begins with a byte order mark') return `\uFEFF${text}`;
  if (habit === 'answers JSON in a string' && /^[[{]/.test(text)) return JSON.stringify(text);
  if (habit === 'writes a comment after the JSON' && /^[[{]/.test(text)) return `${text}\n<!-- served in 3 ms -->`;
  if (habit === 'writes whole numbers with a fraction')
    return text.replaceAll(/("(?:id|uid|Id|ID|_id|uuid|\w+_id|\w+Id)":)(\d{1,6})(?=[,}])/g, '$1$2.0');
  return text;
}
