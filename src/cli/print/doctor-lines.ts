/** The doctor's report as lines: the verdict, what needs a person, test records that remain, and every finding. */

import type { Report } from '../../operator/examination.ts';
import {
  askedLines,
  attentionOf,
  isUnprobed,
  leftLines,
  probedFindings,
  settingsYaml,
  verdictOf,
} from '../../operator/examination-words.ts';
import { styled } from './colour.ts';

/** Indents the second and later lines of a finding. */
const INDENT = '  ';

/** The verdict and what needs a person; with `all`, every finding too. */
export function reportLines(report: Report, { all, hint }: { all: boolean; hint: string }): readonly string[] {
  const { tone, usable, rest } = verdictOf(report);
  return [
    `${styled(tone, usable)} ${rest}`.trimEnd(),
    ...askedLines(report),
    ...listed(
      'This needs a person:',
      attentionOf(report).map(({ about, needs }) => `${about}: ${needs}`),
    ),
    ...listed('These test records remain, because the API cannot delete. Remove them by hand:', leftLines(report)),
    '',
    ...(all ? findingsLines(report) : [`Every finding: ${hint}`]),
  ];
}

/** The settings as YAML lines for the settings file. */
export function settingLines(report: Report): readonly string[] {
  return settingsYaml(report)
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [INDENT + line]));
}

function listed(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => INDENT + line)];
}

function findingsLines(report: Report): readonly string[] {
  const lines = probedFindings(report).flatMap(({ gap, kinds, found, confidence, does, needs }) => {
    const mark = needs === undefined ? ' ' : '!';
    const of = kinds.length === 0 ? '' : ` (${kinds.join(', ')})`;
    return [`${mark} ${gap}${of}: ${found} [${confidence}]`, `${INDENT}${INDENT}the worker ${does}`];
  });
  const unprobed = report.findings.filter(isUnprobed);
  if (unprobed.length === 0) return lines;
  const rest = unprobed.flatMap(({ gap, found, does }) => [`  ${gap}: ${found}`, `${INDENT}${INDENT}${does}`]);
  return [...lines, '', 'Not determined, so the worker does what is safe:', ...rest];
}
