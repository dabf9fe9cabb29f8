/** What a load would do, and the files of its results: parts of the page of its run. */
import type { Run } from '../../engine/ledger/runs.ts';
import { type LoadPlan, writesOf } from '../../operator/load-plan.ts';
import type { RunReport } from '../../operator/run-result.ts';
import { countsLine } from '../../operator/run-words.ts';
import { formatCount, formatTook, plural } from '../../operator/words.ts';
import { isCorrectable } from '../fixes.ts';
import { Fact, Foreign, Head, Section } from '../parts.tsx';

/** What a person may approve before the rest. */
const FIRST = 10;
/** A plan with so many writes is approved by typing their number. */
const MANY_WRITES = 1_000;

export function isLarge(plan: LoadPlan): boolean {
  return writesOf(plan) >= MANY_WRITES;
}

export function Plan({ plan }: { readonly plan: LoadPlan }) {
  const { creates, updates, customers, calls, leastMs, samples } = plan;
  const writes = writesOf(plan);
  const written = plan.counts.created + plan.counts.updated;
  const counts = { ...plan.counts, created: 0, updated: 0 };
  const rest = counts.in - writes - written;
  return (
    <Section title="The plan">
      <dl class="facts">
        <Fact name="Create">
          {plural(creates, 'order')}
          {customers > 0 && `, and ${plural(customers, 'customer')} first`}
        </Fact>
        {updates > 0 && <Fact name="Update">{plural(updates, 'order')}</Fact>}
        {written > 0 && <Fact name="Written already">{plural(written, 'order')}</Fact>}
        {rest > 0 && (
          <Fact name="Not written">
            {plural(rest, 'row')}: {countsLine({ counts })}
          </Fact>
        )}
        <Fact name="Calls">
          about {formatCount(calls)}
          {leastMs !== undefined && `, at least ${formatTook(leastMs)} under the budget`}
        </Fact>
      </dl>
      {samples.length > 0 && (
        <table class="list narrow load-samples">
          <caption>{samples.length < writes ? `The first ${samples.length} orders` : 'The orders'}</caption>
          <Head columns={['Order', { title: 'Amount', as: 'number' }, 'Customer']} />
          <tbody>
            {samples.map(({ order, amount, customer }) => (
              <tr>
                <td>
                  <Foreign text={order} most={60} />
                </td>
                <td class="number">{amount}</td>
                <td>
                  <Foreign text={customer ?? ''} most={60} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Section>
  );
}

/** Approves the first orders alone, to look at them at the service before the others. */
export function ApproveFirst({ run, plan }: { readonly run: Run; readonly plan: LoadPlan }) {
  const writes = writesOf(plan);
  if (writes <= FIRST) return null;
  return (
    <form class="filters" method="post" action={`/runs/${run.id}/resume`}>
      <input type="hidden" name="plan" value={run.planId} />
      <label>
        Try it with the first orders
        <input type="number" name="first" value={FIRST} min={1} max={writes} required />
      </label>
      <button type="submit">Approve only these</button>
      <span class="dim">The load then waits again, until you approve the others.</span>
    </form>
  );
}

/** The lines of the file with their results: all of them, and those of each verdict. */
export function Results({ run, report, canAct }: { run: Run; report: RunReport; canAct: boolean }) {
  const { counts, unsettled = { sent: 0, neverSent: 0 } } = report;
  const refused = counts.invalid + counts.rejected;
  const kinds = [
    ['created', counts.created],
    ['updated', counts.updated],
    ['existing', counts.existing + counts.unchanged],
    ['invalid', counts.invalid],
    ['rejected', counts.rejected],
    ['review', counts.review],
    ['unknown', unsettled.sent],
    ['unprocessed', unsettled.neverSent],
  ] as const;
  return (
    <Section
      title="Results as files"
      side={
        canAct &&
        refused > 0 &&
        (isCorrectable(run) ? (
          <a id="fix" class="button" href={`/runs/${run.id}/fix`}>
            Correct the {plural(refused, 'row')} that failed
          </a>
        ) : (
          <span class="dim">When the load has ended, you can correct the rows that failed here</span>
        ))
      }
    >
      <p class="dim">
        To correct rows in a spreadsheet, download them, and load the corrected file. The columns that Lockstep adds are
        skipped.
      </p>
      <ul class="inline">
        <li>
          <a href={`/runs/${run.id}/results/results`}>all lines with their results</a>
        </li>
        {kinds
          .filter(([, count]) => count > 0)
          .map(([kind, count]) => (
            <li>
              <a href={`/runs/${run.id}/results/${kind}`}>
                {kind} ({formatCount(count)})
              </a>
            </li>
          ))}
      </ul>
    </Section>
  );
}
