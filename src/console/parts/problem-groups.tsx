/** Rows that need a person, by reason and column, each group with what to do. */
import { formatCount, plural } from '../../base/counts.ts';
import {
  examplesOf,
  exportCommand,
  moreOf,
  type ProblemGroup,
  type ProblemSection,
} from '../../operator/problem-rows.ts';
import type { RunReport } from '../../operator/report.ts';
import { undecidableWords } from '../../operator/run-words.ts';
import { Remedy } from './inputs.tsx';
import { addressOf, Command, Foreign, Link, Section } from './parts.tsx';
import { Words } from './words.tsx';

/** Longer sentences are cut: the page of the row has them whole. */
const MOST = 600;

interface ProblemsProps {
  readonly title: string;
  readonly report: RunReport;
  readonly sections: readonly ProblemSection[];
  readonly hint: (command: string) => string;
  /** Whether it has files with the lines of each verdict, to correct and load again. */
  readonly hasResults: boolean;
}

export function Problems({ title, report, sections, hint, hasResults }: ProblemsProps) {
  return (
    <>
      {sections.map((section) => (
        <Section
          title={`${plural(section.count, 'row')} ${section.words}`}
          side={
            <span class="links">
              {section.verdict === 'review' && isToDecide(report) && (
                <a href={addressOf('/review', { sync: title })}>Decide them</a>
              )}
              {section.verdict === 'review' && report.type === 'tasks' && (
                <a href="/deliveries?verdict=waiting">Deliveries that wait</a>
              )}
              <a href={addressOf(`/runs/${report.run}/rows`, { verdict: section.verdict })}>All of them</a>
              {hasResults ? (
                <a href={`/runs/${report.run}/results/${section.verdict}`}>CSV</a>
              ) : (
                <a
                  href={addressOf(`/runs/${report.run}/rows.csv`, { verdict: section.verdict })}
                  download={`${section.verdict}.csv`}
                >
                  CSV
                </a>
              )}
            </span>
          }
        >
          <ProblemGroups run={report.run} section={section} isSettled={isAllDecided(section, report)} />
          {section.verdict === 'review' && <Decided report={report} />}
          <Command line={exportCommand(report, section.verdict, hint)} />
        </Section>
      ))}
    </>
  );
}

function isToDecide({ status, counts, decided }: RunReport): boolean {
  return status === 'done' && decided !== undefined && decided < counts.review;
}

/** Nothing is left to do but to apply the decisions. */
function isAllDecided({ verdict }: ProblemSection, { counts, decided = 0 }: RunReport): boolean {
  return verdict === 'review' && decided >= counts.review;
}

/** What people have decided about rows in review, and what applies it, or why they cannot yet. */
function Decided({ report }: { readonly report: RunReport }) {
  const notYet = undecidableWords(report);
  const { run, type, counts, decided = 0 } = report;
  if (notYet !== undefined) return <p>{notYet}</p>;
  if (decided === 0) return null;
  return (
    <p>
      People have decided about {decided < counts.review ? `${formatCount(decided)} of them` : 'all of them'}:{' '}
      <a href="/review/decisions">see the decisions, and whether a run has applied them</a>.
      {type === 'orders' && (
        <>
          {' '}
          <a href={addressOf('/confirm', { action: 'retry', run })}>Retry the load</a> to apply them.
        </>
      )}
    </p>
  );
}

interface GroupsProps {
  readonly run: string;
  readonly section: ProblemSection;
  readonly isSettled: boolean;
}

function ProblemGroups({ run, section, isSettled }: GroupsProps) {
  return (
    <ul class="groups">
      {section.groups.map((group) => (
        <li>
          <p class="group-head">
            <strong class="number">{formatCount(group.count)}</strong>
            <a href={addressOf(`/runs/${run}/rows`, { verdict: section.verdict, reason: group.reason ?? undefined })}>
              <code>{group.reason ?? 'NO_REASON'}</code>
            </a>
            {group.column !== null && (
              <span>
                in column <Foreign text={group.column} most={60} />
              </span>
            )}
          </p>
          <Said run={run} group={group} />
          {!isSettled && <Remedy text={group.remedy} most={MOST} />}
        </li>
      ))}
    </ul>
  );
}

/** The sentence about the only row of a group begins with its line. */
function saysWhere({ count, column, examples }: ProblemGroup): boolean {
  return count === 1 && column === null && examples[0]?.facts?.line !== undefined;
}

function RowLink({ run, row, name }: { run: string; row: ProblemGroup['examples'][number]; name: string }) {
  return <Link to={`/runs/${run}/rows/${encodeURIComponent(row.sourceId)}`} text={name} most={200} drawer />;
}

function Said({ run, group }: { readonly run: string; readonly group: ProblemGroup }) {
  const [only] = group.said;
  const [first] = group.examples;
  if (group.said.length === 1) {
    return (
      <>
        <p>
          <Words text={only ?? ''} most={MOST} />
        </p>
        <p class="dim">
          {group.count === 1 && first ? (
            <RowLink run={run} row={first} name={saysWhere(group) ? 'See the row' : examplesOf(group)} />
          ) : (
            <Foreign text={examplesOf(group)} most={200} />
          )}
        </p>
      </>
    );
  }
  return (
    <ul class="examples">
      {group.examples.map((one, i) => (
        <li>
          <RowLink run={run} row={one} name={group.names[i] ?? ''} />: <Words text={group.said[i] ?? ''} most={MOST} />
        </li>
      ))}
      {moreOf(group).map((words) => (
        <li class="dim">{words}</li>
      ))}
    </ul>
  );
}
