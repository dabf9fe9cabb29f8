/** The doctor's report in words, for the command line and the console. */
import { Document } from 'yaml';
import { plural } from '../base/counts.ts';
import { grouped } from '../base/grouped.ts';
import { gaps } from '../contract/gaps.ts';
import { inWords } from './doctor/answer-words.ts';
import { attention, type Report } from './doctor/examine.ts';
import { type Finding, TOPICS } from './doctor/probe.ts';
import { formatTook } from './format.ts';

export interface Verdict {
  readonly tone: 'good' | 'warn' | 'bad';
  /** Whether the account can be used. */
  readonly usable: string;
  /** What follows from it. */
  readonly rest: string;
}

export function verdictOf(report: Report): Verdict {
  const { account, stopped } = report;
  if (stopped !== undefined) {
    const usable = `Account ${account} is not usable now.`;
    return { tone: 'bad', usable, rest: `The examination stopped: ${stopped}.` };
  }
  const needing = attentionOf(report).length;
  if (needing === 0)
    return { tone: 'good', usable: `Account ${account} is usable.`, rest: 'Nothing needs a decision.' };
  const words = `${plural(needing, 'thing')} ${needing === 1 ? 'needs' : 'need'} a person`;
  return { tone: 'warn', usable: `Account ${account} is usable, but ${words}.`, rest: '' };
}

/** What was asked, and how much is known. */
export function askedLines({ findings, baseUrl, calls, durationMs }: Report): readonly string[] {
  const known = findings.filter((finding) => !isUnprobed(finding));
  const count = (confidence: Finding['confidence']) => known.filter((one) => one.confidence === confidence).length;
  return [
    `Made ${plural(calls, 'call')} to ${baseUrl} in ${formatTook(durationMs)}.`,
    `Found ${count('certain')} certain and ${count('likely')} likely answers where the documentation is silent.`,
    `Not determined: ${count('unknown') + findings.length - known.length}. In these cases, the worker does what is safe.`,
  ];
}

/** What a person has to do or decide, each once: what it is about, and what to do. */
export function attentionOf(report: Report): readonly { readonly about: string; readonly needs: string }[] {
  const abouts = grouped(attention(report).map(({ gap, about = gap, needs = '' }) => [needs, about]));
  return [...abouts].map(([needs, about]) => ({ about: inWords([...new Set(about)]), needs }));
}

/** The findings that were made, equal ones about several kinds of records as one; topics first, then as in the contract. */
export function probedFindings({ findings }: Report): readonly (Finding & { readonly kinds: readonly string[] })[] {
  const rows = new Map<string, Finding & { readonly kinds: readonly string[] }>();
  for (const finding of findings.filter((one) => !isUnprobed(one))) {
    const { gap, found, confidence, does, needs, about } = finding;
    const key = JSON.stringify([gap, found, confidence, does, needs === undefined]);
    const before = rows.get(key)?.kinds ?? [];
    rows.set(key, { ...finding, kinds: about === undefined ? before : [...before, about] });
  }
  return [...rows.values()].sort((a, b) => rank(a.gap) - rank(b.gap));
}

/** Sorting is stable, so findings of one gap keep their order. */
function rank(gap: string): number {
  const topics = Object.keys(TOPICS);
  const at = topics.indexOf(gap);
  return at === -1 ? topics.length + gaps.findIndex(({ id }) => id === gap) : at;
}

export function isUnprobed({ found }: Finding): boolean {
  return found.startsWith('not probed') || found.startsWith('cannot be probed');
}

/** The test records that remain, each in a line. */
export function leftLines({ leftBehind }: Report): readonly string[] {
  return leftBehind.map(({ kind, id, name, where }) => {
    const which = id === undefined ? 'which may be there' : `id ${id}`;
    return `${kind}: “${name}” (${which}), ${where}`;
  });
}

/** The settings for the certain findings, as YAML; empty if there are none. */
export function settingsYaml({ settings }: Report): string {
  const paths = Object.entries(settings);
  if (paths.length === 0) return '';
  const file = new Document({});
  for (const [path, value] of paths) file.setIn(path.split('.'), value);
  return file.toString({ lineWidth: 100 }).trimEnd();
}
