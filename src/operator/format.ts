/** Formats numbers and times for people. */
import { plural } from '../base/counts.ts';

export { formatCount, plural } from '../base/counts.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** `0.4 s`, `12.3 s`, `3 min 20 s`, `2 h 5 min`. */
export function formatTook(ms: number): string {
  if (ms < MINUTE - 50) return `${(ms / SECOND).toFixed(1)} s`;
  const [large, small, unit, part] =
    ms < HOUR - SECOND / 2 ? ([MINUTE, SECOND, 'min', 's'] as const) : ([HOUR, MINUTE, 'h', 'min'] as const);
  const rounded = Math.round(ms / small) * small;
  const rest = (rounded % large) / small;
  return `${Math.floor(rounded / large)} ${unit}${rest === 0 ? '' : ` ${rest} ${part}`}`;
}

/** `20 calls a second`, `30 calls a minute`. */
export function formatRate(perSecond: number): string {
  return perSecond >= 1 ? `${plural(perSecond, 'call')} a second` : `${plural(perSecond * 60, 'call')} a minute`;
}

/** An exact decimal as money: `59.8` becomes `59.80`. */
export function formatAmount(amount: string): string {
  const [whole, fraction = ''] = amount.split('.');
  return `${whole}.${fraction.padEnd(2, '0')}`;
}

/** `512 B`, `1.2 KB`, `34 MB`, `5.6 GB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const value = bytes / 1000 ** power;
  return `${value.toFixed(power > 0 && value < 10 ? 1 : 0)} ${units[power]}`;
}

/** `97%`; `<1%` for a share between 0 and 1%. */
export function formatShare(share: number): string {
  if (share > 0 && share < 0.01) return '<1%';
  return `${Math.round(share * 100)}%`;
}

/** The Swedish format is the one wanted here. */
const TIME = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'long' });

/** `2026-11-21 02:00:05 CET`, in the zone of this machine. */
export function formatTime(at: Date): string {
  return TIME.format(at);
}

/** `the file is empty` as `The file is empty.` */
export function asSentence(words: string): string {
  const isName = /^(\w+\.\w|[\w-]+: )/.test(words); // such as contacts.getall, or a target
  return `${isName ? words.charAt(0) : words.charAt(0).toUpperCase()}${words.slice(1)}${words.endsWith('.') ? '' : '.'}`;
}

/** Says that rows of a run were deleted because of their age; no line if none were. */
export function prunedNote({ rowsPruned }: { readonly rowsPruned: number }): readonly string[] {
  if (rowsPruned === 0) return [];
  return [
    `${plural(rowsPruned, 'older row')} of this run ${rowsPruned === 1 ? 'was' : 'were'} deleted, and only counted.`,
  ];
}
