/** How a load is approved in part, and the files of its results: parts of the page of its run. */
import { formatCount, plural } from '../../base/counts.ts';
import type { Run } from '../../engine/ledger/runs.ts';
import type { RunReport } from '../../operator/report.ts';
import { type RunPlan, writesOf } from '../../operator/run-plan.ts';
import { unconfirmedWords, unsentWords } from '../../operator/run-words.ts';
import { isCorrectable } from '../loads/fixes.ts';
import { Button, Field, Hidden } from '../parts/inputs.tsx';
import { Section } from '../parts/parts.tsx';

/** What a person may approve before the rest. */
const FIRST = 10;
/** A plan with at least this many writes is approved by typing their number. */
const MANY_WRITES = 1_000;

export function isLarge(plan: RunPlan): boolean {
  return writesOf(plan) >= MANY_WRITES;
}

/** Approves the first orders alone, to look at them at the service before the others. */
export function ApproveFirst({ run, plan }: { readonly run: Run; readonly plan: RunPlan }) {
  const writes = writesOf(plan);
  if (writes <= FIRST) return null;
  return (
    <form class="filters" method="post" action={`/runs/${run.id}/resume`}>
      <Hidden values={{ plan: run.planId }} />
      <Field
        label="Try it with the first orders"
        type="number"
        name="first"
        value={FIRST}
        min={1}
        max={writes}
        required
      />
      <button type="submit">Approve only these</button>
      <span class="dim">The load then waits again, until you approve the others.</span>
    </form>
  );
}

/** The lines of the file with their results: all of them, and those of each verdict. */
export function Results({ run, report, canCorrect }: { run: Run; report: RunReport; canCorrect: boolean }) {
  const { counts, unsettled = { sent: 0, neverSent: 0 } } = report;
  const refused = counts.invalid + counts.rejected;
  const kinds = [
    ['created', 'created', counts.created],
    ['updated', 'updated', counts.updated],
    ['existing', 'existing', counts.existing + counts.unchanged],
    ['invalid', 'invalid', counts.invalid],
    ['rejected', 'rejected', counts.rejected],
    ['review', 'in review', counts.review],
    ['unknown', unconfirmedWords(report), unsettled.sent],
    ['unprocessed', unsentWords(report), unsettled.neverSent],
  ] as const;
  return (
    <Section
      title="Results as files"
      side={
        canCorrect &&
        refused > 0 &&
        (isCorrectable(run) ? (
          <Button id="fix" to={`/runs/${run.id}/fix`} label={`Correct ${plural(refused, 'row')}`} />
        ) : (
          <span class="dim">Once the load waits for approval or has ended, you can correct these rows here.</span>
        ))
      }
    >
      {canCorrect && refused > 0 && isCorrectable(run) && (
        <p class="dim">
          Correct the rows here{counts.rejected > 0 && ', where you can also create missing customers'}. Or download
          them, correct them in a spreadsheet, and load that file: the columns that Lockstep adds are skipped.
        </p>
      )}
      <ul class="inline">
        <li>
          <a href={`/runs/${run.id}/results/results`}>All lines with their results</a>
        </li>
        {kinds
          .filter(([, , count]) => count > 0)
          .map(([kind, words, count]) => (
            <li>
              <a href={`/runs/${run.id}/results/${kind}`}>
                {words} ({formatCount(count)})
              </a>
            </li>
          ))}
      </ul>
    </Section>
  );
}
