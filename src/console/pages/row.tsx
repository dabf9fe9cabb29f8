/** One row: its input, what it was matched with, each attempt, and its verdict. */
import type { Child } from 'hono/jsx';
import { z } from 'zod';
import { type Hints, remedyFor, statementFor } from '../../base/reasons/reasons.ts';
import { shellWord } from '../../base/reasons/template.ts';
import { correctionOf } from '../../engine/ledger/matching/corrections.ts';
import type { Run } from '../../engine/ledger/runs.ts';
import type { RowAttempt, RowStory, RowVerdict } from '../../engine/ledger/views/row-story.ts';
import { longId } from '../../operator/review.ts';
import { cellPairs, findRow, OUTCOME_WORDS, pairsOf, STATE_WORDS, tookWords } from '../../operator/row-words.ts';
import { verdictWords } from '../../operator/run-words.ts';
import type { Settings } from '../../settings/settings.ts';
import { isCorrectable } from '../loads/fixes.ts';
import { definePage } from '../page.ts';
import { Button, Remedy } from '../parts/inputs.tsx';
import { addressOf, Crumbs, Fact, Foreign, Section, Table, Time, Title } from '../parts/parts.tsx';
import { Words } from '../parts/words.tsx';
import { recordPath } from '../records/record-words.ts';
import { itemAddress } from './review-parts.tsx';

export const row = definePage({
  path: '/runs/:run/rows/:row',
  params: z.object({ run: z.string(), row: z.string() }),
  async show({ pool, settings, hint, canAct }, { params }) {
    const { run, story, hints } = await findRow(pool, params.run, params.row, hint);
    const isRefused = run.type === 'orders' && ['invalid', 'rejected'].includes(story.verdict?.verdict ?? '');
    const correction = isRefused ? await correctionOf(pool, run.id) : undefined;
    const canCorrect = isRefused && canAct && isCorrectable(run);
    return {
      title: `Row ${story.n} of ${run.id}`,
      tab: 'runs',
      assets: ['drawer.js'],
      command: `runs show ${run.id} --row ${shellWord(story.sourceId)}`,
      isBusy: story.state === 'intent',
      head: (
        <>
          <Crumbs to={{ '/runs': 'Runs', [`/runs/${run.id}`]: run.id, [`/runs/${run.id}/rows`]: 'rows' }} />
          <Title text={story.label || story.sourceId} most={200} />
          <p class="dim">
            Row {story.n}
            {story.sourceId !== String(story.n) && (
              <>
                {' · id '}
                <Foreign text={story.sourceId} most={80} />
              </>
            )}
          </p>
        </>
      ),
      body: (
        <Story story={story} run={run} hints={hints} recordAt={recordsAt(run, settings)}>
          {correction !== undefined ? (
            <p>
              <a href={`/runs/${correction}`}>Run {correction}</a> has the corrected lines of this file.
            </p>
          ) : (
            canCorrect && (
              <p>
                <Button id="fix" to={addressOf(`/runs/${run.id}/fix`, { from: story.n })} label="Correct it" />
              </p>
            )
          )}
        </Story>
      ),
    };
  },
});

interface StoryProps extends Shared {
  readonly story: RowStory;
  readonly run: Run;
  /** What can be done about its verdict. */
  readonly children: Child;
}

interface Shared {
  readonly hints: Hints;
  /** The page that reads a record of this kind now; undefined if there is none. */
  readonly recordAt: (kind: string, id: string) => string | undefined;
}

/** Records of tasks are items of outside systems, which have no page here. */
function recordsAt({ account }: Run, { accounts }: Settings): Shared['recordAt'] {
  return (kind, id) =>
    (kind === 'customer' || kind === 'order') && accounts[account] ? recordPath(account, `${kind}s`, id) : undefined;
}

/** What waits for a decision about a row. */
function itemOf({ id, type, account }: Run, { n, sourceId }: RowStory): string {
  return type === 'orders'
    ? longId({ kind: 'order', subject: `${id}/${n}`, account })
    : longId({ kind: 'contact', subject: sourceId, account });
}

/** What a row of each type becomes. */
const BECOMES: Readonly<Record<string, string>> = { contacts: 'customer', customers: 'customer', orders: 'order' };

function Story({ story, run, hints, recordAt, children }: StoryProps) {
  const type = run.type;
  const { input, matches, plan, attempts, formerVerdicts, verdict, state } = story;
  const cells = cellPairs(input.cells);
  return (
    <>
      <Section title="Verdict">
        {verdict === null ? (
          <p>None yet: {STATE_WORDS[state]}.</p>
        ) : (
          <>
            <Verdict of={verdict} run={run} hints={hints} recordAt={recordAt} />
            <Remedy text={remedyFor(verdict.reason, verdict.facts, hints)} />
          </>
        )}
        {verdict?.verdict === 'review' && type !== 'tasks' && !run.dryRun && run.status === 'done' && (
          <p>
            <a id="decide" href={itemAddress(itemOf(run, story))}>
              Compare it with what it may be, and decide
            </a>
          </p>
        )}
        {children}
      </Section>
      <div class="columns">
        {cells.length > 0 && <Pairs title="Cells of the file" pairs={cells} />}
        <Pairs title={cells.length > 0 ? 'Read as' : 'Input'} pairs={pairsOf(input.fields)} />
        <Pairs title="Recognised by" pairs={pairsOf(input.keys)} />
        {run.options.createCustomers === true && (
          <Pairs title="Customer, if it is missing" pairs={pairsOf(input.customer)} />
        )}
        <Pairs
          title="Matched with"
          pairs={matches.map(({ kind, recordId, by }) => [`${kind} ${recordId}`, `by ${by}`, recordAt(kind, recordId)])}
        />
        {plan !== null && (
          <Pairs
            title="Plan"
            pairs={[[plan.action, plan.recordId === null ? '' : `record ${plan.recordId}`], ...pairsOf(plan.fields)]}
          />
        )}
      </div>
      {attempts.length > 0 && (
        <Section title="Attempts">
          <Table
            columns={['Time', 'Action', 'Outcome', 'Took', 'Answer']}
            rows={attempts.map((attempt) => attemptCells(attempt, hints))}
          />
        </Section>
      )}
      {formerVerdicts.length > 0 && (
        <Section title="Replaced verdicts">
          {formerVerdicts.map((former) => (
            <Verdict of={former} run={run} hints={hints} recordAt={recordAt} />
          ))}
        </Section>
      )}
    </>
  );
}

function Verdict({ of, run, hints, recordAt }: Shared & { readonly of: RowVerdict; readonly run: Run }) {
  const { at, verdict, reason, facts, recordId } = of;
  const statement = statementFor(reason, facts, hints);
  return (
    <div class="verdict">
      <p>
        <i class={`dot of-${verdict}`} />
        <strong>{verdictWords(verdict, run)}</strong> {reason !== null && <code>{reason}</code>}
        {recordId !== null && (
          <>
            {' · record '}
            <Linked text={recordId} to={recordAt(BECOMES[run.type] ?? '', recordId)} />
          </>
        )}
        {at !== null && (
          <span class="dim">
            {' · '}
            <Time at={at} exact />
          </span>
        )}
      </p>
      {statement !== '' && (
        <p>
          <Words text={statement} />
        </p>
      )}
    </div>
  );
}

function attemptCells({ at, action, outcome, httpStatus, reason, facts, tookMs }: RowAttempt, hints: Hints) {
  return [
    <Time at={at} exact />,
    action,
    OUTCOME_WORDS[outcome],
    <span class="nowrap">{tookWords(tookMs)}</span>,
    <>
      {httpStatus !== null && `HTTP ${httpStatus} `}
      {reason !== null && <code>{reason}</code>} <Words text={statementFor(reason, facts, hints)} />
    </>,
  ];
}

function Linked({ text, to }: { readonly text: string; readonly to: string | undefined }) {
  const words = <Foreign text={text} most={80} />;
  return to === undefined ? (
    words
  ) : (
    <a id={`record-${to}`} href={to} title="The record as it is now" data-drawer>
      {words}
    </a>
  );
}

type Pair = readonly [name: string, value: string, to?: string | undefined];

function Pairs({ title, pairs }: { readonly title: string; readonly pairs: readonly Pair[] }) {
  if (pairs.length === 0) return null;
  return (
    <Section title={title}>
      <dl class="pairs">
        {pairs.map(([name, value, to]) => (
          <Fact name={<Linked text={name} to={to} />}>
            <Foreign text={value} />
          </Fact>
        ))}
      </dl>
    </Section>
  );
}
