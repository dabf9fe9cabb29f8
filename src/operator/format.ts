/** Formats numbers and times for people. */
import { plural } from '../base/counts.ts';
import { capital, ended } from '../base/texts.ts';

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

const RATE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });
const UNITS = [
  [1, 'a second'],
  [60, 'a minute'],
  [3_600, 'an hour'],
  [86_400, 'a day'],
] as const;

/** `20 calls a second`, `100 calls a minute`, `14.1 calls a second`: in the shortest unit in which one decimal is exact, if there is one. */
export function formatRate(perSecond: number): string {
  const rates = UNITS.map(([seconds, unit]) => ({ calls: perSecond * seconds, unit }));
  const large = rates.filter(({ calls }) => calls > 0.999);
  const plain = large.find(({ calls }) => calls < 1_000 && Math.abs(calls * 10 - Math.round(calls * 10)) < 1e-6);
  const { calls, unit } = plain ?? large[0] ?? { calls: perSecond * 86_400, unit: 'a day' };
  const shown = RATE.format(calls);
  return `${shown} ${shown === '1' ? 'call' : 'calls'} ${unit}`;
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
  return ended(isName ? words : capital(words));
}

/** Says that rows of a run were deleted because of their age; no line if none were. */
export function prunedNote({ rowsPruned }: { readonly rowsPruned: number }): readonly string[] {
  if (rowsPruned === 0) return [];
  return [
    `${plural(rowsPruned, 'older row')} of this run ${rowsPruned === 1 ? 'was' : 'were'} deleted, and only counted.`,
  ];
}
