/** Asks before all rows of a reason are ignored, or kept for later. */
import { z } from 'zod';
import { plural } from '../../base/counts.ts';
import { shellWord } from '../../base/reasons/template.ts';
import type { ReviewItem } from '../../engine/ledger/views/review-items.ts';
import { longId } from '../../operator/review.ts';
import { requireOperator } from '../access/guard.ts';
import { GROUP_CHOICES, type GroupChoice, readGroup } from '../actions/review-actions.ts';
import { definePage } from '../page.ts';
import { Button, Hidden, Note, Submit } from '../parts/inputs.tsx';
import { addressOf, Empty, Foreign, Link } from '../parts/parts.tsx';
import { itemAddress } from './review-parts.tsx';

/** Rows that the page lists, at most. */
const MOST_SHOWN = 100;

const BUTTONS = { ignore: 'Ignore', later: 'Keep for later' } as const;

function meansFor(choice: GroupChoice, items: readonly ReviewItem[]): string {
  if (choice === 'later') return 'They stay in this list, marked as later.';
  const kinds = new Set(items.map(({ kind }) => kind));
  return [
    'They leave this list, and nothing is sent for them.',
    ...(kinds.has('order') ? ['Orders count as existing.'] : []),
    ...(kinds.has('contact') ? ['Contacts are listed again when their evidence changes.'] : []),
    'Each decision can be undone.',
  ].join(' ');
}

const text = z.string().optional();

export const reviewConfirm = definePage({
  path: '/review/confirm',
  query: z.object({ choice: z.enum(GROUP_CHOICES), reason: text, account: text, sync: text }),
  async show({ pool, person }, { query: { choice, ...group } }) {
    requireOperator(person);
    const { items, mark } = await readGroup(pool, group, choice);
    const button = BUTTONS[choice];
    const back = addressOf('/review', group);
    if (items.length === 0) {
      const body = (
        <Empty title={choice === 'later' ? 'All of them are kept for later' : 'No row in review matches'}>
          <p>
            <a href="/review">Show all rows in review</a>
          </p>
        </Empty>
      );
      return { title: button, tab: 'review', body };
    }
    const ids = items.map((item) => shellWord(longId(item)));
    return {
      title: button,
      tab: 'review',
      ...(ids.length <= MOST_SHOWN && { command: `review decide ${ids.join(' ')} --${choice}` }),
      head: (
        <>
          <h1>
            {button}: {plural(items.length, 'row')}
            {group.reason !== undefined && ` with ${group.reason}`}?
          </h1>
          <p>{meansFor(choice, items)}</p>
          <form class="deciding" method="post" action="/review/confirm">
            <Hidden values={{ ...group, choice, mark }} />
            <Note />
            <div class="acts">
              <Submit label={button} primary />
              <Button to={back} label="Back" />
            </div>
          </form>
        </>
      ),
      body: (
        <ul class="examples">
          {items.slice(0, MOST_SHOWN).map((item) => (
            <li>
              <Link
                id={`item-${longId(item)}`}
                to={itemAddress(longId(item))}
                text={item.label || item.subject}
                most={80}
              />{' '}
              <small class="id">
                <Foreign text={longId(item)} most={60} />
              </small>
            </li>
          ))}
          {items.length > MOST_SHOWN && <li class="dim">and {plural(items.length - MOST_SHOWN, 'more row')}</li>}
        </ul>
      ),
    };
  },
});
