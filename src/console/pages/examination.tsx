/** What the doctor found about the service of an account, and what is under way. */
import { plural } from '../../base/counts.ts';
import { shellWord } from '../../base/reasons/template.ts';
import type { Report } from '../../operator/doctor/examine.ts';
import {
  askedLines,
  attentionOf,
  isUnprobed,
  leftLines,
  probedFindings,
  settingsYaml,
  verdictOf,
} from '../../operator/examination-words.ts';
import type { Examining } from '../examinations.ts';
import type { PageContext } from '../page.ts';
import { Chip, Command, Foreign, Items, Table, Time } from '../parts/parts.tsx';
import { Words } from '../parts/words.tsx';

interface ExaminedProps {
  readonly name: string;
  readonly examining: Examining | undefined;
  readonly last: { readonly at: Date; readonly report: Report } | undefined;
  readonly context: PageContext;
}

export function Examined({ name, examining, last, context: { hint } }: ExaminedProps) {
  const progress = examining?.status === 'under-way' ? examining.progress : undefined;
  return (
    <>
      {examining?.status === 'under-way' && (
        <p role="status">
          <Chip tone="busy">under way</Chip>{' '}
          {progress &&
            `examining ${progress.probe}, step ${progress.step} of ${progress.steps}, ${plural(progress.calls, 'call')} so far`}
        </p>
      )}
      {examining?.status === 'failed' && (
        <p class="notice warn">
          The last examination could not begin: <Words text={examining.failure.message} most={800} />
        </p>
      )}
      {last === undefined ? (
        <p class="dim">
          The service has not been examined yet. An examination makes at most 60 calls within the budget, and only
          reads.
        </p>
      ) : (
        <ReportShown name={name} at={last.at} report={last.report} hint={hint} />
      )}
    </>
  );
}

interface ReportProps {
  readonly name: string;
  readonly at: Date;
  readonly report: Report;
  readonly hint: PageContext['hint'];
}

function ReportShown({ name, at, report, hint }: ReportProps) {
  const { tone, usable, rest } = verdictOf(report);
  const [needing, left, yaml] = [attentionOf(report), leftLines(report), settingsYaml(report)];
  const unprobed = report.findings.filter(isUnprobed);
  return (
    <>
      <p>
        <Chip tone={tone}>{tone === 'good' ? 'usable' : tone === 'warn' ? 'needs a person' : 'not usable'}</Chip>{' '}
        <Foreign text={`${usable} ${rest}`} most={600} />
      </p>
      <p class="dim">
        <Time at={at} exact />. <Foreign text={askedLines(report).join(' ')} most={600} />
      </p>
      {needing.length > 0 && (
        <Items
          as="notes"
          of={needing.map(({ about, needs }) => [<strong>{about}</strong>, ': ', <Words text={needs} most={600} />])}
        />
      )}
      {left.length > 0 && (
        <>
          <p>These test records remain, because the API cannot delete. Remove them by hand:</p>
          <Items as="notes" of={left.map((line) => <Foreign text={line} most={300} />)} />
        </>
      )}
      <details>
        <summary id="findings">All findings with their evidence</summary>
        <Table
          columns={['Question', 'Found', 'Confidence', 'The worker']}
          rows={probedFindings(report).map(({ gap, kinds, found, confidence, does }) => [
            [gap, kinds.length > 0 && <small class="dim"> {kinds.join(', ')}</small>],
            <Words text={found} most={400} />,
            <Chip tone={confidence === 'certain' ? 'good' : 'dim'}>{confidence}</Chip>,
            <Words text={does} most={300} />,
          ])}
        />
        {unprobed.length > 0 && (
          <p class="dim">Not determined: {unprobed.map(({ gap }) => gap).join(', ')}. The worker does what is safe.</p>
        )}
      </details>
      {yaml !== '' && (
        <details>
          <summary id="found-settings">Settings for these findings</summary>
          <pre class="source">{yaml}</pre>
          <p>This examines the service again and writes these settings into the file:</p>
          <Command line={hint(`doctor --account ${shellWord(name)} --save`)} />
        </details>
      )}
    </>
  );
}
