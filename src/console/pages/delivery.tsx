/** One delivery: where it goes, its attempts and their answers, and its content. */
import { z } from 'zod';
import { PLAIN_HINTS, remedyFor } from '../../base/reasons/reasons.ts';
import { shellWord } from '../../base/reasons/template.ts';
import { shortened } from '../../base/texts.ts';
import { printable } from '../../base/visible.ts';
import type { ShownDelivery } from '../../mirror/outbox/deliveries.ts';
import {
  answerWords,
  attemptsWords,
  type Hold,
  hasFailedLast,
  readDelivery,
  targetHolds,
  unserved,
} from '../../operator/deliveries.ts';
import { definePage } from '../page.ts';
import { Act, Remedy } from '../parts/inputs.tsx';
import { addressOf, Crumbs, Facts, Foreign, Section, Table, Time, Title } from '../parts/parts.tsx';
import { DeliveryState } from './deliveries.tsx';
import { NoWorker, stuckOf, WaitsForTargets } from './target-parts.tsx';

/** Characters of an answer or of the content that are shown, at most. */
const MOST = 20_000;

export const delivery = definePage({
  path: '/deliveries/:id',
  params: z.object({ id: z.string() }),
  async show({ pool, settings, canAct, hint }, { params: { id } }) {
    const shown = await readDelivery(pool, id, hint);
    const stuck = shown.state === 'ended' ? [] : await stuckOf(pool, [shown.target]);
    const holdOf = await targetHolds(pool, settings);
    return {
      title: `Delivery ${id}`,
      tab: 'deliveries',
      command: `deliveries show ${shellWord(id)}`,
      isBusy: shown.state === 'sending',
      head: (
        <>
          <Crumbs to={{ '/deliveries': 'Deliveries' }} here={id} />
          <Title text={shown.task.title || shown.source} most={200} />
        </>
      ),
      body: (
        <>
          <WaitsForTargets stuck={stuck} />
          <NoWorker targets={unserved([shown], holdOf)} hint={hint} />
          <Shown delivery={shown} hold={holdOf(shown.target)} canAct={canAct} />
        </>
      ),
    };
  },
});

interface ShownProps {
  readonly delivery: ShownDelivery;
  readonly hold: Hold | undefined;
  readonly canAct: boolean;
}

function Shown({ delivery, hold, canAct }: ShownProps) {
  const { id, target, source, sequence, event, account, detail, answer, task, endedAt, createdAt } = delivery;
  const { failures } = delivery;
  const label = labelOf(delivery, hold);
  const remedy = remedyFor(delivery.reason, { target, delivery: id }, { ...PLAIN_HINTS, about: { account } });
  const again = addressOf(`/deliveries/${encodeURIComponent(id)}/replay`, {
    seen: (endedAt ?? createdAt).toISOString(),
  });
  return (
    <>
      <Section title="State" side={canAct && label && <Act path={again} label={label} />}>
        <p>
          <DeliveryState of={delivery} hold={hold} /> {attemptsWords(delivery)}
        </p>
        {detail !== null && (
          <p>
            <Foreign text={detail} most={1_000} />
          </p>
        )}
        <Remedy text={remedy} />
        <Facts
          of={{
            Target: (
              <a id="to-target" href={addressOf('/deliveries', { target })}>
                {target}
              </a>
            ),
            About: <Foreign text={`${source} #${sequence}, ${event}`} most={200} />,
            From: account !== '' && <Origin delivery={delivery} />,
            Seen: <Time at={delivery.seenAt} exact />,
            Queued: <Time at={createdAt} exact />,
            Ended: endedAt && <Time at={endedAt} exact />,
          }}
        />
      </Section>
      {failures.length > 0 && (
        <Section title="Attempts without success" side={<span class="count">{failures.length}</span>}>
          <Table
            columns={['When', 'What happened', 'Answer']}
            rows={failures.map((failure) => [
              <Time at={new Date(failure.at)} exact />,
              <Foreign text={failure.detail ?? failure.reason ?? ''} most={1_000} />,
              failure.answer && <Foreign text={answerWords(failure.answer)} most={1_000} />,
            ])}
          />
        </Section>
      )}
      {answer && !hasFailedLast(delivery) && (
        <Section title="Last answer">
          <p>{answer.httpStatus !== undefined && `HTTP ${answer.httpStatus}`}</p>
          {answer.text !== undefined && <Source text={answer.text} />}
        </Section>
      )}
      <Section title="Content">
        <Source text={JSON.stringify(task, undefined, 2)} />
      </Section>
    </>
  );
}

function Origin({ delivery: { sync, account, run } }: Pick<ShownProps, 'delivery'>) {
  return (
    <>
      <Foreign text={`${sync}, account ${account}`} most={200} />
      {run !== null && (
        <>
          {' · '}
          <a id="of-run" href={`/runs/${run}`}>
            {run}
          </a>
        </>
      )}
    </>
  );
}

/** A delivery that waits for an older one is sent after it: the older one has the button. Sending again enables the target. */
function labelOf({ state, heldBy, target }: ShownDelivery, hold: Hold | undefined): string | undefined {
  if (hold === 'not in the settings') return undefined;
  if (state !== 'ended' && (state !== 'waiting' || heldBy !== null)) return undefined;
  const words = state === 'ended' ? 'Send again' : 'Try now';
  return hold === 'disabled' ? `Enable ${target} and ${words.toLowerCase()}` : words;
}

function Source({ text }: { readonly text: string }) {
  return <pre class="source">{printable(shortened(text, MOST))}</pre>;
}
