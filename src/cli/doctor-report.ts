/** The doctor's report for people: a table of every gap, what needs a person, settings to take over, what was left behind. */
import { stringify } from 'yaml';
import { gaps } from '../contract/gaps.ts';
import { attention, type Report } from '../doctor/examine.ts';
import { type Finding, TOPICS } from '../doctor/probe.ts';
import { formatTook, plural } from './words.ts';

/** A row's second and later lines stand under its first. */
const INDENT = '  ';

export function reportLines(report: Report): readonly string[] {
  const { findings, baseUrl, account, calls, durationMs, stopped } = report;
  const probed = grouped(findings.filter(({ found }) => !isUnprobed(found)));
  const unprobed = findings.filter(({ found }) => isUnprobed(found));
  const asked = `Asked ${baseUrl} (account ${account}) in ${plural(calls, 'call')} and ${formatTook(durationMs)}.`;
  return [
    stopped === undefined ? asked : `${asked} It could not be probed to the end: ${stopped}.`,
    '',
    ...probed.flatMap(({ finding, about }) => findingLines(finding, about)),
    ...(unprobed.length === 0 ? [] : ['', 'Not found out, so the worker does the safe thing:']),
    ...unprobed.flatMap(unprobedLines),
    ...attentionLines(report),
    ...leftLines(report),
  ];
}

/** The settings as they would stand in the file. */
export function settingLines({ settings }: Report): readonly string[] {
  const paths = Object.keys(settings);
  if (paths.length === 0) return [];
  return stringify(nested(settings), { lineWidth: 100 })
    .trimEnd()
    .split('\n')
    .map((line) => INDENT + line);
}

interface Row {
  readonly finding: Finding;
  readonly about: readonly string[];
}

/** What was found alike of several kinds of records stands once. */
function grouped(findings: readonly Finding[]): readonly Row[] {
  const rows = new Map<string, Row>();
  for (const finding of findings) {
    const { gap, found, sure, does, needs, about } = finding;
    const key = JSON.stringify([gap, found, sure, does, needs === undefined]);
    const before = rows.get(key)?.about ?? [];
    rows.set(key, { finding, about: about === undefined ? before : [...before, about] });
  }
  return [...rows.values()].sort((a, b) => rank(a.finding.gap) - rank(b.finding.gap));
}

/** In the order in which the first finding of each gap came: a Map keeps it, and sorting is stable. */
function rank(gap: string): number {
  const topics = Object.keys(TOPICS);
  const at = topics.indexOf(gap);
  return at === -1 ? topics.length + gaps.findIndex(({ id }) => id === gap) : at;
}

function findingLines({ gap, found, sure, does, needs }: Finding, about: readonly string[]): readonly string[] {
  const mark = needs === undefined ? ' ' : '!';
  const of = about.length === 0 ? '' : ` (${about.join(', ')})`;
  return [`${mark} ${gap}${of}: ${found} [${sure}]`, `${INDENT}${INDENT}the worker ${does}`];
}

function unprobedLines({ gap, found, does }: Finding): readonly string[] {
  return [`  ${gap}: ${found}`, `${INDENT}${INDENT}${does}`];
}

function isUnprobed(found: string): boolean {
  return found.startsWith('not probed') || found.startsWith('cannot be probed');
}

function attentionLines(report: Report): readonly string[] {
  const needing = attention(report);
  if (needing.length === 0) return [];
  const lines = needing.map(({ gap, about, needs }) => `${INDENT}${about ?? gap}: ${needs}`);
  return ['', 'This needs a person:', ...new Set(lines)];
}

function leftLines({ leftBehind }: Report): readonly string[] {
  if (leftBehind.length === 0) return [];
  const lines = leftBehind.map(({ kind, id, name, where }) => {
    const which = id === undefined ? 'which may be there' : `id ${id}`;
    return `${INDENT}${kind}: “${name}” (${which}), ${where}`;
  });
  return ['', 'Left behind, since the API deletes nothing; remove it by hand:', ...lines];
}

function nested(settings: Report['settings']): unknown {
  const root: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(settings)) {
    const names = path.split('.');
    let at = root;
    for (const name of names.slice(0, -1)) {
      // as: only this loop puts anything but leaves in, and no path is the beginning of another
      const inner = (at[name] ?? {}) as Record<string, unknown>;
      at[name] = inner;
      at = inner;
    }
    at[names.at(-1) ?? ''] = value;
  }
  return root;
}
