/** The decisions about rows in review: who took them, and what became of them. */
import { z } from 'zod';
import { listDecisions } from '../../engine/ledger/decisions.ts';
import { afterNumber, pageOf } from '../api/shapes.ts';
import { definePage } from '../page.ts';
import { addressOf, Crumbs, Empty, More, NoMore } from '../parts/parts.tsx';
import { DecisionTable } from './review-parts.tsx';

const PER_PAGE = 50;

export const reviewDecisions = definePage({
  path: '/review/decisions',
  query: z.object({ after: afterNumber }),
  async show({ pool, canAct }, { query: { after } }) {
    const found = await listDecisions(pool, {}, { limit: PER_PAGE + 1, after });
    const { shown, next } = pageOf(found, PER_PAGE, ({ entry }) => String(entry));
    return {
      title: 'Decisions',
      tab: 'review',
      command: 'review --decided',
      head: (
        <>
          <Crumbs to={{ '/review': 'Review' }} />
          <h1>Decisions</h1>
        </>
      ),
      body:
        shown.length === 0 && after !== undefined ? (
          <NoMore to="/review/decisions" />
        ) : shown.length === 0 ? (
          <Empty title="There is no decision yet" />
        ) : (
          <>
            <DecisionTable decisions={shown} canAct={canAct} />
            <More to={next && addressOf('/review/decisions', { after: next })} />
          </>
        ),
    };
  },
});
