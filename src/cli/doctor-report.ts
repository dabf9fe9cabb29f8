/** The doctor's report for people: every gap, what needs a person, settings to adopt, and test records that remain. */
import { Document } from 'yaml';
import { gaps } from '../contract/gaps.ts';
import { attention, type Report } from '../operator/doctor/examine.ts';
import { type Finding, TOPICS } from '../operator/doctor/probe.ts';
import { formatTook, plural } from '../operator/words.ts';
import { styled } from './colour.ts';

/** Indents the second and later lines of a finding. */
const INDENT = '  ';

/** The verdict and what needs a person; with `all`, every finding too. */
export function reportLines(report: Report, { all, hint }: { all: boolean; hint: string }): readonly string[] {
  return [
    ...verdictLines(report),
    ...attentionLines(report),
    ...leftLines(report),
    ...(all ? ['', ...findingsLines(report)] : ['', `Every finding: ${hint}`]),
  ];
}

/** Whether the service is usable, what was asked, and how much is known. */
function verdictLines(report: Report): readonly string[] {
  const { findings, baseUrl, account, calls, durationMs, stopped } = report;
  const needing = new Set(attention(report).map(({ needs }) => needs)).size;
  const known = findings.filter(({ found }) => !isUnprobed(found));
  const count = (confidence: Finding['confidence']) => known.filter((one) => one.confidence === confidence).length;
  const asked = `Asked ${baseUrl} in ${plural(calls, 'call')} and ${formatTook(durationMs)}.`;
  return [
    usable(account, stopped, needing),
    asked,
    `Found ${count('certain')} certain and ${count('likely')} likely answers where the documentation is silent.`,
    `Not determined: ${count('unknown') + findings.length - known.length}. In these cases, the worker does what is safe.`,
  ];
}

function usable(account: string, stopped: string | undefined, needing: number): string {
  if (stopped !== undefined)
    return `${styled('bad', `Account ${account} is not usable now.`)} The examination stopped: ${stopped}.`;
  if (needing === 0) return `${styled('good', `Account ${account} is usable.`)} Nothing needs a decision.`;
  return styled(
    'warn',
    `Account ${account} is usable, but ${plural(needing, 'thing')} ${needing === 1 ? 'needs' : 'need'} a person.`,
  );
}

function findingsLines({ findings }: Report): readonly string[] {
  const probed = grouped(findings.filter(({ found }) => !isUnprobed(found)));
  const unprobed = findings.filter(({ found }) => isUnprobed(found));
  return [
    ...probed.flatMap(({ finding, about }) => findingLines(finding, about)),
    ...(unprobed.length === 0 ? [] : ['', 'Not determined, so the worker does what is safe:']),
    ...unprobed.flatMap(unprobedLines),
  ];
}

/** The settings as YAML lines for the settings file. */
export function settingLines({ settings }: Report): readonly string[] {
  const paths = Object.entries(settings);
  if (paths.length === 0) return [];
  const file = new Document({});
  for (const [path, value] of paths) file.setIn(path.split('.'), value);
  return file
    .toString({ lineWidth: 100 })
    .trimEnd()
    .split('\n')
    .map((line) => INDENT + line);
}

interface Row {
  readonly finding: Finding;
  readonly about: readonly string[];
}

/** Merges equal findings about several kinds of records into one row. */
function grouped(findings: readonly Finding[]): readonly Row[] {
  const rows = new Map<string, Row>();
  for (const finding of findings) {
    const { gap, found, confidence, does, needs, about } = finding;
    const key = JSON.stringify([gap, found, confidence, does, needs === undefined]);
    const before = rows.get(key)?.about ?? [];
    rows.set(key, { finding, about: about === undefined ? before : [...before, about] });
  }
  return [...rows.values()].sort((a, b) => rank(a.finding.gap) - rank(b.finding.gap));
}

/** Topics first, then the gaps in the order of the contract. Sorting is stable, so findings of one gap keep their order. */
function rank(gap: string): number {
  const topics = Object.keys(TOPICS);
  const at = topics.indexOf(gap);
  return at === -1 ? topics.length + gaps.findIndex(({ id }) => id === gap) : at;
}

function findingLines({ gap, found, confidence, does, needs }: Finding, about: readonly string[]): readonly string[] {
  const mark = needs === undefined ? ' ' : '!';
  const of = about.length === 0 ? '' : ` (${about.join(', ')})`;
  return [`${mark} ${gap}${of}: ${found} [${confidence}]`, `${INDENT}${INDENT}the worker ${does}`];
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
  return ['', 'These test records remain, because the API cannot delete. Remove them by hand:', ...lines];
}
