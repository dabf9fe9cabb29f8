/** The table that benchmarks print. */

export interface Row {
  readonly what: string;
  readonly wanted: string;
  readonly got: string;
  readonly isMet: boolean;
}

export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

export function render(rows: readonly Row[]): string {
  const width = (name: 'what' | 'wanted' | 'got') => Math.max(name.length, ...rows.map((row) => row[name].length));
  const widths = { what: width('what'), wanted: width('wanted'), got: width('got') };
  const line = (what: string, wanted: string, got: string, met: string) =>
    `| ${what.padEnd(widths.what)} | ${wanted.padEnd(widths.wanted)} | ${got.padEnd(widths.got)} | ${met} |`;
  const rule = `|${'-'.repeat(widths.what + 2)}|${'-'.repeat(widths.wanted + 2)}|${'-'.repeat(widths.got + 2)}|-----|`;
  return [
    line('what', 'wanted', 'got', 'met'),
    rule,
    ...rows.map((row) => line(row.what, row.wanted, row.got, row.isMet ? 'yes' : 'NO ')),
  ].join('\n');
}
