/** One delivery: where it goes, its attempts, the last answer, and its content. */
import { z } from 'zod';
import { shellWord } from '../../base/reasons/template.ts';
import { printable } from '../../base/visible.ts';
import type { ShownDelivery } from '../../mirror/outbox/list.ts';
import { readDelivery } from '../../operator/deliveries.ts';
import { plural } from '../../operator/words.ts';
import { plainText } from '../api/review-query.ts';
import { definePage } from '../page.ts';
import { Act, addressOf, Crumbs, Fact, Foreign, Section, Time } from '../parts.tsx';
import { DeliveryState } from './deliveries.tsx';

/** Characters of an answer or of the content that are shown, at most. */
const MOST = 20_000;

export const delivery = definePage({
  path: '/deliveries/:id',
  params: z.object({ id: plainText }),
  query: z.object({}),
  async show({ pool, person, hint }, { params: { id } }) {
    const shown = await readDelivery(pool, id, hint);
    const canReplay = person.role === 'operator' && shown.state === 'ended';
    return {
      title: `Delivery ${id}`,
      tab: 'deliveries',
      command: `deliveries show ${shellWord(id)}`,
      isBusy: shown.state === 'sending',
      head: (
        <>
          <Crumbs to={{ '/deliveries': 'Deliveries' }} here={id} />
          <h1>
            <Foreign text={shown.task.title || shown.source} most={200} />
          </h1>
        </>
      ),
      body: <Shown delivery={shown} canReplay={canReplay} />,
    };
  },
});

function Shown({ delivery, canReplay }: { readonly delivery: ShownDelivery; readonly canReplay: boolean }) {
  const { id, target, source, sequence, event, account, sync, run, attempts, detail, answer, task } = delivery;
  return (
    <>
      <Section
        title="State"
        side={canReplay && <Act path={`/deliveries/${encodeURIComponent(id)}/replay`} label="Send again" />}
      >
        <p>
          <DeliveryState of={delivery} /> after {plural(attempts, 'attempt')}
        </p>
        {detail !== null && (
          <p>
            <Foreign text={detail} most={1_000} />
          </p>
        )}
        <dl class="facts">
          <Fact name="Target">
            <a id="to-target" href={addressOf('/deliveries', { target })}>
              {target}
            </a>
          </Fact>
          <Fact name="About">
            <Foreign text={`${source} #${sequence}, ${event}`} most={200} />
          </Fact>
          {account !== '' && (
            <Fact name="From">
              <Foreign text={`${sync}, account ${account}`} most={200} />
              {run !== null && (
                <>
                  {' · '}
                  <a id="of-run" href={`/runs/${run}`}>
                    {run}
                  </a>
                </>
              )}
            </Fact>
          )}
          <Fact name="Seen">
            <Time at={delivery.seenAt} exact />
          </Fact>
          <Fact name="Queued">
            <Time at={delivery.createdAt} exact />
          </Fact>
          {delivery.endedAt !== null && (
            <Fact name="Ended">
              <Time at={delivery.endedAt} exact />
            </Fact>
          )}
        </dl>
      </Section>
      {answer && (
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

function Source({ text }: { readonly text: string }) {
  return <pre class="source">{printable(text.length > MOST ? `${text.slice(0, MOST)}…` : text)}</pre>;
}
